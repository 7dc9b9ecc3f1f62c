"""Reads the engine's data files: YAML into Structs, strictly, with errors that name the file."""

from typing import Any, TypeVar

import msgspec
import yaml

from vlmrec.errors import InputError

T = TypeVar("T")
_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_data(text: bytes, kind: type[T], name: str) -> T:
    """The file's content as ``kind``. Raises InputError: not YAML, a key twice, or not of that shape."""
    try:
        return msgspec.convert(yaml.load(text, _Strict), kind)
    except (yaml.YAMLError, msgspec.MsgspecError) as error:
        raise InputError(f"{name} can't be used: {error}") from error


class _Strict(_Base):  # type: ignore[misc]  # the C loader has no type
    """A safe loader that refuses a key given twice; YAML's own way is to drop the first in silence."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key_node, _ in node.value:
            if key_node.value in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key_node.value!r} is given twice", key_node.start_mark
                )
            seen.add(key_node.value)
        made: dict[Any, Any] = super().construct_mapping(node, deep)
        return made
