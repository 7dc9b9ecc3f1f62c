"""Bodies in an S3-compatible object store (AWS, Cloudflare R2, MinIO), under their hash.

A body is uploaded once: one that is there under its hash is not sent again. Access is by signed GET
addresses; the signature and key id in them are handed back apart, so that no log ever holds them.
boto3 is loaded when a store is first used.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

from vlmrec.errors import InputError, ServiceError, VlmrecError

SIX_HOURS = 6 * 3600
SEVEN_DAYS = 7 * 24 * 3600
EXTENSIONS = {"video/mp4": "mp4", "video/webm": "webm", "image/jpeg": "jpg"}
SECRET_PARAMETERS = frozenset(
    {"x-amz-signature", "x-amz-credential", "x-amz-security-token", "signature", "awsaccesskeyid"}
)


class StoreSettings(NamedTuple):
    """Where the bucket is. Keys that are None are looked up as boto3 does (environment, profile, role)."""

    bucket: str
    endpoint_url: str | None = None
    prefix: str = "media/"
    region: str = "auto"
    access_key: str | None = None
    secret_key: str | None = None
    expires_s: int = SIX_HOURS

    @classmethod
    def of(cls, *, expires: int, **fields: Any) -> "StoreSettings":
        """Settings from the options of a command."""
        return cls(expires_s=expires, **fields)

    def __repr__(self) -> str:
        return f"StoreSettings({self.endpoint_url or 'AWS'}, bucket={self.bucket!r}, prefix={self.prefix!r})"


class Stored(NamedTuple):
    """Where a body lies, and whether it had to be sent."""

    key: str
    uploaded: bool


class SignedUrl(NamedTuple):
    """An address that anybody may use until it expires. ``secrets`` are the strings in it that make it so."""

    url: str
    secrets: tuple[str, ...]

    def __repr__(self) -> str:
        return f"SignedUrl({self.url.partition('?')[0]}?…)"


class ObjectStore:
    """One bucket. Safe to share between threads, as boto3 clients are."""

    def __init__(self, settings: StoreSettings) -> None:
        if not 1 <= settings.expires_s <= SEVEN_DAYS:
            raise InputError(f"a signed address can last 1 s to 7 days ({SEVEN_DAYS} s), not {settings.expires_s} s")
        self.settings = settings
        self._secrets: tuple[str, ...] = ()

    def put(self, content: bytes, *, media_type: str, sha256: str) -> Stored:
        """Store ``content`` under its hash, unless it is there."""
        key = self.key_of(sha256, media_type)
        if self._length(key) == len(content):
            return Stored(key, uploaded=False)
        with self._said_plainly(f"storing {key}"):
            self._client.put_object(Bucket=self.settings.bucket, Key=key, Body=content, ContentType=media_type)
        return Stored(key, uploaded=True)

    def presign(self, key: str) -> SignedUrl:
        """A GET address for ``key``. Nothing is sent: that the key exists isn't checked."""
        with self._said_plainly(f"signing an address of {key}"):
            url: str = self._client.generate_presigned_url(
                "get_object",
                Params={"Bucket": self.settings.bucket, "Key": key},
                ExpiresIn=self.settings.expires_s,
            )
        return SignedUrl(url, url_secrets(url))

    def key_of(self, sha256: str, media_type: str) -> str:
        """The key under which a body with this hash lies."""
        return f"{self.settings.prefix}{file_name(sha256, media_type)}"

    def _length(self, key: str) -> int | None:
        from botocore.exceptions import ClientError

        with self._said_plainly(f"looking for {key}"):
            try:
                return int(self._client.head_object(Bucket=self.settings.bucket, Key=key)["ContentLength"])
            except ClientError as error:
                if error.response["Error"]["Code"] in ("404", "NoSuchKey", "NotFound"):
                    return None
                raise

    @cached_property
    def _client(self) -> Any:
        import boto3
        from botocore.config import Config

        settings = self.settings
        with self._said_plainly("connecting"):
            session = boto3.Session(aws_access_key_id=settings.access_key, aws_secret_access_key=settings.secret_key)
            held = session.get_credentials()
            if held is None:
                raise InputError(
                    "no key for the object store: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or name a profile"
                )
            self._secrets = tuple(filter(None, (held.secret_key, held.access_key, held.token)))
            return session.client(
                "s3",
                endpoint_url=settings.endpoint_url,
                region_name=settings.region,
                config=Config(
                    signature_version="s3v4",
                    s3={"addressing_style": "path"},
                    connect_timeout=10,
                    read_timeout=60,
                    retries={"mode": "standard", "total_max_attempts": 4},
                    # the newer default sends checksums that several compatible stores refuse
                    request_checksum_calculation="when_required",
                    response_checksum_validation="when_required",
                ),
            )

    @contextmanager
    def _said_plainly(self, doing: str) -> Iterator[None]:
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            yield
        except ClientError as error:
            code = str(error.response["Error"].get("Code", "unknown"))
            raise self._error(doing, f"{code}: {error.response['Error'].get('Message', '')}", code) from None
        except (BotoCoreError, ValueError) as error:
            transient = "Connect" in type(error).__name__ or "Timeout" in type(error).__name__
            raise self._error(doing, str(error), None if transient else type(error).__name__) from None

    def _error(self, doing: str, said: str, code: str | None) -> VlmrecError:
        """``from None`` above, and secrets taken out here: stores echo keys and signatures in what they say."""
        for secret in (*self._secrets, *url_secrets(said)):
            said = said.replace(secret, "…")
        place = f"the object store ({self.settings.endpoint_url or 'AWS'}, bucket {self.settings.bucket})"
        if code is None or code.startswith("5") or code in ("SlowDown", "InternalError", "ServiceUnavailable"):
            return ServiceError(f"{place} failed while {doing}: {said}; try again later")
        return InputError(f"{place} refused while {doing}: {said}; check endpoint, bucket and keys")


def url_secrets(url: str) -> tuple[str, ...]:
    """The values in a signed address that give access or name a key: signature, credential, session token."""
    found: list[str] = []
    for name, value in parse_qsl(urlsplit(url).query):
        if name.lower() in SECRET_PARAMETERS and value:
            found += [value, value.partition("/")[0]] if name.lower() == "x-amz-credential" else [value]
    return tuple(dict.fromkeys(found))


def file_name(sha256: str, media_type: str) -> str:
    """The name of a body that is kept under its hash."""
    return f"{sha256}.{EXTENSIONS.get(media_type, 'bin')}"
