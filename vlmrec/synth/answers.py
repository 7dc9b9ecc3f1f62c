"""Gold answers: the scenario's facts, put as answers to the questions of a ledger. Pure."""

from vlmrec.gold import GoldAnswer
from vlmrec.synth.camera import CameraPath
from vlmrec.synth.look import Look
from vlmrec.synth.plot import Plot


def gold_answers(
    plot: Plot, look: Look, path: CameraPath, aspect: float, *, engine: str
) -> tuple[tuple[GoldAnswer, ...], str]:
    """The answers of a clip to the ledger of ``engine``, with that ledger's ``data_version``."""
    return (), engine
