"""Base URLs: whether requests can be sent there, and what of them may be shown. Pure."""

from urllib.parse import urlsplit

from vlmrec.errors import InputError


def check_base_url(base_url: str) -> None:
    """Raise InputError unless requests can be sent to ``base_url``."""
    try:
        url = urlsplit(base_url)
        usable = url.scheme in ("http", "https") and bool(url.hostname) and url.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise InputError(f"base URL {base_url!r}: expected http:// or https://, a host, and perhaps a port and path")


def public_url(url: str) -> str:
    """``url`` without user, password, query and fragment: fit for a manifest."""
    parts = urlsplit(url)
    host = f"[{parts.hostname}]" if parts.hostname and ":" in parts.hostname else parts.hostname or ""
    port = f":{parts.port}" if parts.port is not None else ""
    return f"{parts.scheme}://{host}{port}{parts.path}"


def url_secrets(url: str) -> tuple[str, ...]:
    """The password within ``url``, where it holds one."""
    password = urlsplit(url).password
    return (password,) if password else ()
