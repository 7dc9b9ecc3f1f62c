"""A stored run in the place of a model: ``--model replay:RUN``.

Answers by fingerprint and sample, with the bytes and headers as they were received; nothing is sent
and nothing is paid. A request that the run never made is a failure that stops the replaying run and
shows the closest request that was made, and where the two first differ.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path

import msgspec

from vlmrec.errors import InputError
from vlmrec.events import CallCompleted, CallRequested, Manifest, RunStarted, Sample
from vlmrec.log.reader import LogReader, open_checked
from vlmrec.models.difference import first_difference, likeness
from vlmrec.models.failure_table import FAILURES
from vlmrec.models.failures import shown
from vlmrec.models.wire import Attempt, Completed, Failed, FailureKind, PreparedRequest
from vlmrec.terms import JsonValue

CANDIDATES = 200
"""How many stored requests a miss is held against; the likeliest by their key come first."""


class ReplayModel:
    """The orchestrator's model over a stored run."""

    def __init__(self, reader: LogReader) -> None:
        self._reader = reader
        self._replies: dict[tuple[str, Sample], CallCompleted] = {}
        self._requests: list[tuple[str, CallRequested]] = []
        open_calls: dict[tuple[object, ...], CallRequested] = {}
        for event in reader.events(["call.requested", "call.completed"]):
            data = event.data
            if isinstance(data, CallRequested):
                open_calls[(event.clip, *data.call_key())] = data
                self._requests.append((f"{event.clip}/{'/'.join(map(str, data.call_key()))}", data))
            elif isinstance(data, CallCompleted):
                asked = open_calls[(event.clip, *data.call_key())]
                self._replies.setdefault((asked.fingerprint, data.sample), data)
        if not self._replies:
            raise InputError(f"{reader.path}: the run holds no completed call, so there is nothing to replay")

    @property
    def manifest(self) -> Manifest:
        """What the replayed run was made with."""
        started = next((event.data for event in self._reader.events(["run.started"])), None)
        if not isinstance(started, RunStarted):
            raise InputError(f"{self._reader.path}: this is not the log of a run")
        return started.manifest

    @property
    def endpoint(self) -> str:
        """The replayed run, by its log's own id."""
        return f"replay:{self._reader.info.uuid}"

    async def send(self, request: PreparedRequest, *, clip: str) -> Attempt:
        """The stored reply, or a failure that names the closest request."""
        stored = self._replies.get((request.fingerprint or "", request.sample))
        if stored is None:
            return self._miss(request, clip)
        return Completed(
            status=stored.status,
            headers=stored.headers,
            body=self._reader.blob(stored.body.sha256),
            latency_s=stored.latency_s,
            usage=stored.usage,
            cost=Decimal(0),
            served_model=stored.served_model,
            finish_reasons=stored.finish_reasons,
            choices=len(stored.finish_reasons),
        )

    def _miss(self, request: PreparedRequest, clip: str) -> Failed:
        failure = FAILURES["replay_miss"]
        key = "/".join(request.request_id.split("/")[1:-1])
        return Failed(
            kind=FailureKind.CONNECT,
            reason=failure.reason,
            message=shown(f"{self._reader.path.stem} holds no reply to {key}: {self._closest(request, key, clip)}"),
            retry=failure.retry,
            latency_s=0.0,
            stop_run=True,
            hint=failure.hint,
        )

    def _closest(self, request: PreparedRequest, key: str, clip: str) -> str:
        if any(asked.fingerprint == request.fingerprint for _, asked in self._requests):
            return f"the request was made, but sample {request.sample} of it never came back"
        now: JsonValue = msgspec.json.decode(request.loggable) if request.loggable else None
        ranked = sorted(self._requests, key=lambda each: _rank(each[0], key, clip))[:CANDIDATES]
        stored = [(name, msgspec.json.decode(self._reader.blob(asked.request.sha256))) for name, asked in ranked]
        name, closest = next(
            (each for each in stored if each[0] == key), None
        ) or max(stored, key=lambda each: likeness(each[1], now))  # fmt: skip
        return f"closest is {name}, which differs at {first_difference(closest, now)}"


@contextmanager
def open_replay(path: Path) -> Iterator[ReplayModel]:
    """The run at ``path`` as a model. Raises InputError where it holds no completed call."""
    with open_checked(path) as reader:
        yield ReplayModel(reader)


def _rank(name: str, key: str, clip: str) -> tuple[bool, bool, bool, str]:
    """Sorts the same key first, then the same question on another clip, then the same clip."""
    stored, wanted = name.rsplit("/", 4), key.rsplit("/", 4)
    return name != key, stored[1:] != wanted[1:], stored[0] != clip, name
