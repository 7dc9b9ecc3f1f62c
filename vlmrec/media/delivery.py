"""Ways for a body to reach a server: inside the request, by a signed address, or as a local file.

A ``Delivery`` turns a body into the ``url`` of a content part, and names the strings in it that no
log may hold. Delivery changes how bytes travel and nothing of what a model sees: fingerprints and
logs know a body by its hash alone.
"""

import base64
import os
import tempfile
from pathlib import Path
from typing import NamedTuple, Protocol

from vlmrec.errors import InputError
from vlmrec.media.objects import ObjectStore, file_name


class Body(NamedTuple):
    """Bytes to deliver. ``source`` is a file that already holds exactly these bytes, if there is one."""

    content: bytes
    media_type: str
    sha256: str
    source: Path | None = None


class Address(NamedTuple):
    """Where a server finds a body. ``secrets`` are the parts of ``url`` that must not be kept."""

    url: str
    secrets: tuple[str, ...] = ()


class Delivery(Protocol):
    """One way to deliver bodies. ``name`` is what a log calls it."""

    name: str

    def deliver(self, body: Body) -> Address:
        """Bring ``body`` to where the server can have it."""
        ...


class DataUrls:
    """Bodies travel inside the request, in base64."""

    name = "data_url"

    def deliver(self, body: Body) -> Address:
        return Address(f"data:{body.media_type};base64,{base64.b64encode(body.content).decode('ascii')}")


class PresignedUrls:
    """Bodies lie in an object store under their hash; the server fetches them by a signed GET address."""

    name = "presigned_url"

    def __init__(self, store: ObjectStore) -> None:
        self._store = store

    def deliver(self, body: Body) -> Address:
        stored = self._store.put(body.content, media_type=body.media_type, sha256=body.sha256)
        signed = self._store.presign(stored.key)
        return Address(signed.url, signed.secrets)


class LocalFiles:
    """A server on this machine reads the file itself (vLLM: ``--allowed-local-media-path``).

    What is no file yet is written into ``folder``, named by its hash.
    """

    name = "file"

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder

    def deliver(self, body: Body) -> Address:
        return Address((body.source or self._written(body)).absolute().as_uri())

    def _written(self, body: Body) -> Path:
        if self._folder is None:
            raise InputError("frames and sub-clips can only be delivered as local files into a folder; name one")
        path = self._folder / file_name(body.sha256, body.media_type)
        if not path.exists():
            self._folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=self._folder, delete=False) as file:
                file.write(body.content)
            os.chmod(file.name, 0o644)  # noqa: PTH101 - a server under another user has to read it
            os.replace(file.name, path)  # noqa: PTH105 - whole or not at all, also when two write it at once
        return path
