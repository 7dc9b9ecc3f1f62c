"""Makes the page: one HTML file with its script, style and data inside. Pure but for reading its own assets.

The content security policy names the script and the style by hash and forbids everything else, so that
even markup that slipped through could not run. Data is compressed and in base64, a piece a clip.
"""

import base64
import gzip
import hashlib
import html
import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec

from vlmrec.question import Language


def static_page(
    index: Mapping[str, Any],
    clips: Iterable[Mapping[str, Any]],
    messages: Iterable[Mapping[str, Any]] | None,
    *,
    language: Language,
    videos: Mapping[int, bytes] | None = None,
) -> bytes:
    """A page that stands alone. ``clips`` and ``messages`` are in the index's order; ``videos`` by place in it."""
    pieces = [_piece("index", _packed(index))]
    pieces.extend(_piece(f"clip-{at}", _packed(document)) for at, document in enumerate(clips))
    if messages is not None:
        pieces.extend(_piece(f"messages-{at}", _packed(document)) for at, document in enumerate(messages))
    for at, body in (videos or {}).items():
        pieces.append(_piece(f"video-{at}", base64.b64encode(body).decode()))
    return _page(str(index["title"]), "\n".join(pieces), language, policy=policy(served=False)).encode()


def served_page(title: str, *, language: Language) -> bytes:
    """The page of the local server; its data comes from there."""
    return _page(title, '<template id="served"></template>', language, policy=policy(served=True)).encode()


@cache
def policy(*, served: bool) -> str:
    """The content security policy."""
    connect = "'self'" if served else "'none'"
    media = "'self' blob:" if served else "'self' file: blob:"
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src {_hash(script())}",
            f"style-src {_hash(_asset('style.css'))}",
            "img-src data:",
            f"media-src {media}",
            f"connect-src {connect}",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )


@cache
def script() -> str:
    """Every script in one, in a scope of its own."""
    names = sorted(
        entry.name for entry in files(__package__).joinpath("assets").iterdir() if entry.name.endswith(".js")
    )
    body = "\n".join(_asset(name) for name in names)
    return f'"use strict";\n(() => {{\n{body}\n}})();\n'


def _page(title: str, data: str, language: Language, *, policy: str) -> str:
    values = {
        "language": language,
        "policy": html.escape(policy),
        "title": html.escape(title),
        "style": _asset("style.css"),
        "script": script(),
        "data": data,
    }
    return re.sub(r"\{\{ (\w+) \}\}", lambda found: values[found[1]], _asset("page.html"))


@cache
def _asset(name: str) -> str:
    return files(__package__).joinpath("assets", name).read_text("utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _piece(name: str, body: str) -> str:
    return f'<script type="text/plain" id="{name}">{body}</script>'


def _packed(document: Mapping[str, Any]) -> str:
    return base64.b64encode(gzip.compress(msgspec.json.encode(document), 6, mtime=0)).decode()
