"""``vlmrec engine``: the rule engine, its questions, and checks of any server that claims the protocol."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

import click

from vlmrec.commands._options import json_option
from vlmrec.commands._output import print_json, print_table

if TYPE_CHECKING:
    from vlmrec.protocol import EvaluateRequest

Function = TypeVar("Function", bound=Callable[..., Any])


def _version(ctx: click.Context, param: click.Parameter, value: str | None) -> str:
    from vlmrec.engine.reference import versions

    return versions()[-1] if value is None else value


def _request(file: BinaryIO) -> "EvaluateRequest":
    from vlmrec.engine.requests import read_request

    return read_request(file.read(), getattr(file, "name", "standard input"))


def engine_option(function: Function) -> Function:
    """``--engine VERSION``, passed as ``version: str``; the newest embedded one where it is left out."""
    return click.option(
        "--engine", "version", callback=_version, metavar="VERSION", help="Embedded engine. [default: the newest]"
    )(function)


def language_option(function: Function) -> Function:
    """``--lang``, passed as ``language``."""
    return click.option(
        "--lang",
        "language",
        type=click.Choice(["ko", "en"]),
        default="en",
        show_default=True,
        help="Language of texts.",
    )(function)


@click.group()
def command() -> None:
    """The rule engine: serve it, ask it, explain it, compare its versions, check a server."""


@command.command()
@engine_option
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port", default=8091, show_default=True, type=click.IntRange(0, 65535), help="Port; 0 picks a free one."
)
def serve(version: str, host: str, port: int) -> None:
    """Serve an embedded engine over HTTP until interrupted.

    \b
        vlmrec engine serve --engine 0.1.3 --port 8091
        curl http://127.0.0.1:8091/questions
    """
    from vlmrec.engine.serving import serve_engine

    serve_engine(version, host, port, ready=lambda url: click.echo(f"engine {version} at {url}", err=True))


@command.command()
@engine_option
@language_option
@json_option
def questions(version: str, language: str, as_json: bool) -> None:
    """List the questions of an engine's ledger.

    \b
        vlmrec engine questions --engine 0.1.3 --lang ko
    """
    from vlmrec.engine.listing import QUESTION_COLUMNS, question_rows
    from vlmrec.engine.reference import load_reference

    ledger = load_reference(version).ledger
    if as_json:
        return print_json({"data_version": ledger.data_version, "questions": ledger.questions})
    return print_table(QUESTION_COLUMNS, question_rows(ledger, language), title=f"ledger {ledger.data_version}")


@command.command()
@click.argument("answers", type=click.File("rb"), metavar="ANSWERS.json")
@engine_option
def evaluate(answers: BinaryIO, version: str) -> None:
    """Evaluate answers: takes and prints the same JSON as POST /evaluate (- reads stdin).

    \b
        echo '{"answers": []}' | vlmrec engine evaluate -
    """
    from vlmrec.engine.reference import load_reference
    from vlmrec.engine.server import evaluation_bytes

    reference = load_reference(version)
    click.echo(evaluation_bytes(reference, _request(answers)))


@command.command()
@click.argument("answers", type=click.File("rb"), metavar="ANSWERS.json")
@engine_option
@language_option
@json_option
def explain(answers: BinaryIO, version: str, language: str, as_json: bool) -> None:
    """Explain an evaluation: what stands, what ruled the others out, why the next question.

    \b
        vlmrec engine explain answers.json --engine 0.1.3
    """
    from vlmrec.engine.explain import account, explained
    from vlmrec.engine.reference import load_reference

    told = account(load_reference(version), _request(answers), "ko" if language == "ko" else "en")
    if as_json:
        return print_json(told)
    return click.echo(explained(told), nl=False)


@command.command()
@click.argument("before", metavar="BEFORE")
@click.argument("after", metavar="AFTER")
@json_option
def diff(before: str, after: str, as_json: bool) -> None:
    """Say what changed between two embedded engines: questions, observation rules, charts.

    \b
        vlmrec engine diff 0.1.1 0.1.3
    """
    from vlmrec.engine.difference import difference
    from vlmrec.engine.listing import DIFFERENCE_COLUMNS, difference_rows
    from vlmrec.engine.reference import load_reference

    found = difference(load_reference(before), load_reference(after))
    if as_json:
        return print_json(found)
    return print_table(DIFFERENCE_COLUMNS, difference_rows(found), title=f"{found.before} -> {found.after}")


@command.command()
@click.argument("url", metavar="URL")
@click.option("--cases", default=60, show_default=True, type=click.IntRange(1, 10_000), help="Random cases to try.")
@click.option("--seed", default=0, show_default=True, help="Another seed gives other cases.")
@json_option
def check(url: str, cases: int, seed: int, as_json: bool) -> None:
    """Check a server that claims the engine protocol; exit code 1 if a law does not hold.

    \b
        vlmrec engine check http://127.0.0.1:8091
    """
    from vlmrec.engine.check import check_url
    from vlmrec.engine.listing import check_lines
    from vlmrec.errors import CheckFailed

    report = check_url(url, cases=cases, seed=seed)
    if as_json:
        print_json(report)
    else:
        click.echo("\n".join(check_lines(report)))
    if report.broken:
        raise CheckFailed(f"{len(report.broken)} of {len(report.laws)} laws do not hold at {url}")
