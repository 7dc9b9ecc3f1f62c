"""Writes what is said twice from where it is said once: reference pages, and the command table of ``vlmrec/cli.py``.

Pages: commands, event catalogue, SQL views, glossary. The command table comes from the docstrings in
``commands/``, so that a new command is known after `make docs`. `make test` compares (``--check``).
"""

import inspect
import sys
from collections.abc import Iterator
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import Any

import click
import msgspec

from vlmrec.engine.cases import cases_table
from vlmrec.engine.reference import load_reference, versions
from vlmrec.events import EVENT_TYPES, Family, Payload, Stage, event_id
from vlmrec.log.views import VIEWS
from vlmrec.protocol import EngineStatus
from vlmrec.terms import Party, Status
from vlmrec.viewer.queries import CATALOG_QUERIES, RUN_QUERIES

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
REPAIR = "make docs"
MADE = "<!-- Generated from the code by `make docs`; not edited by hand. -->\n\n"


def main() -> None:
    files = dict(generate())
    check = "--check" in sys.argv[1:]
    drifted = [path for path, text in files.items() if not _same(ROOT / path, text)]
    stale = [path for path in _pages_of_commands() if path not in files]
    if check:
        if drifted or stale:
            sys.exit(f"these differ from the code: {', '.join([*drifted, *stale])}; run `{REPAIR}` and commit")
        print(f"{len(files)} generated files are as the code says")
        return
    for path in drifted:
        (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / path).write_text(files[path], encoding="utf-8")
    for path in stale:
        (ROOT / path).unlink()
    print(f"{len(drifted)} files written, {len(stale)} removed")


def generate() -> Iterator[tuple[str, str]]:
    """Every generated file: its path under the root, and its text."""
    table = _command_table()
    yield "vlmrec/cli.py", _with_table((ROOT / "vlmrec/cli.py").read_text(encoding="utf-8"), table)
    yield "docs/commands/README.md", _commands_index(table)
    for rows in table.values():
        for name, (module, _) in rows.items():
            yield f"docs/commands/{name}.md", _command_page(name, module)
    yield "docs/events.md", _events_page()
    yield "docs/sql.md", _sql_page()
    yield "docs/glossary.md", _glossary_page()
    yield "docs/engine.md", _engine_page()


def _pages_of_commands() -> list[str]:
    return sorted(str(path.relative_to(ROOT)) for path in (DOCS / "commands").glob("*.md"))


# ---- the command table ------------------------------------------------------------------------

GROUPS = {  # in the order of use; a command that is in none of them stands under Parts
    "Make a run": ("extract", "experiment", "synth", "import", "probe", "models"),
    "Look at one": ("status", "show", "events", "verify", "view", "reply", "note"),
    "Project": ("score", "rescore", "scan", "confusion", "retrofit", "compare", "report", "catalog"),
    "Parts": ("media", "engine", "observer", "schema"),
}
BEGIN, END = "# [table by `make docs`]\n", "# [end]\n"

Table = dict[str, dict[str, tuple[str, str]]]


def _command_table() -> Table:
    modules = {
        path.stem.rstrip("_").replace("_", "-"): path.stem
        for path in sorted((ROOT / "commands").glob("*.py"))
        if not path.stem.startswith("_")
    }
    placed = {name for names in GROUPS.values() for name in names}
    rest = tuple(name for name in modules if name not in placed)
    table: Table = {}
    for title, names in GROUPS.items():
        chosen = [name for name in (*names, *(rest if title == "Parts" else ())) if name in modules]
        table[title] = {name: (modules[name], _first_sentence(_load(modules[name]))) for name in chosen}
    return table


def _load(module: str) -> click.Command:
    command = import_module(f"vlmrec.commands.{module}").command
    assert isinstance(command, click.Command), module
    return command


def _first_sentence(command: click.Command) -> str:
    text = " ".join(inspect.cleandoc(command.help or "").split("\n\n")[0].split())
    return text.split(". ")[0].rstrip(".") + "."


def _with_table(source: str, table: Table) -> str:
    head, rest = source.split(BEGIN)
    _, tail = rest.split(END)
    lines = ["COMMANDS: dict[str, dict[str, Row]] = {\n"]
    for title, rows in table.items():
        lines.append(f'    "{title}": {{\n' if rows else f'    "{title}": {{}},\n')
        for name, (module, text) in rows.items():
            quoted = text.replace('"', '\\"')
            lines.append(f'        "{name}": Row("{module}", "{quoted}"),\n')
        if rows:
            lines.append("    },\n")
    return f"{head}{BEGIN}{''.join(lines)}}}\n{END}{tail}"


# ---- commands ---------------------------------------------------------------------------------


