"""What earlier processes of a run used up of its budget, from its log. Pure."""

from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal

from vlmrec.events import CallCompleted, CallFailed, CallRequested, Event, RunResumed
from vlmrec.models.budget import Ledger, Limits
from vlmrec.stages.resume import Stored


def active_minutes(events: Iterable[Event]) -> float:
    """How long the processes of a run were at work, by the times of its events in the order of the log."""
    total, began, last = 0.0, None, None
    for event in events:
        now = datetime.fromisoformat(event.time)
        if began is None or last is None or isinstance(event.data, RunResumed):
            total += (last - began).total_seconds() if began is not None and last is not None else 0.0
            began = now
        last = now
    return (total + (last - began).total_seconds() if began is not None and last is not None else 0.0) / 60


def spent_so_far(stored: Stored, limits: Limits, *, minutes: float = 0.0) -> Ledger:
    """A budget that begins with what earlier processes spent, and what is in doubt at its worst case."""
    spent, calls = Decimal(0), 0
    for events in stored.by_clip.values():
        open_bounds: dict[object, Decimal] = {}
        for event in events:
            data = event.data
            if isinstance(data, CallRequested):
                calls += 1
                open_bounds[data.call_key()] = data.reserved_cost or Decimal(0)
            elif isinstance(data, CallCompleted):
                bound = open_bounds.pop(data.call_key(), Decimal(0))
                spent += data.cost if data.cost is not None else bound
            elif isinstance(data, CallFailed):
                open_bounds.pop(data.call_key(), None)
                spent += data.charged_cost or Decimal(0)
        spent += sum(open_bounds.values(), Decimal(0))
    return Ledger(limits, spent=spent, calls=calls, minutes=minutes)
