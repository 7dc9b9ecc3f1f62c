"""How runs are called where several stand side by side."""

from collections.abc import Sequence

from vlmrec.projections.core import LogProvenance


def run_names(provenance: Sequence[LogProvenance]) -> list[str]:
    """Their ids, made distinct by place where two are the same."""
    ids = [log.run_id for log in provenance]
    return [name if ids.count(name) == 1 else f"{name} ({i + 1})" for i, name in enumerate(ids)]
