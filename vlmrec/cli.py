"""The ``vlmrec`` command: a click group that imports a sub-command only when it is used.

``COMMANDS`` is the static table of sub-commands, so that ``vlmrec --help`` and completion load no
library code. This is the one place where a VlmrecError becomes a line on stderr and an exit code;
an interrupt ends with 130, a closed pipe in silence, a file that the system refuses with its name and the reason;
anything else is a bug and keeps its traceback.
"""

import os
import sys
from importlib import import_module
from typing import Any, NamedTuple

import click
from click.shell_completion import CompletionItem

from vlmrec import __version__
from vlmrec.errors import INTERRUPTED, InputError, VlmrecError

BROKEN_PIPE = 141  # what a shell reports for a program that SIGPIPE ended


class Row(NamedTuple):
    """A sub-command: its module under ``vlmrec.commands`` and its one line of help."""

    module: str
    help: str


# fmt: off
# [table by `make docs`]
COMMANDS: dict[str, dict[str, Row]] = {
    "Make a run": {
        "extract": Row("extract", "Ask a model the engine's questions about clips, and record everything in a run log."),
        "experiment": Row("experiment", "Run several conditions over the same clips, one after the other; started again, go on where it stopped."),
        "synth": Row("synth", "Render dashcam clips whose every answer is known, with their gold labels."),
        "import": Row("import_", "Take over answers of people or of older scripts as a run; every projection then applies."),
        "probe": Row("probe", "Find out what a model's server really does: frame rate, pixels, sizes, structured output, caching."),
        "models": Row("models", "List providers and models: where they are, whether a key was found, prices, and what is missing."),
    },
    "Look at one": {
        "status": Row("status", "Say how far a run has come: clips, turns, rate, time left, cost, and whether it has stalled."),
        "show": Row("show", "Show a run turn by turn: asked, answered, evidence, candidates before and after, latency, cost."),
        "events": Row("events", "Print a log's events, one JSON object a line, from the stored bytes."),
        "verify": Row("verify", "Check a log's chain, blobs, schema and triggers, and name the first broken row."),
        "view": Row("view", "See runs side by side beside the video, as one HTML page or served with labels."),
        "reply": Row("reply", "How a model's reply was read: as an answer, and if not, why not."),
        "note": Row("note", "Add a remark to a run, a clip or a question; with --exclude it is not to be counted."),
    },
    "Project": {
        "score": Row("score", "Score a run against labels: answers, clips, and what ruled the right chart out."),
        "rescore": Row("rescore", "Put a run's stored answers to another engine version; the latest run where none is named."),
        "scan": Row("scan", "Look for contradictions, repetition, drift, order effects, propagated errors, provider and format faults."),
        "confusion": Row("confusion", "Show what runs take for what: confusion matrices of one question, with the clips behind each cell."),
        "retrofit": Row("retrofit", "Say what stored texts would have given under another way of asking."),
        "compare": Row("compare", "Compare runs over the clips they share, and say whether a difference is more than chance."),
        "report": Row("report", "Write a report on runs: conditions, tables, plots, cost, what differs, and what to bear in mind."),
        "catalog": Row("catalog", "Bring together every run of a store in catalog.db, for questions across runs; disposable."),
    },
    "Parts": {
        "media": Row("media", "Probe clips, take frames and sub-clips out of them, and put them where a server can fetch them."),
        "engine": Row("engine", "The rule engine: serve it, ask it, explain it, compare its versions, check a server."),
        "observer": Row("observer", "The embedded baseline model: classical computer vision behind the API of a language model."),
        "schema": Row("schema", "Print the JSON Schema of an event or data contract, or write them all."),
    },
}
# [end]
# fmt: on
_ROWS = {name: row for rows in COMMANDS.values() for name, row in rows.items()}


class LazyGroup(click.Group):
    """A group whose commands are listed from the table and imported on use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_ROWS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        row = _ROWS.get(cmd_name)
        if row is None:
            return None
        command = import_module(f"vlmrec.commands.{row.module}").command
        if not isinstance(command, click.Command):
            raise TypeError(f"vlmrec.commands.{row.module} has no click command named `command`")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, rows in COMMANDS.items():
            if rows:
                with formatter.section(title):
                    formatter.write_dl([(name, row.help) for name, row in rows.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        names = [name for name in _ROWS if name.startswith(incomplete)]
        return [
            *(CompletionItem(name, help=_ROWS[name].help) for name in names),
            *click.Command.shell_complete(self, ctx, incomplete),
        ]

    def invoke(self, ctx: click.Context) -> Any:
        try:
            value = super().invoke(ctx)
            sys.stdout.flush()  # a reader that has gone shows here, not at interpreter exit
            return value
        except VlmrecError as error:
            click.echo(f"Error: {error}", err=True)
            ctx.exit(error.exit_code)
        except KeyboardInterrupt:
            click.echo("Interrupted.", err=True)
            ctx.exit(INTERRUPTED)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(BROKEN_PIPE)
        except OSError as error:
            if error.filename is None:
                raise
            click.echo(f"Error: {error.filename}: {error.strerror}", err=True)
            ctx.exit(InputError.exit_code)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, message="%(prog)s %(version)s")
def cli() -> None:
    """Record what video-language models answer about dashcam clips, and project every number from the record.

    \b
        vlmrec extract clips/ --run-id first && vlmrec score first --gold clips/gold
    """


def main() -> None:
    """Entry point of the installed program."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:  # what a terminal's encoding can't show is escaped, never a crash
            reconfigure(errors="backslashreplace")
    cli(prog_name="vlmrec")


if __name__ == "__main__":
    main()
