"""A folder for what a bench writes, gone afterwards. VLMREC_BENCH_DIR says on which disk it lies."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def workspace() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="vlmrec-bench-", dir=os.environ.get("VLMREC_BENCH_DIR")))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)
