"""Every axis value, oracle tables and answers, delivery and monitoring run end to end with the embedded model, and replay."""

import asyncio
import json
import logging
from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest
from click.testing import CliRunner
from media_factory import write_clip
from moto.server import ThreadedMotoServer
from tiny_model import TinyModel

from vlmrec.cli import cli
from vlmrec.config import parse_config
from vlmrec.engine.reference import load_reference, versions
from vlmrec.errors import InputError
from vlmrec.events import (
    AnswerAccepted,
    AnswerGiven,
    CallRequested,
    ClipFinished,
    MediaPrepared,
    ReplyParsed,
    Stage,
    TableChecked,
    TableGiven,
)
from vlmrec.log.reader import open_log
from vlmrec.models.secrets import Secrets
from vlmrec.stages.condition import parse_condition
from vlmrec.stages.extract import RunResult
from vlmrec.stages.options import NewRun, Options
from vlmrec.stages.replay import replay_log
from vlmrec.stages.session import begin
from vlmrec.stages.settings import run_parameters
from vlmrec.stages.stop import Stop

TOGETHER = [  # every axis value in some condition
    "V=full,L=ko",
    "V=frames-3,A1,G1,L=en",
    "V=frames-4fps,P=9000,S1,C1,G2",
    "V=window,S2,A2,G3,R3,O=shuffle-7",
    "Q=describe-map,L=en,V=frames-3",
    "F=schema,V=frames-3",
]
ALONE = [
    "V=full", "V=frames-3", "V=frames-4fps", "V=window", "V=window,S2", "V=frames-3,P=9000", "A1", "A2", "C1", "R3",
    "G1", "G2", "G3", "Q=describe-map,L=en", "S1", "S2", "F=schema", "L=en", "O=shuffle-7",
    "S2,G3,V=frames-4fps,A2,C1,R3,F=schema,L=en,O=shuffle-3",
]  # fmt: skip


@pytest.fixture
def clips(tmp_path: Path) -> Path:
    folder = tmp_path / "clips"
    folder.mkdir()
    for name, frames in (("one", 5), ("two", 6)):
        write_clip(folder / f"{name}.mp4", pts=tuple(range(frames)))
    return folder


def run_once(store: Path, run_id: str, clips: Path, condition: str, **changes: object) -> RunResult:
    wanted = parse_condition(condition)
    new = NewRun(
        clips=(clips,),
        clip_set=None,
        condition=wanted,
        parameters=run_parameters(wanted),
        engine=f"embedded:{versions()[-1]}",
        **changes,  # type: ignore[arg-type]
    )
    config = parse_config("", source=None, environ={})
    options = Options(store=store, run_id=run_id)
    return asyncio.run(begin(options, new, config, stop=Stop(), progress=lambda clip, state: None))


def replays(log: Path) -> bool:
    with open_log(log) as reader:
        run_events = [event for event in reader.events() if event.clip is None]
        clips = [(clip, list(reader.events(clip=clip))) for clip in reader.clips()]
        report = replay_log(run_events, clips, reader.blob)
    return not report.differences and report.unwritten == 0 and report.decisions > 0


@pytest.mark.parametrize("condition", [*TOGETHER, *(pytest.param(each, marks=pytest.mark.deep) for each in ALONE)])
def test_a_condition_runs_to_its_end_and_its_decisions_follow_from_its_inputs(
    condition: str, clips: Path, tmp_path: Path
) -> None:
    result = run_once(tmp_path / "store", "run", clips / "one.mp4", condition)
    assert (result.reason, result.finished, result.failed) == ("done", 1, 0)
    assert replays(tmp_path / "store" / "run.db")


def cli_run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(cli, list(arguments))
    return result.exit_code, result.output


