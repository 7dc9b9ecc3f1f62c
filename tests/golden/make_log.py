"""Makes the golden log of the current format and event versions: `python tests/golden/make_log.py`.

Every event type occurs twice where it may: with every field filled, and with its required ones alone. Values are
derived from the types, so that a changed type changes the log, and the change is reviewed as a diff of the JSON
lines beside it. The log of a *released* version is never made anew: it stays, and the next version gets its own.
"""

import sys
from pathlib import Path
from typing import Any

import msgspec
from msgspec import inspect

from vlmrec.canonical import make_blob
from vlmrec.events import EVENT_TYPES, Event, Payload, make_event
from vlmrec.log.export import jsonl_line
from vlmrec.log.format import LogKind, Parent
from vlmrec.log.reader import open_log
from vlmrec.log.writer import LogWriter
from vlmrec.terms import Blob, BlobRef

NAME = "format_1"
FOLDER = Path(__file__).parent / "logs"
COMMAND = "python tests/golden/make_log.py"


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for file in FOLDER.glob(f"{NAME}.*"):
        file.unlink()
    write_log(FOLDER / f"{NAME}.db")
    (FOLDER / f"{NAME}.db.lock").unlink()
    (FOLDER / f"{NAME}.jsonl").write_bytes(lines(FOLDER / f"{NAME}.db"))
    print(f"wrote {FOLDER / NAME}.db and .jsonl", file=sys.stderr)


def write_log(path: Path) -> None:
    with LogWriter.create(
        path,
        kind=LogKind.DERIVED,
        log_uuid="6f1c0a52-77d1-4c3e-8a55-0d9b1e2f3a41",
        created="2026-01-05T09:00:00.000Z",
        parent=Parent(uuid="2a6f6a30-5b0e-4d55-9d57-6f0f3b1c2d4e", head="0123456789abcdef" * 4),
    ) as writer:
        for event, blobs in golden_events():
            writer.append([event], blobs).result()
        writer.seal()


def lines(path: Path) -> bytes:
    """The log as text, to be read as a diff."""
    with open_log(path) as log:
        return b"".join(jsonl_line(log.info, row) for row in log.rows())


def golden_events() -> list[tuple[Event, list[Blob]]]:
    made = []
    for cls in EVENT_TYPES:
        for variant in ("full", "bare"):
            if variant == "bare" and not cls.per_clip and "ordinal" not in cls.__struct_fields__:
                continue  # a run starts once
            sampler = Sampler(variant)
            payload = sampler.payload(cls)
            clip = f"클립/{variant}" if cls.per_clip else None
            time = f"2026-01-05T09:{len(made) // 60:02d}:{len(made) % 60:02d}.125Z"
            causation = made[-1][0].id if made and variant == "full" else None
            made.append((make_event(payload, clip=clip, time=time, causation=causation), sampler.blobs))
    return made


class Sampler:
    """Values of any type, always the same ones. ``bare`` leaves out what has a default."""

    def __init__(self, variant: str) -> None:
        self.variant = variant
        self.blobs: list[Blob] = []

    def payload(self, cls: type[Payload]) -> Payload:
        info = inspect.type_info(cls)
        assert isinstance(info, inspect.StructType)
        return msgspec.convert(self.struct(info, cls.type), cls)

    def struct(self, info: inspect.StructType, path: str) -> dict[str, Any]:
        if info.cls is BlobRef:
            blob = make_blob(f"body of {path} ({self.variant})".encode(), "text/plain; charset=utf-8")
            self.blobs.append(blob)
            return msgspec.to_builtins(blob.ref)
        shown = [field for field in info.fields if field.required or self.variant == "full"]
        values = {field.encode_name: self.value(field.type, f"{path}.{field.encode_name}") for field in shown}
        if "ordinal" in values:
            values["ordinal"] = 1 if self.variant == "full" else 2
        return values

    def value(self, kind: inspect.Type, path: str) -> Any:
        match kind:
            case inspect.Metadata(type=inner):
                return self.value(inner, path)
            case inspect.UnionType(types=types):
                some = [part for part in types if not isinstance(part, inspect.NoneType)]
                return self.value(some[0], path) if self.variant == "full" or len(some) == len(types) else None
            case inspect.StructType():
                return self.struct(kind, path)
            case inspect.VarTupleType(item_type=inner) | inspect.ListType(item_type=inner):
                return [self.value(inner, f"{path}[{n}]") for n in range(2 if self.variant == "full" else 0)]
            case inspect.TupleType(item_types=inners):
                return [self.value(inner, f"{path}[{n}]") for n, inner in enumerate(inners)]
            case inspect.DictType(value_type=inner):
                return {"나": self.value(inner, f"{path}.나"), "a": self.value(inner, f"{path}.a")}
            case inspect.EnumType(cls=enum):
                return list(enum)[-1 if self.variant == "bare" else 0].value
            case inspect.LiteralType(values=values):
                return min(values, key=str)
            case inspect.IntType(ge=least):
                return max(least or 0, 7 if self.variant == "full" else 0)
            case inspect.FloatType():
                return 0.1 + 0.2
            case inspect.BoolType():
                return self.variant == "full"
            case inspect.DecimalType():
                return "0.001250"
            case inspect.AnyType():
                return {"any": [path, 1, 0.5, None, True]}
            case inspect.StrType(pattern=pattern):
                return "ab" * 32 if pattern else f'{path} "글"\n'
            case _:
                raise TypeError(f"{path}: no sample for {kind}")


if __name__ == "__main__":
    main()
