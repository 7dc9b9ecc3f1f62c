"""Notes: open, append, seal again; about what the run has."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from logs import TIME, create
from runbuilder import RunBuilder

from vlmrec.commands.note import command
from vlmrec.errors import InputError, LogBusy
from vlmrec.events import NoteAdded
from vlmrec.log.notes import add_note
from vlmrec.log.reader import open_log
from vlmrec.log.verify import verify_log
from vlmrec.log.writer import LogWriter
from vlmrec.terms import Party


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    builder = RunBuilder(clips=["c1", "c2"])
    builder.clip("c1").turn("q_maneuver", "other", value="straight").submit("confirmed", ["차43-2"]).finish()
    builder.clip("c2").fail()
    return builder.write(tmp_path_factory.mktemp("notes"))


def notes(path: Path) -> list[NoteAdded]:
    with open_log(path) as log:
        return [event.data for event in log.events(["note.added"]) if isinstance(event.data, NoteAdded)]


def test_a_note_is_appended_after_the_seal_and_the_log_sealed_again(run: Path) -> None:
    before = verify_log(run)
    noted = add_note(run, "카메라가 뒤를 본다", time=TIME, exclude=True, clip="c1", question="q_maneuver/other")
    report = verify_log(run, before.head)
    assert report.holds
    assert report.after_head == 1
    assert report.head == noted.head
    with open_log(run) as log:
        assert [row.id for row in log.rows(["note.added"], after=noted.seq - 1)] == [noted.event]
    assert notes(run)[-1] == NoteAdded(
        ordinal=len(notes(run)),
        text="카메라가 뒤를 본다",
        exclude=True,
        clip="c1",
        question_id="q_maneuver",
        party=Party.OTHER,
    )
    assert not run.with_name(run.name + "-wal").exists()


def test_notes_of_a_run_count_up(run: Path) -> None:
    count = len(notes(run))
    add_note(run, "one", time=TIME)
    add_note(run, "one", time=TIME, question="q_maneuver")
    assert [note.ordinal for note in notes(run)][count:] == [count + 1, count + 2]
    assert (notes(run)[-1].question_id, notes(run)[-1].party) == ("q_maneuver", None)


@pytest.mark.parametrize(
    ("about", "message"),
    [
        ({"clip": "c3"}, "run has no clip 'c3'; its clips: c1, c2"),
        ({"question": "q_x"}, "run was not asked 'q_x'; it was asked: q_maneuver/other"),
        ({"question": "q_maneuver/self"}, "was not asked 'q_maneuver/self'"),
        ({"clip": "c2", "question": "q_maneuver"}, "clip c2 of run was not asked 'q_maneuver'; it was asked: none"),
    ],
)
def test_a_note_about_what_the_run_does_not_have_is_refused(run: Path, about: dict[str, str], message: str) -> None:
    count = len(notes(run))
    with pytest.raises(InputError, match=message):
        add_note(run, "text", time=TIME, **about)  # type: ignore[arg-type]
    assert len(notes(run)) == count


def test_a_note_needs_a_text(run: Path) -> None:
    with pytest.raises(InputError, match="needs a text"):
        add_note(run, " \n", time=TIME)


def test_a_run_that_is_being_written_takes_no_note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vlmrec.log.writer.LOCK_WAIT_S", 0.05)
    with create(tmp_path / "run.db"), pytest.raises(LogBusy, match="is being written by"):
        add_note(tmp_path / "run.db", "text", time=TIME)
    LogWriter.open(tmp_path / "run.db").close()


def test_the_command_prints_where_the_note_stands(run: Path) -> None:
    printed = json.loads(CliRunner().invoke(command, [str(run), "odd", "--json"]).stdout)
    assert set(printed) == {"run", "event", "seq", "head"}
    report = verify_log(run)
    assert (printed["run"], printed["seq"], printed["head"]) == (run.stem, report.events, report.head)
