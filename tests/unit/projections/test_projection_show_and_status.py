"""The story of a clip, and how far a run has come."""

import json
from pathlib import Path

from click.testing import CliRunner
from runbuilder import RunBuilder
from samples import sample_runs

from vlmrec.commands.show import command as show
from vlmrec.commands.status import command as status
from vlmrec.events import ClipOpened, MediaFailed
from vlmrec.projections.core import project
from vlmrec.projections.show import Show
from vlmrec.projections.shown import Shown
from vlmrec.projections.status import RunProgress, RunTimes


def shown(run: RunBuilder) -> Shown:
    return project(Show(), [run.log()]).result


def test_turns_stand_in_rounds_with_candidates_before_and_after() -> None:
    (clip, _, _) = shown(sample_runs()[0]).clips
    first, second = clip.turns
    assert (first.round, first.before, first.after) == (1, None, ("차41-1", "차43-2", "차43-3"))
    assert (second.round, second.before, second.after) == (2, ("차41-1", "차43-2", "차43-3"), ("차43-2",))
    assert {gone.chart for gone in second.eliminated} == {"차41-1", "차43-3"}
    assert second.answer is not None
    assert (second.answer.value, second.samples[0].strictness) == ("lane_change", "strict")
    assert clip.outcome is not None
    assert clip.outcome.outcome == "confirmed"


def test_a_reply_that_could_not_be_read_is_shown_with_its_reason() -> None:
    clip = shown(sample_runs()[0]).clips[2]
    turn = next(turn for turn in clip.turns if turn.question_id == "q_maneuver")
    assert turn.answer is None
    assert turn.samples[0].reason == "truncated"


def test_latency_and_cost_of_a_turn_are_measured_and_not_part_of_the_result() -> None:
    projected = project(Show(), [sample_runs()[0].log()])
    turn = next(turn for turn in projected.measured.turns if turn.clip == "한글" and turn.question_id == "q_maneuver")
    assert (turn.calls.completed, turn.calls.failed, turn.calls.latency_total_s) == (1, 1, 1.0)
    assert str(projected.measured.total.cost_usd) == "0.03"


def test_show_prints_a_clip_turn_by_turn(tmp_path: Path) -> None:
    log = sample_runs()[0].write(tmp_path)
    result = CliRunner().invoke(show, [str(log), "c1"])
    assert result.exit_code == 0, result.output
    for part in ("q_maneuver / other", "lane_change", "3 (차41-1, 차43-2, 차43-3) -> 1 (차43-2)", "outcome: confirmed"):
        assert part in result.stdout
    assert "c2" not in result.stdout


def test_show_says_which_of_several_video_streams_is_seen(tmp_path: Path) -> None:
    log = run_of_two_streams().write(tmp_path)
    assert "! 2 video streams, only stream 1 is shown" in CliRunner().invoke(show, [str(log), "c"]).stdout


def test_status_says_that_a_clip_holds_several_video_streams(tmp_path: Path) -> None:
    log = run_of_two_streams().write(tmp_path)
    assert "1 of several video streams, of which one is shown" in CliRunner().invoke(status, [str(log)]).stdout
    assert json.loads(CliRunner().invoke(status, [str(log), "--json"]).stdout)["several_streams"] == 1


def run_of_two_streams() -> RunBuilder:
    run = RunBuilder(clips=["c"])
    run.clip("c", opened=False).add(
        ClipOpened(
            path="clips/c.mp4", sha256="0" * 64, bytes=1, duration_s=6.0, frames=60, first_s=0.0, last_s=5.9, average_rate=10.0,
            variable_rate=False, width=160, height=120, rotation=0, codec="h264", stream_index=1, video_streams=2,
        )
    )  # fmt: skip
    return run


def test_show_prints_what_a_reply_was_flagged_for(tmp_path: Path) -> None:
    run = RunBuilder(clips=["c"])
    run.clip("c").turn(
        "q_maneuver", "self", value="straight", evidence=(9.0, 3.0), flags=("evidence_backwards",)
    ).submit("open", ["차43-2", "차43-3"]).finish()
    told = CliRunner().invoke(show, [str(run.write(tmp_path)), "c"]).stdout
    assert "evidence   9.00–3.00 s" in told
    assert "flags      evidence_backwards" in told