def make_gold(folder: Path, *, tables: bool = True, wrong: bool = False) -> Path:
    folder.mkdir()
    for name in ("one", "two"):
        label: dict[str, object] = {
            "clip_id": name,
            "data_version": load_reference(versions()[-1]).data_version,
            "answers": [
                {"question_id": "q_collision", "party": "none", "status": "observed", "value": "vehicle_contact",
                 "evidence_start": 0.3},
                {"question_id": "q_direction_relation", "party": "none", "status": "observed", "value": "same_direction"},
            ],
        }  # fmt: skip
        if tables:
            heading = "oncoming" if wrong else "parallel"
            label["stage0"] = {
                "entities": [{"id": "e1", "kind": "car", "role": "counterpart", "heading": heading, "first_seen": 0.0}],
                "contact_time": 0.3,
            }
        (folder / f"{name}.json").write_text(json.dumps(label), encoding="utf-8")
    return folder


def test_tables_and_answers_from_gold_stand_before_a_clips_first_decision_and_say_where_they_came_from(
    clips: Path, tmp_path: Path
) -> None:
    gold, log = make_gold(tmp_path / "gold"), tmp_path / "store" / "oracle.db"
    arguments = ["extract", str(clips), "--run-id", "oracle", "--condition", "S2"]
    code, said = cli_run(*arguments, "--stage0-from", f"gold:{gold}", "--answers-from", f"gold:{gold}")
    assert code == 0, said
    with open_log(log) as reader:
        events = list(reader.events(clip="one"))
        manifest = next(event.data for event in reader.events(["run.started"])).manifest  # type: ignore[attr-defined]
    assert manifest.extra["given"] == {"one": 2, "two": 2}
    assert manifest.extra["tables_given"] == ["one", "two"]
    content = manifest.extra["stage0_from"]["content"]
    kinds = [type(event.data) for event in events]
    assert kinds[:3] == [TableGiven, AnswerGiven, AnswerGiven]
    given = [event.data.source for event in events if isinstance(event.data, (TableGiven, AnswerGiven))]
    assert {(source.kind, source.content) for source in given} == {("gold", content)}
    accepted = {event.data.ref.key: event.data for event in events if isinstance(event.data, AnswerAccepted)}
    assert accepted["q_collision", "none"].source == "given"  # type: ignore[index]
    asked = {(event.data.stage, event.data.question_id) for event in events if isinstance(event.data, CallRequested)}
    assert Stage.TABLE not in {stage for stage, _ in asked}
    assert not {"q_collision", "q_direction_relation"} & {question for _, question in asked}
    assert ("predicate", "q_vehicle_kind") in asked
    assert replays(log)


def test_a_table_comes_from_another_run_by_its_log_head_and_event(clips: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    assert run_once(store, "first", clips, "S2").reason == "done"
    code, said = cli_run("extract", str(clips), "--run-id", "again", "--condition", "S2,G3", "--stage0-from", "first")
    assert code == 0, said
    with open_log(store / "first.db") as reader:
        first = {event.clip: event for event in reader.events([TableChecked.type])}
        uuid, head = reader.info.uuid, reader.head()
    with open_log(store / "again.db") as reader:
        again = {event.clip: event.data for event in reader.events([TableGiven.type])}
    assert set(again) == {"one", "two"}
    for clip, data in again.items():
        assert isinstance(data, TableGiven)
        assert (data.source.kind, data.source.log, data.source.head) == ("log", uuid, head)
        assert data.source.event == first[clip].id
        assert data.table == first[clip].data.table  # type: ignore[attr-defined]
    assert replays(store / "again.db")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--condition", "S0", "--stage0-from", "gold:{gold}"], "only under S2"),
        (["--condition", "S2", "--stage0-from", "gold:{bare}"], "no usable entity table of clip 'one' and 1 more in"),
        (["--condition", "S2", "--stage0-from", "nowhere"], "no run 'nowhere'"),
        (["--answers-from", "first"], "expected gold:DIR"),
        (["--monitor-rate", "0.5"], "F=schema"),
        (["--monitor-rate", "much", "--condition", "F=schema"], "is not a share"),
        (["--delivery", "pigeon"], "expected data_url"),
        (["--delivery", "presigned_url"], "fetches nothing"),
        (["--delivery", "file"], "not known to read files"),
        (["--n-in-one-call"], "R2 or more"),
        (["--condition", "G3", "--grounding", "1"], "axis G is set twice"),
        (["--video", "half"], "V=half is not known"),
    ],
)
def test_settings_that_make_no_sense_are_refused_with_the_reason_and_no_log(
    arguments: list[str], said: str, clips: Path, tmp_path: Path
) -> None:
    places = {"gold": make_gold(tmp_path / "gold"), "bare": make_gold(tmp_path / "bare", tables=False)}
    filled = [argument.format(**places) for argument in arguments]
    code, output = cli_run("extract", str(clips), "--run-id", "refused", *filled)
    assert code == 2
    assert said in output
    assert not (tmp_path / "store" / "refused.db").exists()


