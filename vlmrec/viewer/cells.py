"""Text of strangers as HTML: escaped, folded when long, nothing invisible in it. Pure."""

import msgspec
from markupsafe import Markup

from vlmrec.spelling import spelled

FOLD_AT = 240
SHOWN_AT_MOST = 50_000
"""Longer texts are cut in a cell; the blob or the row holds them whole."""


def long_text(text: str) -> Markup:
    """A text of any length, as HTML."""
    if len(text) <= FOLD_AT and "\n" not in text:
        return Markup("{}").format(spelled(text))
    shown = spelled(text[:SHOWN_AT_MOST])
    rest = f"\n… {len(text) - SHOWN_AT_MOST:,} more characters" if len(text) > SHOWN_AT_MOST else ""
    head = spelled(text[:FOLD_AT].replace("\n", " "))
    return Markup('<details><summary>{}…</summary><pre style="white-space: pre-wrap">{}{}</pre></details>').format(
        head, shown, rest
    )


def pretty(text: str) -> str:
    """JSON with line breaks; anything else as it is."""
    try:
        return msgspec.json.format(text, indent=2) if text[:1] in "{[" and len(text) > FOLD_AT else text
    except msgspec.DecodeError:
        return text
