"""What the writer stores of a payload is its canonical JSON, reads back equal, and names its own blobs."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from strategies import runs

from vlmrec.canonical import canonical_json
from vlmrec.events import LabelSet, blob_refs, decode_payload
from vlmrec.log.encode import references
from vlmrec.log.payload import stored_data
from vlmrec.terms import BlobRef

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats() | st.text() | st.decimals(allow_nan=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3) | st.tuples(inner),
    max_leaves=8,
)
REFS = st.builds(
    BlobRef,
    sha256=st.integers(0, 2**256 - 1).map(lambda number: f"{number:064x}"),
    media_type=st.text(max_size=12),
    length=st.integers(0, 2**40),
)


def label(value: Any) -> LabelSet:
    return LabelSet(ordinal=1, labeler="A", data_version="v", field="x", field_value=value)


@given(JSON)
def test_any_value_is_stored_canonically_or_refused_as_canonical_json_refuses_it(value: Any) -> None:
    payload = label(value)
    expected, refusal = told(canonical_json, payload)
    assert told(stored_data, payload) == (expected, refusal)
    if expected is not None:
        assert canonical_json(decode_payload("label.set", expected)) == expected


def told(encode: Callable[[Any], bytes], payload: Any) -> tuple[bytes | None, str | None]:
    try:
        return encode(payload), None
    except ValueError as error:
        return None, str(error)


@given(runs())
def test_every_event_of_a_run_reads_back_equal_and_names_its_blobs(run: Any) -> None:
    for event in run.events:
        stored = stored_data(event.data)
        assert stored == canonical_json(event.data)
        assert decode_payload(event.data.type, stored) == event.data
        assert set(references(stored)) >= set(blob_refs(event.data))


@given(st.lists(REFS, max_size=3), JSON)
def test_references_are_found_wherever_they_stand_and_nowhere_else(refs: list[BlobRef], value: Any) -> None:
    def plain(item: Any) -> Any:
        if isinstance(item, float | Decimal | int) and not isinstance(item, bool):
            return None
        if isinstance(item, dict):
            return {key: plain(inner) for key, inner in item.items()}
        return [plain(inner) for inner in item] if isinstance(item, list | tuple) else item

    nested = {"a": [{"deep": ref} for ref in refs], "z": plain(value)}
    decoy = msgspec.json.encode(REFS_LIKE).decode()
    data = canonical_json({**nested, "text": decoy, "{": decoy})
    assert list(references(data)) == refs


REFS_LIKE = {"length": 1, "media_type": "text/plain", "sha256": "ab" * 32}
