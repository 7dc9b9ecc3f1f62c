"""JSON Schema of every event type and data contract, generated from the Structs that define them.

The files in ``schemas/`` are this module's output, byte for byte (sorted keys, two spaces, final
newline); a test regenerates and compares. A released schema changes in one way only: a field with
a default is added. Anything else is a new version, with an upcaster in ``vlmrec.log``.
"""

from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from vlmrec.errors import CheckFailed, InputError
from vlmrec.events import EVENT_TYPES

REPAIR = "vlmrec schema --write schemas"
DIALECT = "https://json-schema.org/draft/2020-12/schema"


class Contract(NamedTuple):
    """A data contract that is no event: where its Struct is, and its version."""

    module: str
    struct: str
    version: int


CONTRACTS: dict[str, Contract] = {
    "engine.version": Contract("vlmrec.protocol", "Version", 1),
    "engine.meta": Contract("vlmrec.ledger", "Meta", 1),
    "engine.questions": Contract("vlmrec.ledger", "Questions", 1),
    "engine.evaluate.request": Contract("vlmrec.protocol", "EvaluateRequest", 1),
    "engine.evaluate.reply": Contract("vlmrec.protocol", "Evaluation", 1),
    "entity.table": Contract("vlmrec.table", "EntityTable", 1),
    "gold.label": Contract("vlmrec.gold", "GoldLabel", 1),
}


def generate() -> dict[str, bytes]:
    """Every schema file by name, such as ``call.completed.v1.json``."""
    files = {f"{cls.type}.v{cls.schema_version}.json": _render(cls.type, cls) for cls in EVENT_TYPES}
    for name, contract in CONTRACTS.items():
        struct = getattr(import_module(contract.module), contract.struct)
        files[f"{name}.v{contract.version}.json"] = _render(name, struct)
    return dict(sorted(files.items()))


def schema_named(name: str) -> bytes:
    """One schema, by type (the current version) or by file name. Raises InputError naming what there is."""
    files = generate()
    for file, body in files.items():
        if name in (file, file.removesuffix(".json"), file.rsplit(".v", 1)[0]):
            return body
    known = ", ".join(file.rsplit(".v", 1)[0] for file in files)
    raise InputError(f"no schema {name!r}; there are: {known}")


def write_schemas(folder: Path) -> list[str]:
    """Write every schema that is missing or differs; returns the names written. Older versions are left alone."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, body in generate().items():
        path = folder / name
        if not path.is_file() or path.read_bytes() != body:
            path.write_bytes(body)
            written.append(name)
    return written


def check_schemas(folder: Path) -> int:
    """How many schemas ``folder`` holds as generated. Raises CheckFailed naming those that differ, and the repair."""
    files = generate()
    drifted = [name for name, body in files.items() if not _holds(folder / name, body)]
    if drifted:
        raise CheckFailed(f"{folder} differs from the code in {', '.join(drifted)}; run `{REPAIR}` and commit")
    return len(files)


def _holds(path: Path, body: bytes) -> bool:
    return path.is_file() and path.read_bytes() == body


def _render(name: str, struct: type) -> bytes:
    schema: dict[str, Any] = {"$schema": DIALECT, "title": name, **msgspec.json.schema(struct)}
    return msgspec.json.format(msgspec.json.encode(schema, order="sorted"), indent=2) + b"\n"
