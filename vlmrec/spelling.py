"""Text of strangers made harmless to look at: nothing invisible, nothing that drives a terminal or reorders a line. Pure."""

import unicodedata

_HIDDEN = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")


def spelled(text: str) -> str:
    """``text`` with control, format, bidirectional, private and surrogate characters as escapes; newlines and tabs stay."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_spelled(char) for char in text)


def _spelled(char: str) -> str:
    if char in "\n\t" or unicodedata.category(char) not in _HIDDEN:
        return char
    code = ord(char)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