def _commands_index(table: Table) -> str:
    parts = [MADE, "# Commands\n"]
    for title, rows in table.items():
        if rows:
            parts.append(f"\n## {title}\n\n| command | what it does |\n| --- | --- |\n")
            parts.extend(f"| [`{name}`]({name}.md) | {_in_cell(text)} |\n" for name, (_, text) in rows.items())
    return "".join(parts)


def _command_page(name: str, module: str) -> str:
    context = click.Context(click.Group("vlmrec"), info_name="vlmrec", help_option_names=["-h", "--help"])
    sections = [f"{MADE}# vlmrec {name}\n", *_helps(_load(module), name, context)]
    return "\n".join(sections)


def _helps(command: click.Command, name: str, parent: click.Context) -> Iterator[str]:
    context = click.Context(command, info_name=name, parent=parent, terminal_width=100, max_content_width=100)
    yield f"```text\n$ {context.command_path} --help\n{command.get_help(context)}\n```\n"
    if isinstance(command, click.Group):
        for child in command.list_commands(context):
            sub = command.get_command(context, child)
            assert sub is not None
            yield f"## {context.command_path} {child}\n"
            yield from _helps(sub, child, context)


# ---- events -----------------------------------------------------------------------------------

FAMILIES = {
    Family.OBSERVATION: "Facts from outside.",
    Family.RECORD: "Acts of the operator or the shell.",
    Family.DECISION: "What pure code made of observations and records; each names the core's version.",
}


def _events_page() -> str:
    parts = [
        MADE,
        "# Event catalogue\n\n",
        "Every event that a log can hold. The id is made of the type, the clip (where there is one) and the natural\n",
        "key below, so that a repeated append is refused by the file. JSON Schemas are in `schemas/`.\n",
    ]
    for family in Family:
        parts.append(f"\n## {family.value.capitalize()}s\n\n{FAMILIES[family]}\n")
        for cls in EVENT_TYPES:
            if cls.family is family:
                parts.append(_event_section(cls))
    return "".join(parts)


def _event_section(cls: type[Payload]) -> str:
    schema = msgspec.json.schema(cls)
    body = schema["$defs"][cls.__name__] if "$defs" in schema else schema
    required = set(body.get("required", ()))
    lines = [
        f"\n### {cls.type}\n\n{inspect.cleandoc(cls.__doc__ or '')}\n\n",
        f"Version {cls.schema_version}; id `{_id_form(cls)}`; schema",
        f" [`{cls.type}.v{cls.schema_version}.json`](../schemas/{cls.type}.v{cls.schema_version}.json).\n\n",
        "| field | type | default | what it is |\n| --- | --- | --- | --- |\n",
    ]
    for field, shape in body["properties"].items():
        default = "" if field in required else f"`{msgspec.json.encode(shape.get('default')).decode()}`"
        lines.append(f"| `{field}` | {_type_of(shape)} | {default} | {_in_cell(shape.get('description', ''))} |\n")
    return "".join(lines)


def _id_form(cls: type[Payload]) -> str:
    class Shape:
        """Stands for an event whose every field reads as its own name."""

        type = cls.type
        per_clip = cls.per_clip

        def __getattr__(self, name: str) -> Any:
            found = inspect.getattr_static(cls, name, None)
            return found.__get__(self) if inspect.isfunction(found) else f"<{name}>"

        def natural_key(self) -> Any:
            return cls.natural_key(self)  # type: ignore[arg-type] # stands in for an event on purpose

    return event_id(Shape(), "<clip>" if cls.per_clip else None)  # type: ignore[arg-type] # as above


def _type_of(shape: dict[str, Any]) -> str:
    if "$ref" in shape:
        return str(shape["$ref"]).rsplit("/", 1)[-1]
    if "anyOf" in shape:
        return " or ".join(_type_of(one) for one in shape["anyOf"])
    if "enum" in shape:
        return " or ".join(f"`{value}`" for value in shape["enum"])
    if shape.get("type") == "array":
        if "prefixItems" in shape:
            return f"[{', '.join(_type_of(one) for one in shape['prefixItems'])}]"
        return f"list of {_type_of(shape.get('items') or {})}"
    if shape.get("type") == "object":
        inner = shape.get("additionalProperties")
        return f"object of {_type_of(inner)}" if isinstance(inner, dict) and inner else "object"
    return str(shape.get("type", "any"))


# ---- SQL --------------------------------------------------------------------------------------