def test_single_options_set_their_axes_and_nothing_else(clips: Path, tmp_path: Path) -> None:
    asked = "V=frames-3,P=9000,A1,C1,R2,G3,Q=choice,S2,F=schema,L=en,O=shuffle-7"
    single = ["--video", "frames-3", "--pixels", "9000", "--context", "1", "--definitions", "1", "--repetition", "2",
              "--grounding", "3", "--stages", "2", "--format", "schema", "--language", "en", "--order", "shuffle-7"]  # fmt: skip
    code, said = cli_run("extract", str(clips / "one.mp4"), "--run-id", "single", *single)
    assert code == 0, said
    with open_log(tmp_path / "store" / "single.db") as reader:
        manifest = next(event.data for event in reader.events(["run.started"])).manifest  # type: ignore[attr-defined]
    assert manifest.condition == f"M=observer/classical,{asked}"


def test_a_share_of_calls_is_monitored_without_constraints_and_never_answers(clips: Path, tmp_path: Path) -> None:
    log = tmp_path / "store" / "watched.db"
    code, said = cli_run(
        "extract", str(clips), "--run-id", "watched", "--condition", "F=schema", "--monitor-rate", "1/2"
    )
    assert code == 0, said
    with open_log(log) as reader:
        requested = [event.data for event in reader.events([CallRequested.type])]
        parsed = [event.data for event in reader.events([ReplyParsed.type])]
        bodies = {data.stage: json.loads(reader.blob(data.request.sha256)) for data in requested}  # type: ignore[attr-defined]
    by_stage = {stage: sum(data.stage is stage for data in requested) for stage in bodies}  # type: ignore[attr-defined]
    assert 0 < by_stage[Stage.MONITOR] < by_stage[Stage.PREDICATE]
    assert "response_format" in bodies[Stage.PREDICATE]
    assert "response_format" not in bodies[Stage.MONITOR]
    assert {data.stage for data in parsed} == {Stage.PREDICATE}  # type: ignore[attr-defined]
    assert replays(log)
    code, said = cli_run("scan", "watched", "--only", "format", "--json")
    assert code == 0, said
    (figures,) = json.loads(said)["format"]
    assert figures["monitored"] == figures["strict"] == figures["same_answer"] == by_stage[Stage.MONITOR]


ACCESS, SECRET = "AKIDEXAMPLE1234567", "wJalrXUtnFEMIexampleSECRETkey"


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    host, port = server.get_host_and_port()
    endpoint = f"http://{host}:{port}"
    keys = {"AWS_ACCESS_KEY_ID": ACCESS, "AWS_SECRET_ACCESS_KEY": SECRET}
    store = {"VLMREC_S3_BUCKET": "clips", "VLMREC_S3_ENDPOINT": endpoint, "VLMREC_S3_REGION": "us-east-1"}
    for name, value in {**keys, **store}.items():
        monkeypatch.setenv(name, value)
    boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1").create_bucket(Bucket="clips")
    yield endpoint
    server.stop()


