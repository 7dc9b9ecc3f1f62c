"""What the decision core answers with: decisions to record, and effects to carry out. Pure."""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from vlmrec.events import Payload, Sample, TurnOpened
from vlmrec.protocol import EvaluateRequest
from vlmrec.terms import Blob

Blobs: TypeAlias = Callable[[str], bytes]
"""The body of a stored blob, by its SHA-256."""


class Record(NamedTuple):
    """A decision, to be appended and applied before anything else."""

    data: Payload
    causation: str | None = None
    blobs: tuple[Blob, ...] = ()


class OpenClip(NamedTuple):
    """Hash and probe the clip's file; answered by ``clip.opened`` or ``media.failed``."""


class PrepareMedia(NamedTuple):
    """Make the media of a window family; answered by ``media.prepared`` or ``media.failed``."""

    window: str


class SendCall(NamedTuple):
    """Send a call; ``call.requested`` first, then ``call.completed`` or ``call.failed``."""

    turn: TurnOpened
    sample: Sample
    attempt: int


class Submit(NamedTuple):
    """Put the answers so far to the engine; answered by ``engine.submitted``."""

    round: int
    attempt: int
    request: EvaluateRequest


Effect: TypeAlias = OpenClip | PrepareMedia | SendCall | Submit
Command: TypeAlias = Record | Effect
