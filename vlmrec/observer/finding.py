"""What an answer is made of: a value with its evidence, or an abstention with its reason; and what several questions share."""

from typing import NamedTuple

from vlmrec.observer.scene import Keeping, Scene
from vlmrec.terms import Party, Status

SAME_LANE = 0.35  # lanes between two vehicles in one lane, at most
NEXT_LANE = (0.62, 1.4)
TWO_APART = (1.6, 2.5)
ON_THE_WAY = 1.25  # lanes: more than one lane apart, and coming nearer, is on the way from two apart


class Finding(NamedTuple):
    """An answer in the making. ``value`` is a domain code, None in an abstention."""

    status: Status
    value: str | None
    reason: str
    start: float | None = None
    end: float | None = None
    confidence: float | None = None


def unknown(reason: str) -> Finding:
    """The abstention that says: not measured."""
    return Finding(Status.UNKNOWN, None, reason)


def observed(value: str, reason: str, start: float, end: float, confidence: float) -> Finding:
    """A value with the seconds that show it; what was seen only after its time is shown by its first moment."""
    return Finding(Status.OBSERVED, value, reason, start, max(start, end), confidence)


def first_move(scene: Scene) -> float:
    """When the first of the two moved over, else the contact."""
    starts = [k.moves[0].start for k in (scene.ego_keeping, scene.rival and scene.rival.keeping) if k and k.moves]
    return min(starts, default=scene.contact.time if scene.contact is not None else scene.end)


def moved_towards(scene: Scene) -> bool:
    """Whether the ego's last move led towards the side the counterpart was on, and reached the contact."""
    rival, own, contact = scene.rival, scene.ego_keeping, scene.contact
    if rival is None or own is None or contact is None or own.last is None:
        return False
    return (own.last.shift > 0) == (rival.inner > 0) and own.last.end > contact.time - 0.8


def own_kept(scene: Scene) -> bool:
    """Whether the ego is known to have kept its lane."""
    return scene.ego_keeping is not None and scene.ego_keeping.kept > 0


def both_moved(scene: Scene) -> bool:
    """Whether the two moved towards each other from more than a lane apart."""
    rival, own = scene.rival, scene.ego_keeping
    if rival is None or own is None or rival.keeping.last is None or own.last is None:
        return False
    theirs, ours = rival.keeping.last.shift, own.last.shift
    met = theirs * rival.beside < 0 < ours * rival.beside
    return met and ON_THE_WAY <= abs(rival.beside) <= TWO_APART[1]


def keeping_of(scene: Scene, party: Party) -> Keeping | None:
    """How the vehicle in question held its lane; None for a counterpart that was not found."""
    if party is Party.SELF:
        return scene.ego_keeping
    return scene.rival.keeping if scene.rival is not None else None
