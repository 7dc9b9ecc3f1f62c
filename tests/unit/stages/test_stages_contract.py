"""What constrained decoding is asked to enforce of an answer."""

import json

import jsonschema
import pytest

from vlmrec.events import Option
from vlmrec.models.presets import Provider
from vlmrec.models.structured import schema_fields
from vlmrec.stages.contract import answer_schema

OPTIONS = (Option(code="yes", label="예"), Option(code="no", label="아니요"))
WHOLE = {
    "reason": "a car turns in at 3.2 s",
    "status": "observed",
    "value": "yes",
    "evidence_start": 3.2,
    "evidence_end": None,
    "confidence": None,
}


def test_a_constrained_answer_can_leave_nothing_out() -> None:
    fields = schema_fields(answer_schema(OPTIONS), name="answer", provider=Provider(base_urls=()))
    schema = json.loads(json.dumps(fields))["response_format"]["json_schema"]["schema"]
    jsonschema.validate(WHOLE, schema)
    for key in WHOLE:
        shorter = {name: value for name, value in WHOLE.items() if name != key}
        with pytest.raises(jsonschema.ValidationError, match=key):
            jsonschema.validate(shorter, schema)


def test_the_reason_is_written_before_the_choice() -> None:
    names = list(answer_schema(OPTIONS)["properties"])
    assert names.index("reason") < names.index("status") < names.index("value")
