"""Stored runs as parents of others, and embedded engines as targets: what re-scoring and top-up both begin with."""

from vlmrec.engine.core import evaluate
from vlmrec.engine.reference import load_reference
from vlmrec.errors import InputError
from vlmrec.events import EngineDescribed, RunStarted
from vlmrec.ledger import decode_ledger, meta_bytes, questions_bytes
from vlmrec.log.reader import LogReader
from vlmrec.protocol import EvaluateRequest
from vlmrec.stages.rescore import Parent, Target
from vlmrec.stages.submission import EngineReply


def read_parent(reader: LogReader) -> Parent:
    """The run behind a log. Raises InputError when it isn't the log of a run, or not as it was written."""
    reader.check_chain()  # what answers are taken over from is named by its head, and must be what that head binds
    started = next((event.data for event in reader.events([RunStarted.type])), None)
    described = next((event.data for event in reader.events([EngineDescribed.type])), None)
    head = reader.head()
    if not isinstance(started, RunStarted) or not isinstance(described, EngineDescribed) or head is None:
        raise InputError(f"{reader.path}: this is not the log of a run, so there are no answers to score again")
    ledger = decode_ledger(reader.blob(described.meta.sha256), reader.blob(described.questions.sha256))
    return Parent(reader.info.uuid, head, started.manifest, ledger)


def embedded_target(version: str) -> Target:
    """An embedded engine, called as a function."""
    reference = load_reference(version)

    def ask(request: EvaluateRequest) -> EngineReply:
        return EngineReply(None, evaluate(reference, request), None)

    ledger = reference.ledger
    return Target(f"embedded:{version}", ledger, meta_bytes(ledger), questions_bytes(ledger), ask)
