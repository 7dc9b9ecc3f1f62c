"""The observer's API: what it accepts, what it refuses, and in which shape it answers."""

import base64
import io
import json
from typing import Any

import av
import httpx
import numpy as np
import pytest

from vlmrec.observer.app import create_app

QUESTION = """[question] q_motion
[party] self
[text] Is the recording vehicle moving?
[options]
- moving: moving
- stopped: standing
[answer] Reply with one JSON object."""


def film(speed: float, *, frames: int = 40, rate: int = 15) -> bytes:
    """A textured ground that runs sideways at ``speed`` pixels a second."""
    rng = np.random.default_rng(3)
    ground = np.kron(rng.integers(0, 255, (45, 260), np.uint8), np.ones((8, 8), np.uint8))
    buffer = io.BytesIO()
    with av.open(buffer, "w", format="mp4") as container:
        stream = container.add_stream("libx264", rate=rate, options={"crf": "20"})
        stream.width, stream.height, stream.pix_fmt = 640, 360, "yuv420p"
        for index in range(frames):
            shift = round(index * speed / rate)
            picture = np.repeat(ground[:360, shift : shift + 640, None], 3, axis=2)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(np.ascontiguousarray(picture), format="rgb24")))
        container.mux(stream.encode())
    return buffer.getvalue()


@pytest.fixture(scope="module")
def standing() -> bytes:
    return film(0)


@pytest.fixture(scope="module")
def running() -> bytes:
    return film(60)


def video_part(body: bytes) -> dict[str, Any]:
    return {"type": "video_url", "video_url": {"url": "data:video/mp4;base64," + base64.b64encode(body).decode()}}


def chat(*parts: dict[str, Any], question: str = QUESTION, **extra: Any) -> dict[str, Any]:
    content = [*parts, {"type": "text", "text": question}]
    return {"model": "observer/classical", "messages": [{"role": "user", "content": content}], **extra}


async def post(body: Any, app: Any = None) -> httpx.Response:
    transport = httpx.ASGITransport(app=app or create_app())
    async with httpx.AsyncClient(transport=transport, base_url="http://observer") as client:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return await client.post("/v1/chat/completions", content=content)


def answer(response: httpx.Response) -> dict[str, Any]:
    assert response.status_code == 200, response.text
    found = json.loads(response.json()["choices"][0]["message"]["content"])
    assert isinstance(found, dict)
    return found


async def test_a_standing_camera_is_stopped(standing: bytes) -> None:
    found = answer(await post(chat(video_part(standing))))
    assert (found["status"], found["value"]) == ("observed", "stopped")
    assert 0 <= found["evidence_start"] < found["evidence_end"] <= 40 / 15


async def test_a_running_ground_is_motion(running: bytes) -> None:
    assert answer(await post(chat(video_part(running))))["value"] == "moving"


async def test_a_question_it_does_not_know_gets_an_abstention(running: bytes) -> None:
    question = "[question] q_weather\n[party] none\n[text] Rain?\n[options]\n- yes: yes\n- no: no\n[answer] …"
    found = answer(await post(chat(video_part(running), question=question)))
    assert (found["status"], found["value"]) == ("unknown", None)


async def test_a_value_is_one_of_the_options_shown_or_none_at_all(running: bytes) -> None:
    question = QUESTION.replace("- moving: moving", "- in_motion: moving")
    assert answer(await post(chat(video_part(running), question=question)))["value"] is None


async def test_a_request_without_media_gets_an_abstention() -> None:
    assert answer(await post(chat()))["status"] == "unknown"


async def test_the_same_request_gets_the_same_bytes(running: bytes) -> None:
    body = chat(video_part(running), n=2, seed=7, temperature=1.0)
    first, second = await post(body), await post(body)
    assert first.content == second.content
    assert [choice["index"] for choice in first.json()["choices"]] == [0, 1]


async def test_usage_adds_up_and_grows_with_the_video(standing: bytes) -> None:
    with_video = (await post(chat(video_part(standing)))).json()["usage"]
    without = (await post(chat())).json()["usage"]
    assert with_video["total_tokens"] == with_video["prompt_tokens"] + with_video["completion_tokens"]
    assert with_video["prompt_tokens"] > without["prompt_tokens"]


async def test_max_tokens_cuts_the_text_and_says_so() -> None:
    choice = (await post(chat(max_tokens=4))).json()["choices"][0]
    assert choice["finish_reason"] == "length"
    assert len(choice["message"]["content"]) <= 16


