"""Generated JSON Schemas of every event and data contract, and the validation rules, as package data."""

from importlib.resources import files


def load(name: str) -> bytes:
    """The bytes of one schema or rule file, such as ``call.completed.v1.json``. Raises FileNotFoundError."""
    return files(__name__).joinpath(name).read_bytes()
