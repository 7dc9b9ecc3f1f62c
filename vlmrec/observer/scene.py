"""What the observer found in one clip: plain values, nothing about questions.

Times are seconds of clip time, places across the road are in lanes. Every finding carries a confidence from
0 to 1; what was not measured is None.
"""

from typing import Literal, NamedTuple

EgoState = Literal["moving", "stopped"]
Side = Literal["left", "right"]
Heading = Literal["same", "oncoming", "crossing"]
Place = Literal["lane", "edge"]
Paint = Literal["dashed", "solid"]
Tint = Literal["white", "yellow"]


class Span(NamedTuple):
    """A stretch of time in which one state of the ego vehicle held."""

    start: float
    end: float
    state: EgoState
    confidence: float


class Move(NamedTuple):
    """A move across the road by ``shift`` lanes, to the right when positive."""

    start: float
    end: float
    shift: float
    confidence: float

    @property
    def side(self) -> Side:
        return "right" if self.shift > 0 else "left"


class Keeping(NamedTuple):
    """How a vehicle held its lane from ``start`` to ``end``: its moves in order, or the confidence that it had none.

    ``drift`` is how far, in lanes, a vehicle without moves went towards an edge of its lane and stayed there.
    """

    start: float
    end: float
    moves: tuple[Move, ...]
    kept: float
    drift: float = 0.0

    @property
    def last(self) -> Move | None:
        return self.moves[-1] if self.moves else None


class Contact(NamedTuple):
    """When the camera was knocked as by a collision."""

    time: float
    confidence: float


class Rival(NamedTuple):
    """The vehicle in contact, as it was up to the contact."""

    track: int
    start: float  # first seen
    end: float  # last seen before or at the contact
    how: Literal["ahead", "beside", "passed"]  # in sight at the contact, at the picture's edge, or overtaken before it
    beside: float  # lanes right of the camera before anybody moved
    at_contact: float  # the same at the contact, of its near end
    inner: float  # lanes right of the camera of its side that faces the camera's way, at the contact
    keeping: Keeping
    heading: Heading | None
    came_past: bool  # it came from behind, past the camera
    alongside: bool | None  # it was beside the ego, not ahead, when the first of the two moved
    pace: float | None  # its own pace over the whole time, as a share of the ego's
    late_pace: float | None  # the same just before the contact
    stood: float  # confidence that it stood before
    stayed: bool  # it stood, and was at its place along and across the road right up to the contact
    halted: bool | None  # it had come to a stand by the contact, or was moving still
    never_stood: float  # confidence that it never did
    place: Place | None  # where it was before it moved: in a lane, or beyond the road's edge line
    queued: bool  # others stood in the same lane, or parked in the same row
    small: float  # confidence that it is a thing, not a vehicle
    shed: bool  # it parted from what had been a vehicle's width before
    confidence: float  # that this is the one
    drew_up: bool = False  # it came into the picture beside the camera, in mid-film: where it was before is not known
    came_to_a_stand: bool = False  # it was seen to move, and then stood
    late_error: float = 0.0  # standard error of the late pace
    headway: float | None = None  # s from the camera to its rear, at the ego's pace, when the ego began to move over

    @property
    def overtakes(self) -> bool:
        """Whether it goes clearly faster than the ego: it came from behind, and what it did there was out of sight."""
        if self.came_past or (self.pace is not None and self.pace > 1.1):
            return True
        return self.late_pace is not None and self.late_pace - self.late_error > 1.25  # over a shorter time: less exact


class Roadway(NamedTuple):
    """What the markings say. None where it could not be read."""

    divider: Paint | None = None  # the line crossed by the one who moved
    divider_tint: Tint | None = None
    lane_ends: bool | None = None  # the lane that the mover left
    hatched: Literal["no", "at_edge", "cleared"] | None = None  # the ego's lane up to the contact
    clean_side: bool = False  # no hatching on the lane that the counterpart was in before anybody moved
    undivided: bool = False  # a yellow line on the ego's left with no barrier: an ordinary road
    unbroken: bool = False  # lines run on all the way: no junction
    footway: bool = False  # a footway behind the kerb on the right: no motorway has one


class Sight(NamedTuple):
    """One vehicle for an entity table. Boxes in 0..1000 per axis."""

    track: int
    first: float
    last: float
    kind: Literal["car", "truck"]
    place: Literal["ahead", "on the left", "on the right"]
    heading: Literal["parallel", "oncoming", "perpendicular", "unknown"]
    lane: int | None
    boxes: tuple[tuple[float, tuple[float, float, float, float]], ...]


class Scene(NamedTuple):
    """One clip as measured. ``usable`` is False, with the reason, where the footage can't carry any finding."""

    frames: int
    start: float
    end: float
    usable: bool
    reason: str
    ego: tuple[Span, ...] = ()
    contact: Contact | None = None
    calm: float = 0.0  # confidence that nothing was hit
    rival: Rival | None = None
    leader: bool = False  # another vehicle was ahead in the ego's lane and stayed clear of the contact
    ego_keeping: Keeping | None = None
    ego_never_stood: float = 0.0
    ego_stopped: float = 0.0  # confidence that it stood at the contact
    roadway: Roadway = Roadway()
    sights: tuple[Sight, ...] = ()
    ego_lane: int | None = None
    lane_count: int | None = None
