"""What to do after a failed attempt: send again and when, give the key up, or stop the run. Pure.

Randomness comes in as a number, so that the same failures give the same waits in a test. Crashes
are not counted against a key; the caller leaves them out of the counts.
"""

from typing import Literal

from msgspec import Struct

from vlmrec.models.wire import Failed, FailureKind, Retry


class RetryPolicy(Struct, frozen=True, kw_only=True):
    """How often and how long to wait. ``retry_after_cap_s``: a longer wait asked for by the server is not sat out."""

    max_failures: int = 8
    max_gateway_timeouts: int = 3
    base_s: float = 0.5
    max_delay_s: float = 60.0
    retry_after_cap_s: float = 600.0


class NextStep(Struct, frozen=True, kw_only=True):
    """``again`` after ``delay_s``; ``give_up``: this failure is final for its key; ``stop``: it isn't, but the run ends."""

    action: Literal["again", "give_up", "stop"]
    delay_s: float = 0.0
    why: str = ""

    @property
    def final(self) -> bool:
        return self.action == "give_up"


def next_step(
    failure: Failed,
    *,
    failures: int,
    same_reason: int,
    jitter: float,
    policy: RetryPolicy | None = None,
) -> NextStep:
    """What follows ``failure``, the ``failures``-th of its key and the ``same_reason``-th with its reason.

    ``jitter`` is a random number in [0, 1). A wait that the server names is never shortened.
    """
    policy = policy or RetryPolicy()
    if failure.stop_run:
        return NextStep(action="stop", why=f"{failure.reason}: every other call would fail in the same way")
    if failure.kind is FailureKind.CANCELLED:
        return NextStep(action="stop", why="the run was interrupted")
    if failure.retry in (Retry.NO, Retry.CHANGED_REQUEST):
        return NextStep(action="give_up", why=f"{failure.reason}: the same request would fail again")
    if failures >= policy.max_failures or (
        failure.reason == "gateway_timeout" and same_reason >= policy.max_gateway_timeouts
    ):
        if failure.kind is FailureKind.CONNECT:
            return NextStep(action="stop", why=f"no connection after {failures} attempts")
        return NextStep(action="give_up", why=f"{failure.reason}: {failures} attempts failed")
    backoff = min(policy.max_delay_s, policy.base_s * 2.0 ** min(failures - 1, 30)) * (0.5 + 0.5 * jitter)
    asked = failure.retry_after_s
    if failure.retry is not Retry.AFTER_SECONDS or asked is None:
        return NextStep(action="again", delay_s=backoff)
    if asked > policy.retry_after_cap_s:
        why = f"the server asks for a wait of {asked:g} s, beyond the cap of {policy.retry_after_cap_s:g} s"
        return NextStep(action="give_up", why=why)
    # A little beyond what was asked, so that calls held back together don't come back together.
    return NextStep(action="again", delay_s=asked + min(backoff, 1.0) * jitter)
