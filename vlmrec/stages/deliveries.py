"""How a run's media reach the model's server: by what is asked for and what the environment says of the store."""

from collections.abc import Mapping
from pathlib import Path

from vlmrec.errors import InputError
from vlmrec.media.delivery import DataUrls, Delivery, LocalFiles, PresignedUrls
from vlmrec.media.objects import ObjectStore, StoreSettings
from vlmrec.models.presets import Provider

DATA_URL, PRESIGNED, FILE = "data_url", "presigned_url", "file"
WAYS = (DATA_URL, PRESIGNED, FILE)


def check_delivery(text: str, provider: Provider, *, name: str) -> str:
    """``text`` itself. Raises InputError for a way that is unknown, or that the provider's server can't take."""
    way, _, folder = text.partition(":")
    if way not in WAYS or (folder and way != FILE):
        raise InputError(f"--delivery {text!r}: expected data_url, presigned_url, file or file:FOLDER")
    if way == PRESIGNED and provider.in_process:
        raise InputError(f"{name} runs in this process and fetches nothing; use --delivery data_url")
    if way == FILE and (provider.in_process or FILE not in provider.deliveries):
        raise InputError(
            f"{name} is not known to read files of this machine; use --delivery data_url, or add `file` to "
            "its deliveries in vlmrec.toml"
        )
    return text


def open_delivery(text: str, environ: Mapping[str, str]) -> Delivery:
    """The delivery that ``text`` names: ``data_url``, ``presigned_url`` (store by VLMREC_S3_*), ``file[:FOLDER]``."""
    way, _, folder = text.partition(":")
    if way == PRESIGNED:
        return PresignedUrls(ObjectStore(store_settings(environ)))
    return LocalFiles(Path(folder) if folder else None) if way == FILE else DataUrls()


def store_settings(environ: Mapping[str, str]) -> StoreSettings:
    """The object store by VLMREC_S3_BUCKET, _ENDPOINT, _REGION and _PREFIX. Raises InputError without a bucket."""
    bucket = environ.get("VLMREC_S3_BUCKET")
    if not bucket:
        raise InputError(
            "--delivery presigned_url needs an object store: set VLMREC_S3_BUCKET (and VLMREC_S3_ENDPOINT unless it is "
            "AWS), with keys where boto3 looks for them (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY)"
        )
    defaults = StoreSettings(bucket)
    return StoreSettings(
        bucket,
        endpoint_url=environ.get("VLMREC_S3_ENDPOINT") or None,
        region=environ.get("VLMREC_S3_REGION") or defaults.region,
        prefix=environ.get("VLMREC_S3_PREFIX", defaults.prefix),
    )