async def test_a_schema_decides_keys_order_and_allowed_values(standing: bytes) -> None:
    schema = {
        "type": "object",
        "properties": {"value": {"enum": ["moving", None]}, "status": {"enum": ["observed", "unknown"]}},
        "additionalProperties": False,
    }
    wanted = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}
    found = answer(await post(chat(video_part(standing), response_format=wanted)))
    assert list(found.items()) == [("value", None), ("status", "unknown")]


async def test_a_schema_may_be_a_choice_between_objects(standing: bytes) -> None:
    def shape(status: str, value: dict[str, Any]) -> dict[str, Any]:
        return {"type": "object", "properties": {"reason": {}, "status": {"enum": [status]}, "value": value}}

    for codes, said in ((["moving", "stopped"], ("observed", "stopped")), (["moving"], ("unknown", None))):
        schema = {"anyOf": [shape("observed", {"enum": codes}), shape("unknown", {"type": "null"})]}
        wanted = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}
        found = answer(await post(chat(video_part(standing), response_format=wanted)))
        assert list(found) == ["reason", "status", "value"]
        assert (found["status"], found["value"]) == said


async def test_frames_with_time_labels_serve_as_a_video(running: bytes) -> None:
    parts: list[dict[str, Any]] = []
    with av.open(io.BytesIO(running)) as container:
        for index, frame in enumerate(container.decode(video=0)):
            body = io.BytesIO()
            frame.to_image().save(body, format="JPEG", quality=90)
            url = "data:image/jpeg;base64," + base64.b64encode(body.getvalue()).decode()
            parts.append({"type": "text", "text": f"[frame {index} at {frame.time:.3f} s]"})
            parts.append({"type": "image_url", "image_url": {"url": url}})
    assert answer(await post(chat(*parts)))["value"] == "moving"
    unlabelled = [part for part in parts if part["type"] == "image_url"]
    assert answer(await post(chat(*unlabelled)))["value"] is None


async def test_a_clip_is_analysed_once_for_many_questions(running: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    from vlmrec.observer import analysis

    calls: list[int] = []
    real = analysis.analyse

    def counting(frames: Any) -> Any:
        calls.append(1)
        return real(frames)

    monkeypatch.setattr(analysis, "analyse", counting)
    app = create_app()
    for _ in range(3):
        await post(chat(video_part(running)), app)
    assert len(calls) == 1


@pytest.mark.parametrize(
    ("body", "param"),
    [
        (b"{", None),
        (b"[]", None),
        ({"messages": []}, "messages"),
        ({"messages": [{"role": "user", "content": "x"}], "n": 0}, "n"),
        ({"messages": [{"role": "user", "content": "x"}], "n": True}, "n"),
        ({"messages": [{"role": "user", "content": "x"}], "stream": True}, "stream"),
        ({"messages": [{"role": "user", "content": [{"type": "audio"}]}]}, "messages[0].content[0]"),
        (
            {"messages": [{"role": "user", "content": "x"}], "response_format": {"type": "json_schema"}},
            "response_format",
        ),
        (chat(video_part(b"")), "messages"),
        (chat(video_part(b"junk" * 500)), "messages"),
        (chat({"type": "video_url", "video_url": {"url": "data:video/mp4;base64,%%%"}}), "messages[0].content[0]"),
        (chat({"type": "video_url", "video_url": {"url": "http://127.0.0.1/a.mp4"}}), "messages[0].content[0]"),
        (chat({"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,AAAA"}}), "messages"),
    ],
)
async def test_a_faulty_request_is_refused_in_the_shape_of_openai(body: Any, param: str | None) -> None:
    response = await post(body)
    assert response.status_code == 400
    error = response.json()["error"]
    assert error["param"] == param
    assert error["message"]
    assert (error["type"], error["code"]) == ("BadRequestError", 400)


@pytest.mark.parametrize("model", ["qwen/other", "observer/nope"])
async def test_an_unknown_model_is_not_found(model: str) -> None:
    response = await post({**chat(), "model": model})
    assert response.status_code == 404
    assert response.json()["error"]["param"] == "model"


async def test_models_and_health_answer() -> None:
    transport = httpx.ASGITransport(app=create_app())
    async with httpx.AsyncClient(transport=transport, base_url="http://observer") as client:
        listed = (await client.get("/v1/models")).json()["data"]
        assert [card["id"] for card in listed] == ["observer/classical"]
        assert (await client.get("/health")).status_code == 200


async def test_a_client_that_goes_away_while_it_asks_is_no_error() -> None:
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/v1/chat/completions", "headers": [], "query_string": b""}
    await create_app()(scope, receive, send)
    assert [message.get("status") for message in sent if message["type"] == "http.response.start"] == [499]