def test_a_presigned_run_sends_addresses_logs_no_signature_and_has_the_fingerprints_of_an_inline_run(
    clips: Path, tmp_path: Path, bucket: str
) -> None:
    store = tmp_path / "store"
    with TinyModel() as model:
        shared = ["extract", str(clips), "--model", "vllm/tiny", "--base-url", model.url]
        for run_id, way in (("inline", "data_url"), ("signed", "presigned_url"), ("local", "file")):
            code, said = cli_run(*shared, "--run-id", run_id, "--delivery", way)
            assert code == 0, said
    urls = model.media_urls
    signed = [url for url in urls if url.startswith(bucket)]
    assert (
        len(signed) == sum(url.startswith("data:") for url in urls) == sum(url.startswith("file:") for url in urls) > 0
    )
    signatures = {url.split("X-Amz-Signature=")[1].split("&")[0] for url in signed}
    assert len(signatures) == 2
    raw = (store / "signed.db").read_bytes()
    for secret in (*signatures, ACCESS, SECRET):
        assert secret.encode() not in raw
    assert bucket.encode() not in raw or b"X-Amz-Signature" not in raw
    prints = {}
    for run_id in ("inline", "signed", "local"):
        with open_log(store / f"{run_id}.db") as reader:
            prints[run_id] = {event.id: event.data.fingerprint for event in reader.events([CallRequested.type])}  # type: ignore[attr-defined]
            (way,) = {event.data.delivery for event in reader.events([MediaPrepared.type])}  # type: ignore[attr-defined]
            manifest = next(event.data for event in reader.events(["run.started"])).manifest  # type: ignore[attr-defined]
            finished = list(reader.events([ClipFinished.type]))
        assert len(finished) == 2
        assert (way, manifest.extra.get("delivery", "data_url")) == {
            "inline": ("data_url", "data_url"),
            "signed": ("presigned_url", "presigned_url"),
            "local": ("file", "file"),
        }[run_id]
    assert prints["inline"] == prints["signed"] == prints["local"]


def test_a_signature_that_comes_back_alone_is_replaced_and_other_hashes_stay() -> None:
    signature, hash_ = "ab" * 32, "cd" * 32
    secrets = Secrets()
    secrets.learn([signature])
    secrets.learn([])
    clean, count = secrets.scrub(f"could not fetch, signature {signature}, sha256 {hash_}")
    assert (count, signature in clean, hash_ in clean) == (1, False, True)


def test_presigned_delivery_without_a_store_is_refused_with_what_to_set(
    clips: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VLMREC_S3_BUCKET", raising=False)
    wanted = {"--model": "vllm/tiny", "--base-url": "http://127.0.0.1:9/v1", "--delivery": "presigned_url"}
    code, output = cli_run("extract", str(clips), "--run-id", "r", *(part for pair in wanted.items() for part in pair))
    assert code == 2
    assert "VLMREC_S3_BUCKET" in output
    with pytest.raises(InputError, match="known"):
        parse_condition("V=presigned")


def test_a_monitored_run_that_was_stopped_goes_on_and_a_call_that_was_monitored_is_not_sent_again(
    clips: Path, tmp_path: Path
) -> None:
    log = tmp_path / "store" / "halted.db"
    asked = ["--run-id", "halted", "--max-calls"]
    settings = ["--condition", "F=schema", "--monitor-rate", "1", "--in-flight", "1"]
    code, _ = cli_run("extract", str(clips / "one.mp4"), *settings, *asked, "7")
    assert code == 3
    code, said = cli_run("extract", *asked, "1000", "--resume")
    assert code == 0, said
    with open_log(log) as reader:
        requested = [event.data for event in reader.events([CallRequested.type])]
    keys = [data.call_key() for data in requested]  # type: ignore[attr-defined]
    assert len(keys) == len(set(keys))
    stages = [data.stage for data in requested]  # type: ignore[attr-defined]
    assert stages.count(Stage.MONITOR) == stages.count(Stage.PREDICATE) > 3
    assert replays(log)
