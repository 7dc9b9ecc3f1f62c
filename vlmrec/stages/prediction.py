"""How many prompt tokens a call should take: predicted before it is sent, compared with the server's count after. Pure.

Only for models whose video processor is known (Qwen3-VL's, which the Cosmos reasoners share): a
guess for any other would make honest servers look as if they ignored what was asked of them.
"""

from vlmrec.events import ClipOpened
from vlmrec.media.plan import FramesPlan, MediaPlan
from vlmrec.media.tokens import DEFAULT_FPS, image_tokens, video_tokens
from vlmrec.stages.prompts import Prompt

KNOWN = ("qwen3-vl", "qwen3.5", "cosmos-reason2", "cosmos3")
"""Parts of the names of models that count video as Qwen3-VL does."""

BYTES_PER_TOKEN = 3.5
"""Of prose in Korean and English; texts are a few percent of a prompt with video."""

TEMPLATE_TOKENS = 24


def predicted_tokens(
    model: str, opened: ClipOpened, plan: MediaPlan, prompt: Prompt, *, fps: float | None
) -> int | None:
    """The prompt tokens of a call about ``opened`` as ``plan`` shows it; None for a model of unknown counting."""
    if not any(part in model.casefold() for part in KNOWN):
        return None
    if isinstance(plan, FramesPlan):
        media = len(plan.picks) * (image_tokens(plan.width, plan.height) + 2)
    else:
        frames = len(plan.picks) if plan.picks is not None else opened.frames
        rate = frames / plan.duration_s if plan.duration_s > 0 else 1.0
        media = video_tokens(frames, rate, plan.width, plan.height, fps=fps or DEFAULT_FPS).tokens
    text = sum(len(part.encode()) for part in (prompt.system, *prompt.lead, prompt.tail))
    return media + round(text / BYTES_PER_TOKEN) + TEMPLATE_TOKENS


def bound_after(counted: int, tail: str) -> int:
    """The most prompt tokens that a call can take, given the count of another with the same start.

    A token is a byte of text at the least, and the other call's own tail is in its count.
    """
    return counted + len(tail.encode())
