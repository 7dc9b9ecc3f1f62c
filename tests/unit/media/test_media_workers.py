"""The helper processes: what a damaged file does to one of them stays there."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from media_factory import write_clip

from vlmrec.errors import MediaError
from vlmrec.media.facts import Probe
from vlmrec.media.probe import probe, probe_async
from vlmrec.media.workers import WorkerPool

STUB = """
import os, sys, time
from vlmrec.media._wire import HEADER, Kind, read_message, write_message
out = os.fdopen(os.dup(1), "wb")
while read_message(sys.stdin.buffer):
    {does}
"""


def stub(does: str) -> list[str]:
    """A worker that does something that the real one never should."""
    return [sys.executable, "-c", STUB.format(does=does)]


@pytest.fixture
def clip(tmp_path: Path) -> Path:
    return write_clip(tmp_path / "clip.mp4", pts=(0, 1))


def worker_pid(pool: WorkerPool) -> int:
    (worker,) = pool._idle
    return worker._process.pid


def test_a_worker_is_used_again(clip: Path) -> None:
    with WorkerPool(1) as pool:
        assert probe(clip, pool=pool) == probe(clip, pool=pool)
        first = worker_pid(pool)
        probe(clip, pool=pool)
        assert worker_pid(pool) == first


@pytest.mark.parametrize(
    ("does", "fault"),
    [
        ("time.sleep(60)", r"clip\.mp4: the decoder made no progress for 1 s"),
        ("os.abort()", r"clip\.mp4: crashed the decoder \(SIGABRT\)"),
        ("os.kill(os.getpid(), 11)", r"clip\.mp4: crashed the decoder \(SIGSEGV\)"),
        ("sys.exit('out of order')", r"ended unexpectedly \(exit code 1\): out of order"),
        ("out.write(b'x' * 100); out.flush()", "was damaged by this file"),
        ("out.write(HEADER.pack(Kind.ITEM, 1 << 40)); out.flush()", "was damaged by this file"),
        ("out.write(HEADER.pack(Kind.ITEM, 10) + b'abc'); out.flush(); sys.exit()", "ended unexpectedly"),
        ("[write_message(out, Kind.ITEM, bytes(1 << 20)) for _ in range(4)]", "more than 2 MiB of pictures"),
        ("write_message(out, Kind.FAULT, 'is odd'.encode())", r"clip\.mp4: is odd"),
    ],
)
def test_a_worker_that_fails_is_a_fault_of_the_file_and_replaced(clip: Path, does: str, fault: str) -> None:
    with WorkerPool(1, stall_s=1, reply_limit=2 << 20, command=stub(does)) as pool:
        for _ in range(2):
            with pytest.raises(MediaError, match=fault):
                probe(clip, pool=pool)


def test_a_worker_that_goes_on_for_ever_is_given_up(clip: Path) -> None:
    endless = stub("[(write_message(out, Kind.PROGRESS), time.sleep(0.01)) for _ in range(10**6)]")
    with (
        WorkerPool(1, stall_s=5, total_s=0.6, command=endless) as pool,
        pytest.raises(MediaError, match=r"was not done within 0\.6 s"),
    ):
        probe(clip, pool=pool)


def test_a_bug_of_ours_is_no_fault_of_the_file(clip: Path) -> None:
    with WorkerPool(1) as pool, pytest.raises(RuntimeError, match=r"clip\.mp4:\nTraceback"):
        pool.call("no such operation", clip, {}, Probe)


def test_a_worker_that_died_while_idle_is_replaced(clip: Path) -> None:
    with WorkerPool(1) as pool:
        found = probe(clip, pool=pool)
        os.kill(worker_pid(pool), signal.SIGKILL)
        assert probe(clip, pool=pool) == found


def test_a_stopped_process_does_not_stop_the_caller(clip: Path) -> None:
    with WorkerPool(1, stall_s=0.5) as pool:
        found = probe(clip, pool=pool)
        stopped = worker_pid(pool)
        os.kill(stopped, signal.SIGSTOP)
        with pytest.raises(MediaError, match="made no progress"):
            probe(clip, pool=pool)
        with pytest.raises(ProcessLookupError):
            os.kill(stopped, 0)
        assert probe(clip, pool=pool) == found


def test_many_threads_share_few_workers(clip: Path) -> None:
    with WorkerPool(2) as pool:
        with ThreadPoolExecutor(12) as threads:
            found = list(threads.map(lambda _: probe(clip, pool=pool), range(40)))
        assert len(pool._idle) <= 2
        assert all(facts == found[0] for facts in found)


async def test_the_event_loop_turns_while_a_file_is_decoded(clip: Path) -> None:
    with WorkerPool(2, command=stub("time.sleep(0.3); write_message(out, Kind.FAULT, b'')")) as pool:
        turns = 0

        async def count() -> None:
            nonlocal turns
            while True:
                await asyncio.sleep(0.01)
                turns += 1

        counting = asyncio.create_task(count())
        with pytest.raises(MediaError):
            await probe_async(clip, pool=pool)
        counting.cancel()
        assert turns > 10


def test_ctrl_c_is_for_the_caller_and_not_for_the_worker(clip: Path) -> None:
    with WorkerPool(1) as pool:
        probe(clip, pool=pool)
        worker = worker_pid(pool)
        os.kill(worker, signal.SIGINT)
        time.sleep(0.05)
        probe(clip, pool=pool)
        assert worker_pid(pool) == worker


def test_an_interrupt_while_waiting_ends_the_worker(clip: Path) -> None:
    with WorkerPool(1, command=stub("time.sleep(60)")) as pool:
        main = threading.main_thread().ident
        assert main is not None
        threading.Timer(0.3, lambda: signal.pthread_kill(main, signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            probe(clip, pool=pool)
        assert pool._idle == []


OWNER = """
import sys, time
from pathlib import Path
from vlmrec.media.probe import probe, shared_pool
probe(Path(sys.argv[1]))
print(shared_pool()._idle[0]._process.pid, flush=True)
time.sleep(60)
"""


def test_workers_end_when_their_owner_is_killed(clip: Path) -> None:
    owner = subprocess.Popen([sys.executable, "-c", OWNER, str(clip)], stdout=subprocess.PIPE)
    assert owner.stdout is not None
    worker = int(owner.stdout.readline())
    owner.kill()
    owner.wait()
    owner.stdout.close()
    until = time.monotonic() + 5
    while time.monotonic() < until and Path(f"/proc/{worker}/exe").exists():
        time.sleep(0.02)
    assert not Path(f"/proc/{worker}/exe").exists()


def test_a_file_in_the_working_folder_can_not_stand_in_for_a_module(
    clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("av", "msgspec", "hashlib", "vlmrec"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('loaded from the working folder')")
    monkeypatch.chdir(tmp_path)
    with WorkerPool(1) as pool:
        assert probe(Path("clip.mp4"), pool=pool).frames == 2
