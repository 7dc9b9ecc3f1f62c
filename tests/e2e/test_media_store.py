"""Delivery through a real S3 server on loopback: uploads under their hash, signed addresses, plain refusals."""

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import httpx
import pytest
from media_factory import write_clip
from moto.server import ThreadedMotoServer

from vlmrec.canonical import canonical_json, sha256_hex
from vlmrec.errors import InputError, ServiceError
from vlmrec.media.delivery import LocalFiles, PresignedUrls
from vlmrec.media.objects import ObjectStore, StoreSettings
from vlmrec.media.prepare import MediaSpec, prepare
from vlmrec.media.probe import probe

ACCESS, SECRET = "AKIDEXAMPLE1234567", "wJalrXUtnFEMIexampleSECRETkey"


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def settings(endpoint: str) -> StoreSettings:
    settings = StoreSettings(
        bucket="clips", endpoint_url=endpoint, region="us-east-1", access_key=ACCESS, secret_key=SECRET
    )
    client = boto3.client(
        "s3",
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id=ACCESS,
        aws_secret_access_key=SECRET,
    )
    client.create_bucket(Bucket="clips")
    for held in client.list_objects_v2(Bucket="clips").get("Contents", []):
        client.delete_object(Bucket="clips", Key=held["Key"])
    return settings


def test_a_body_is_sent_once_and_fetched_by_its_signed_address(settings: StoreSettings) -> None:
    body = b"bytes of a clip" * 1000
    store = ObjectStore(settings)
    first, second = (store.put(body, media_type="video/mp4", sha256=sha256_hex(body)) for _ in range(2))
    assert (first.key, first.uploaded) == (f"media/{sha256_hex(body)}.mp4", True)
    assert (second.key, second.uploaded) == (first.key, False)
    signed = store.presign(first.key)
    reply = httpx.get(signed.url)
    assert (reply.status_code, reply.content, reply.headers["content-type"]) == (200, body, "video/mp4")


def test_an_upload_that_was_cut_short_is_sent_again(settings: StoreSettings) -> None:
    body = b"bytes of a clip" * 10
    store = ObjectStore(settings)
    key = store.key_of(sha256_hex(body), "video/mp4")
    store._client.put_object(Bucket="clips", Key=key, Body=body[:20])
    assert store.put(body, media_type="video/mp4", sha256=sha256_hex(body)).uploaded
    assert httpx.get(store.presign(key).url).content == body


@pytest.mark.parametrize("spec", [MediaSpec(), MediaSpec(sampling="frames-2"), MediaSpec(window=("0.5", "1"))])
def test_signatures_are_in_the_request_and_nowhere_else(
    settings: StoreSettings, tmp_path: Path, spec: MediaSpec
) -> None:
    clip = write_clip(tmp_path / "a.mp4")
    made = prepare(clip, probe(clip), spec, delivery=PresignedUrls(ObjectStore(settings)))
    urls = [part[part["type"]]["url"] for part in made.parts if part["type"] != "text"]
    assert [sha256_hex(httpx.get(url).content) for url in urls] == [ref.sha256 for ref in made.media]
    held = canonical_json({"parts": made.loggable, "plan": made.plan, "media": made.media}).decode()
    assert made.delivery == "presigned_url"
    assert ACCESS in made.secrets
    for secret in (*made.secrets, ACCESS, SECRET, "X-Amz-"):
        assert secret not in held
        assert secret not in repr(made)
    for url in urls:
        for secret in made.secrets:
            url = url.replace(secret.replace("/", "%2F"), "")
        assert "X-Amz-Signature=&" in f"{url}&"


def test_the_same_clip_has_the_same_loggable_parts_however_it_is_delivered(
    settings: StoreSettings, tmp_path: Path
) -> None:
    clip = write_clip(tmp_path / "a.mp4")
    found = probe(clip)
    ways: list[Any] = [None, PresignedUrls(ObjectStore(settings)), LocalFiles(tmp_path / "out")]
    for spec in (MediaSpec(), MediaSpec(sampling="frames-4")):
        made = [prepare(clip, found, spec, delivery=way) for way in ways]
        assert made[0].loggable == made[1].loggable == made[2].loggable


def test_a_local_file_is_named_by_its_path_or_its_hash(tmp_path: Path) -> None:
    clip = write_clip(tmp_path / "영상 1.mp4")
    found = probe(clip)
    whole = prepare(clip, found, MediaSpec(), delivery=LocalFiles())
    assert whole.parts[0]["video_url"]["url"] == clip.as_uri()
    with pytest.raises(InputError, match="name one"):
        prepare(clip, found, MediaSpec(sampling="frames-1"), delivery=LocalFiles())
    out = tmp_path / "out"
    frames = prepare(clip, found, MediaSpec(sampling="frames-2"), delivery=LocalFiles(out))
    assert sorted(path.name for path in out.iterdir()) == sorted(f"{ref.sha256}.jpg" for ref in frames.media)
    assert [sha256_hex(path.read_bytes()) for path in out.iterdir()] == [path.stem for path in out.iterdir()]


def test_a_bucket_that_is_not_there_is_said_plainly(settings: StoreSettings) -> None:
    with pytest.raises(InputError, match="bucket absent") as refused:
        ObjectStore(settings._replace(bucket="absent")).put(b"x", media_type="video/mp4", sha256=sha256_hex(b"x"))
    assert SECRET not in str(refused.value)


def test_a_store_that_does_not_answer_is_a_service_error() -> None:
    settings = StoreSettings(bucket="clips", endpoint_url="http://127.0.0.1:9", access_key=ACCESS, secret_key=SECRET)
    with pytest.raises(ServiceError, match="try again later") as failed:
        ObjectStore(settings).put(b"x", media_type="video/mp4", sha256=sha256_hex(b"x"))
    assert ACCESS not in str(failed.value)


def test_settings_and_addresses_hide_what_is_secret(settings: StoreSettings) -> None:
    signed = ObjectStore(settings).presign("media/a.mp4")
    for shown in (repr(settings), repr(signed), str(settings), str(signed)):
        assert SECRET not in shown
        assert ACCESS not in shown
        assert "Signature" not in shown


def test_an_address_can_not_outlive_a_week() -> None:
    with pytest.raises(InputError, match="7 days"):
        ObjectStore(StoreSettings(bucket="clips", expires_s=8 * 24 * 3600))
