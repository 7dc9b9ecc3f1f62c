"""What ``vlmrec verify`` prints, and how it ends."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from vlmrec.commands._output import note, visible
from vlmrec.errors import CheckFailed, InputError
from vlmrec.events import EVENT_TYPES
from vlmrec.log.reader import open_log
from vlmrec.log.verify import VerifyReport

if TYPE_CHECKING:
    from vlmrec.stages.replay import ReplayReport

RUN_TYPES = tuple(cls.type for cls in EVENT_TYPES if not cls.per_clip)


def replayed(run: Path) -> "ReplayReport":
    """What the decision core makes of a log's inputs, beside what it holds."""
    from vlmrec.stages.replay import replay_log  # the core and its ledger are for --replay alone

    with open_log(run) as log:
        try:
            clips = ((clip, log.events(clip=clip)) for clip in log.clips())
            return replay_log(log.events(RUN_TYPES), clips, log.blob)
        except KeyError as error:
            raise InputError(f"{run}: it can't be replayed: {error.args[0]}") from error


def describe(report: VerifyReport, replay: "ReplayReport | None") -> None:
    """Print both reports as lines of text."""
    kind = report.info.kind if report.info else "unreadable"
    click.echo(f"{report.path}: {kind} log, {report.events} events, {report.blobs} blobs")
    click.echo(f"head {report.head or '-'}")
    if report.head_seq is not None:
        click.echo(f"the head asked for is the hash of event {report.head_seq}; {report.after_head} events follow it")
    for fault in report.faults:
        click.echo(visible(f"FAULT {fault}"))
    if report.holds:
        click.echo("chain, payloads, blobs, schema and triggers hold")
    if replay is None:
        return
    for difference in replay.differences:
        click.echo(visible(f"DIFFERS clip {difference.clip}, decision {difference.place}: {difference.detail}"))
    if replay.core != replay.core_of_log:
        note(f"the log's decisions are by core {replay.core_of_log}; this is core {replay.core}")
    click.echo(
        f"replay: {replay.decisions} decisions on {len(replay.clips)} clips, {len(replay.differences)} clips differ, "
        f"{replay.unwritten} decisions not yet written"
    )


def conclude(report: VerifyReport, replay: "ReplayReport | None") -> None:
    """Raise CheckFailed, naming the first broken row or clip, unless everything held."""
    if not report.holds:
        more = len(report.faults) - 1
        raise CheckFailed(f"{report.path} doesn't hold: {report.faults[0]}{f' (and {more} more)' if more else ''}")
    if replay is not None and replay.differences:
        first = replay.differences[0]
        core = (
            "" if replay.core == replay.core_of_log else f" with core {replay.core} (the log's is {replay.core_of_log})"
        )
        raise CheckFailed(f"{report.path}: replay{core} doesn't hold: clip {first.clip}: {first.detail}")
