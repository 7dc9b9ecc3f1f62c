"""Prompt tokens are predicted for models that count as Qwen3-VL does, and for no others."""

from fractions import Fraction

from stage_simulator import opened

from vlmrec.media.plan import VideoPlan
from vlmrec.stages.prediction import bound_after, predicted_tokens
from vlmrec.stages.prompts import Prompt

PROMPT = Prompt("s" * 35, (), "t" * 35)


def plan(width: int, height: int) -> VideoPlan:
    return VideoPlan(
        source_sha256="0" * 64,
        reader="av",
        method="as_is",
        stream_index=0,
        time_base=str(Fraction(1, 30)),
        start=0,
        duration_s=10.0,
        media_type="video/mp4",
        width=width,
        height=height,
        rotation=0,
    )


def test_a_whole_clip_is_predicted_at_the_rate_asked_for() -> None:
    """The counts of a recorded vLLM server: 320x192, 10 s at 30 fps: 680 video tokens at 2 fps, 1360 at 4."""
    clip = opened(frames=300, width=320, height=192, last_s=9.97)
    texts = 70 / 3.5 + 24
    assert predicted_tokens("Qwen3-VL-8B", clip, plan(320, 192), PROMPT, fps=None) == 680 + texts
    assert predicted_tokens("Qwen3-VL-8B", clip, plan(320, 192), PROMPT, fps=4) == 1360 + texts


def test_a_model_that_counts_in_another_way_is_not_predicted() -> None:
    assert predicted_tokens("observer/classical", opened(), plan(320, 192), PROMPT, fps=None) is None


def test_the_bound_of_a_later_call_covers_any_text_of_its_tail() -> None:
    assert bound_after(1000, "가나다") == 1009
