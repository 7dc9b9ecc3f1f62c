"""A stored run in the place of a model, and how two requests are told apart."""

import uuid
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from vlmrec.canonical import Blob, canonical_json, json_blob, make_blob, sha256_hex
from vlmrec.errors import InputError
from vlmrec.events import CallCompleted, CallRequested, Event, Payload, Stage, Usage, make_event
from vlmrec.log import LogKind, LogWriter
from vlmrec.models.difference import first_difference, likeness
from vlmrec.models.replay import open_replay
from vlmrec.models.wire import Completed, Failed, PreparedRequest
from vlmrec.terms import Party

TIME = "2026-01-05T09:00:00Z"


def asked(question: str, seed: int = 0) -> dict[str, Any]:
    content = [{"type": "video_url", "sha256": "ab"}, {"type": "text", "text": f"[question] {question}"}]
    return {"messages": [{"role": "user", "content": content}], "model": "m", "seed": seed}


def fingerprint(value: object) -> str:
    return f"v1:{sha256_hex(canonical_json(value))}"


def stored_run(folder: Path, *, completed: bool = True) -> Path:
    path = folder / "old.db"
    with LogWriter.create(path, kind=LogKind.RUN, log_uuid=str(uuid.uuid4()), created=TIME) as writer:
        for question in ("q_a", "q_b"):
            for sample in (0, 1):
                events, blobs = call(question, sample)
                writer.append(events if completed else events[:1], blobs if completed else blobs[:1]).result()
        writer.seal()
    return path


def call(question: str, sample: int) -> tuple[list[Event], list[Blob]]:
    request = json_blob(asked(question, sample * 1000))
    body = make_blob(f"reply to {question} {sample}".encode(), "application/json")
    key: dict[str, Any] = {
        "stage": Stage.PREDICATE,
        "question_id": question,
        "party": Party.OTHER,
        "sample": sample,
        "attempt": 1,
    }
    payloads: list[Payload] = [
        CallRequested(
            **key,
            fingerprint=fingerprint(asked(question, sample * 1000)),
            request=request.ref,
            model="p/m",
            endpoint="http://x/v1",
        ),
        CallCompleted(
            **key,
            status=200,
            body=body.ref,
            latency_s=1.5,
            headers={"content-type": "application/json"},
            usage=Usage(prompt_tokens=7),
            cost=Decimal("0.01"),
            served_model="m-1",
            finish_reasons=("stop",),
        ),
    ]
    return [make_event(payload, clip="clip", time=TIME) for payload in payloads], [request, body]


def request(question: str, sample: int, seed: int | None = None, clip: str = "clip") -> PreparedRequest:
    value = asked(question, sample * 1000 if seed is None else seed)
    return PreparedRequest(
        content=(),
        request_id=f"log/{clip}/predicate/{question}/other/{sample}/1",
        fingerprint=fingerprint(value),
        sample=sample,
        loggable=canonical_json(value),
    )


async def test_a_stored_call_is_answered_by_fingerprint_and_sample(tmp_path: Path) -> None:
    with open_replay(stored_run(tmp_path)) as model:
        for question in ("q_b", "q_a"):
            for sample in (1, 0):
                attempt = await model.send(request(question, sample), clip="clip")
                assert isinstance(attempt, Completed)
                assert attempt.body == f"reply to {question} {sample}".encode()
        assert attempt.usage.prompt_tokens == 7
        assert attempt.served_model == "m-1"
        assert attempt.latency_s == 1.5


async def test_a_replayed_call_costs_nothing(tmp_path: Path) -> None:
    with open_replay(stored_run(tmp_path)) as model:
        attempt = await model.send(request("q_a", 0), clip="clip")
        assert attempt.cost == 0


async def test_a_miss_stops_the_run_and_shows_the_closest_request(tmp_path: Path) -> None:
    with open_replay(stored_run(tmp_path)) as model:
        attempt = await model.send(request("q_a", 1, seed=77), clip="clip")
        assert isinstance(attempt, Failed)
        assert (attempt.reason, attempt.stop_run, attempt.in_doubt) == ("replay_miss", True, False)
        assert "closest is clip/predicate/q_a/other/1" in attempt.message
        assert "$.seed: stored 1000, now 77" in attempt.message
        unknown = await model.send(request("q_c", 0), clip="clip")
        assert "[question] q_" in unknown.message
        lost = await model.send(request("q_a", 2, seed=0), clip="clip")
        assert "sample 2 of it never came back" in lost.message


def test_a_run_without_a_completed_call_cannot_be_replayed(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nothing to replay"), open_replay(stored_run(tmp_path, completed=False)):
        pass


@pytest.mark.parametrize(
    ("stored", "now", "expected"),
    [
        ({"a": 1}, {"a": 1}, None),
        ({"b": 1, "a": 2}, {"b": 2, "a": 3}, "$.a: stored 2, now 3"),
        ({"a": 1}, {}, "$.a: only in the stored request: 1"),
        ({}, {"a": {"b": None}}, '$.a: only now: {"b": null}'),
        ([1, 2], [1, 3], "$[1]: stored 2, now 3"),
        ([1], [1, 2], "$: 1 items stored, 2 now"),
        (1, True, "$: stored 1, now true"),
        (None, "x", '$: stored null, now "x"'),
    ],
)
def test_the_first_difference_is_named_with_its_place(stored: object, now: object, expected: str | None) -> None:
    assert first_difference(stored, now) == expected


def test_long_texts_are_shown_from_where_they_part() -> None:
    found = first_difference({"text": "a" * 500 + "X tail"}, {"text": "a" * 500 + "Y tail"})
    assert found is not None
    assert "from character 500" in found
    assert "X tail" in found
    assert len(found) < 200


def test_likeness_is_whole_for_equals_and_grows_with_what_is_shared() -> None:
    one = {"a": 1, "b": [1, 2, 3]}
    assert likeness(one, one) == 1
    assert likeness(one, {"a": 1, "b": [1, 2, 4]}) > likeness(one, {"a": 2, "b": []})
    assert likeness({}, {}) == 1
