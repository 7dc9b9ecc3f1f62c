"""What a command says of the labels that it was given, beside its result."""

from collections.abc import Sequence
from pathlib import Path

from vlmrec.commands._output import warn


def warn_of_labels(gold: Path | None, runs: Sequence[Path]) -> None:
    """Say once on stderr which labels nobody could check, being of a ledger that is not known here."""
    from vlmrec.report.scoring import label_warning

    warning = label_warning(gold, runs) if gold is not None else None
    if warning is not None:
        warn(warning)
