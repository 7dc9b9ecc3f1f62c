"""A file of clip ids means the same to extraction and to every projection."""

from pathlib import Path

import pytest

from vlmrec.errors import InputError
from vlmrec.report import logs
from vlmrec.stages import clips

READERS = [clips.read_clip_set, logs.read_clip_set]


@pytest.mark.parametrize("read", READERS)
def test_a_hash_begins_a_remark_only_at_the_start_or_after_a_blank(read, tmp_path: Path) -> None:  # type: ignore[no-untyped-def] # either reader
    listed = tmp_path / "set.txt"
    listed.write_text("# all of May\n  # and a line set in\nclip-1  # too dark\n\nclip#2\n", encoding="utf-8")
    assert read(listed) == {"clip-1", "clip#2"}


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("body", [b"\xff\xfe", b"", b"# nothing\n"])
def test_a_file_that_names_no_clip_is_refused_by_name(read, body: bytes, tmp_path: Path) -> None:  # type: ignore[no-untyped-def] # either reader
    listed = tmp_path / "set.txt"
    listed.write_bytes(body)
    with pytest.raises(InputError, match=r"set\.txt: "):
        read(listed)
