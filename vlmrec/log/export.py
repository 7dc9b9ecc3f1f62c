"""Events as lines of JSON, from the stored bytes: what the log says, in two common forms.

``data`` is copied as it lies in the file, not decoded and written anew.
"""

from collections.abc import Callable, Sequence

import msgspec

from vlmrec.errors import InputError
from vlmrec.events import BY_TYPE
from vlmrec.log.format import LogInfo, Row

LineWriter = Callable[[LogInfo, Row], bytes]

_encode = msgspec.json.Encoder().encode


def jsonl_line(info: LogInfo, row: Row) -> bytes:
    """A row under the names of its columns."""
    return _encode({**row._asdict(), "data": msgspec.Raw(row.data.encode())}) + b"\n"


def cloudevents_line(info: LogInfo, row: Row) -> bytes:
    """A row as a CloudEvent 1.0 in its JSON format.

    ``source`` is the log's uuid as a URN, and with ``id`` unique in the world. Correlation and causation
    have the names of CloudEvents' own extensions; ``sequence`` is of fixed width, so that it sorts as text.
    """
    optional = {"subject": row.subject, "correlationid": row.correlation, "causationid": row.causation}
    return (
        _encode(
            {
                "specversion": "1.0",
                "id": row.id,
                "source": f"urn:uuid:{info.uuid}",
                "type": row.type,
                "time": row.time,
                **{name: value for name, value in optional.items() if value is not None},
                "datacontenttype": "application/json",
                "version": row.version,
                "sequence": f"{row.seq:020d}",
                "hash": row.hash,
                "data": msgspec.Raw(row.data.encode()),
            }
        )
        + b"\n"
    )


LINES: dict[str, LineWriter] = {"jsonl": jsonl_line, "cloudevents": cloudevents_line}
"""The formats of ``vlmrec events``."""


def checked_types(types: Sequence[str]) -> Sequence[str] | None:
    """The types to select; None for all. Raises InputError for one that no event has."""
    for name in types:
        if name not in BY_TYPE:
            raise InputError(f"no event has the type {name!r}; there are: {', '.join(sorted(BY_TYPE))}")
    return types or None
