"""Which clips a run is over: two files of one id are refused, saying what tells them apart."""

import unicodedata
from pathlib import Path

import pytest

from vlmrec.errors import InputError
from vlmrec.stages.clips import find_clips


def test_two_files_of_one_name_in_two_unicode_forms_are_refused_saying_so(tmp_path: Path) -> None:
    for form in ("NFC", "NFD"):
        (tmp_path / unicodedata.normalize(form, "사고.mp4")).touch()
    if len(list(tmp_path.iterdir())) == 1:
        pytest.skip("this file system keeps one form of a name")
    with pytest.raises(InputError, match=r"clip id '사고': .* differ only in Unicode normal form"):
        find_clips([tmp_path])


def test_two_files_of_one_stem_are_refused_without_a_word_of_unicode(tmp_path: Path) -> None:
    for name in ("a.mp4", "a.mkv"):
        (tmp_path / name).touch()
    with pytest.raises(InputError, match=r"a\.mkv and .*a\.mp4; rename one"):
        find_clips([tmp_path])