def _sql_page() -> str:
    parts = [
        MADE,
        "# SQL views and queries\n\n",
        "A run log is one SQLite file; any client can read it at any time. These views are part of the file. Cost is a\n",
        "decimal string in USD and null where nobody stated it: `CAST(cost AS REAL)` to add it up.\n",
    ]
    for name, view in VIEWS.items():
        parts.append(f"\n## {name}\n\n{view.row}\n\n| column | what it holds |\n| --- | --- |\n")
        parts.extend(f"| `{column}` | {_in_cell(text)} |\n" for column, text in view.columns.items())
    parts.append("\n# Canned queries\n\nDatasette offers these on every run log; `:name` is a parameter.\n")
    for query in RUN_QUERIES.values():
        parts.append(f"\n## {query.title}\n\n{query.description}\n\n```sql\n{query.sql}\n```\n")
    parts.append("\n# Queries over the catalog\n\nOn `catalog.db`, which `vlmrec catalog` makes.\n")
    for query in CATALOG_QUERIES.values():
        parts.append(f"\n## {query.title}\n\n{query.description}\n\n```sql\n{query.sql}\n```\n")
    return "".join(parts)


# ---- glossary ---------------------------------------------------------------------------------

TERMS = {
    "abstention": "An answer without a value: `unknown`, `occluded`, `off_screen` or `not_applicable`. As legitimate as a value.",
    "answer": "`status` and `value` for one turn.",
    "append": "The only write there is.",
    "blob": "Bytes stored once beside the events that refer to them, known by their SHA-256.",
    "call": "One request to a model and what came of it. Its key (clip, stage, question, party, sample) is never sent again once completed.",
    "chart, leaf": "A fault-ratio chart of the published standard, such as 차43-2.",
    "clip": "One video file, known by its `clip_id` and the SHA-256 of its bytes. Clip time is PTS minus the first frame's PTS.",
    "condition": "The fixed setting of every axis of a run, with a printable id.",
    "decision": "An event made by pure code out of observations and records; `vlmrec verify --replay` makes it again.",
    "derived log": "A log that the decision core wrote from another log's answers, against another engine, without a call.",
    "engine": "The rule engine: asks closed-domain questions and narrows charts until one remains or it must stop.",
    "entity table": "Stage 0's structured account of a scene: who is who, contact time, lanes, headings.",
    "event": "An immutable fact in a log, with a dotted type in the past, such as `call.completed`.",
    "fold": "The pure function of a projection that takes one event after another.",
    "gold": "Human labels: answers per question, and a reviewed final chart.",
    "head": "The hash of a log's last event: it stands for everything up to it.",
    "in doubt": "Said of a call that was sent and has no response recorded: it may have been billed.",
    "labeller": "A person who answers the questions; two, A and B, where agreement is measured.",
    "ledger": "The engine's questions and meta at one `data_version`.",
    "log": "A run's append-only file of events. `seq` is a place in it.",
    "observation": "An event that states a fact from outside.",
    "outcome": "How a clip ended.",
    "projection": "A pure fold from events to a value. Scores, scans and reports are projections; none calls a model.",
    "record": "An event that states an act of the operator or the shell.",
    "replay": "Running pure code over a log's events.",
    "round": "Turns whose inputs are fixed by the same state; results fold in ledger order.",
    "run": "One extraction over a set of clips under one condition; one log.",
    "sample": "One model reply to a turn; R samples, then a vote.",
    "seal": "Closing a log so that the one file, copied alone, holds every row.",
    "store": "The folder that holds the logs, one `<run id>.db` each.",
    "submission": "The answers so far, sent to the engine, and its reply.",
    "turn": "One question put for one party on one clip.",
    "upcaster": "A pure step from an old payload to the next version, applied when an event is read.",
    "window family": "Turns that see the same media.",
}


def _glossary_page() -> str:
    parts = [MADE, "# Glossary\n\n| term | meaning |\n| --- | --- |\n"]
    parts.extend(f"| {term} | {_in_cell(meaning)} |\n" for term, meaning in sorted(TERMS.items()))
    enums: tuple[type[StrEnum], ...] = (Party, Status, EngineStatus, Stage, Family)
    for enum in enums:
        values = ", ".join(f"`{member.value}`" for member in enum)
        parts.append(f"\n**{enum.__name__}**: {values}. {inspect.cleandoc(enum.__doc__ or '')}\n")
    return "".join(parts)


def _engine_page() -> str:
    """The page with its table of decided cases, as the newest embedded engine judges them."""
    before, begin, rest = (
        (DOCS / "engine.md").read_text(encoding="utf-8").partition("<!-- [cases by `make docs`] -->\n")
    )
    _, end, after = rest.partition("<!-- [end] -->\n")
    return before + begin + cases_table(load_reference(versions()[-1])) + end + after


def _in_cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _same(path: Path, text: str) -> bool:
    return path.is_file() and path.read_text(encoding="utf-8") == text


if __name__ == "__main__":
    main()
