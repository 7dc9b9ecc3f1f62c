"""Shared fixtures: where the shared data is, hypothesis profiles, and a home for temporary stores."""

import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # so started by a shell in the background, as some CI does
    signal.signal(signal.SIGINT, signal.default_int_handler)  # programs under test inherit it, and are interrupted

ROOT = Path(__file__).resolve().parent.parent

settings.register_profile("dev", max_examples=25, deadline=None)
settings.register_profile(
    "ci", max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("deep", max_examples=1500, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real clips and replies that lies beside the repository; a test that asks for it skips without it."""
    folder = Path(os.environ.get("VLMREC_SHARED", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip("the shared data folder is not beside this repository")
    return folder


@pytest.fixture(autouse=True)
def private_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test has a store of its own, so that none can touch a user's."""
    store = tmp_path / "store"
    monkeypatch.setenv("VLMREC_STORE", str(store))
    return store