def test_a_clip_that_could_not_be_opened_shows_its_path_and_the_reason_once_each(tmp_path: Path) -> None:
    run = RunBuilder(clips=["c"])
    clip = run.clip("c", opened=False)
    clip.add(MediaFailed(ordinal=1, path="clips/c.mp4", reason="clips/c.mp4: can't be opened as video"))
    clip.fail("clips/c.mp4: can't be opened as video")
    result = CliRunner().invoke(show, [str(run.write(tmp_path)), "c"])
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("c  (clips/c.mp4)\n")
    assert result.stdout.count("clips/c.mp4") == 1
    assert result.stdout.count("can't be opened as video") == 1


def test_show_of_a_whole_run_and_of_an_unknown_clip(tmp_path: Path) -> None:
    log = sample_runs()[0].write(tmp_path)
    everything = CliRunner().invoke(show, [str(log), "--json"])
    assert [clip["clip"] for clip in json.loads(everything.stdout)["clips"]] == ["c1", "c2", "한글"]
    unknown = CliRunner().invoke(show, [str(log), "c9"])
    assert unknown.exception is not None
    assert "c1, c2, 한글" in str(unknown.exception)


def times(run: RunBuilder, *, now: str | None, writing: bool = False, stopped: bool = False) -> RunTimes:
    return project(RunProgress(now=now, writing=writing, stopped=stopped), [run.log()]).measured


def test_a_run_is_stalled_when_it_is_written_but_nothing_comes_for_long() -> None:
    run = RunBuilder(clips=["a", "b"])
    run.clip("a").turn("q_maneuver", "self", value="straight").submit("open", ["x", "y"]).finish()
    last = run.events[-1].time
    assert last == "2026-01-05T09:00:11Z"
    assert times(run, now="2026-01-05T09:01:00Z", writing=True).state == "running"
    assert times(run, now="2026-01-05T09:05:00Z", writing=True).state == "stalled"
    assert times(run, now="2026-01-05T09:05:00Z", stopped=True).state == "stopped"
    assert times(run, now="2026-01-05T09:05:00Z").state == "interrupted"
    assert times(run, now=None).state is None


def test_a_slow_call_is_no_stall() -> None:
    run = RunBuilder(clips=["a"])
    run.clip("a").turn("q_maneuver", "self", value="straight", latency=300.0)
    assert times(run, now="2026-01-05T09:10:00Z", writing=True).state == "running"


def test_time_left_follows_the_rate_so_far() -> None:
    run = RunBuilder(clips=["a", "b", "c"])
    run.clip("a").submit("open", ["x", "y"]).finish()
    found = times(run, now="2026-01-05T09:00:05Z", writing=True)
    assert found.clips_per_hour == 1800  # one clip over the two seconds from its first event to its last
    assert found.left_s == 4.0


def test_status_counts_what_is_done_and_names_failed_clips() -> None:
    run = RunBuilder(clips=["a", "b", "c", "d"])
    run.clip("a").turn("q_maneuver", "self", value="straight").submit("open", ["x", "y"]).finish(incomplete=True)
    run.clip("b").fail("no frame could be decoded")
    run.clip("c", truncated=True).turn("q_maneuver", "self", unusable="refused")
    done = project(RunProgress(), [run.log()]).result
    assert (done.clips, done.finished, done.failed, done.begun) == (4, 1, 1, 1)
    assert (done.turns_opened, done.turns_answered, done.truncated, done.incomplete) == (2, 1, 1, 1)
    assert [(f.clip, f.reason) for f in done.failures] == [("b", "no frame could be decoded")]


def test_the_status_command_says_that_a_log_is_sealed(tmp_path: Path) -> None:
    log = sample_runs()[0].write(tmp_path)
    result = CliRunner().invoke(status, [str(log)])
    assert result.exit_code == 0, result.output
    assert "first  (interrupted, sealed)" in result.stdout
    assert json.loads(CliRunner().invoke(status, [str(log), "--json"]).stdout)["sealed"] is True
