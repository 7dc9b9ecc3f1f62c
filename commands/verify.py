"""``vlmrec verify``: is a log what its writer wrote."""

from pathlib import Path

import click

from vlmrec.commands._options import json_option, run_argument


@click.command()
@run_argument
@click.option("--head", metavar="HASH", help="Also ask that this hash, noted earlier, still stands in the log.")
@click.option("--replay", is_flag=True, help="Also run the decision core over the inputs and compare every decision.")
@json_option
def command(run: Path, head: str | None, replay: bool, as_json: bool) -> None:
    """Check a log's chain, blobs, schema and triggers, and name the first broken row.

    \b
        vlmrec verify demo
        vlmrec verify demo --head 3f9a… --replay
    """
    from vlmrec.commands._output import print_json
    from vlmrec.commands._verify import conclude, describe, replayed
    from vlmrec.log.sealing import seal_if_idle
    from vlmrec.log.verify import verify_log

    seal_if_idle(run)
    report = verify_log(run, head)
    replay_report = replayed(run) if replay and report.holds else None
    if as_json:
        print_json({"log": report, "replay": replay_report})
    else:
        describe(report, replay_report)
    conclude(report, replay_report)
