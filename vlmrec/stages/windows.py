"""Window families: which part of a clip, and how densely, a question is shown. Pure.

Under V=window the family follows the question's time scope, subject and viewpoint: signals and road
markings want few sharp frames of the whole clip; an instant, and what one vehicle does in the stretch
before contact, want dense frames up to the contact; scenes and relations a wider look. Bounds come from
the entity table's contact time; without one the contact family shows the whole clip at its own rate.
"""

from fractions import Fraction
from typing import Literal, TypeAlias

from vlmrec.media.prepare import MediaSpec
from vlmrec.question import Question, Subject, TimeScope, Viewpoint
from vlmrec.stages.condition import Condition

Family: TypeAlias = Literal["whole", "contact", "signal", "wide"]

BEFORE_CONTACT_S = Fraction(5)
AFTER_CONTACT_S = Fraction(1)

_RATES = {"contact": "frames-8fps", "signal": "frames-6", "wide": "frames-2fps"}
_SPARSE = (Viewpoint.SIGNAL, Viewpoint.ROAD)


def window_of(condition: Condition, question: Question) -> Family:
    """The window family in which ``question`` is shown."""
    if condition.video != "window":
        return "whole"
    if question.viewpoint in _SPARSE:
        return "signal"
    moves = question.subject is Subject.PARTY and question.viewpoint is Viewpoint.VEHICLE
    if question.time_scope is TimeScope.INSTANT or (question.time_scope is TimeScope.SPAN and moves):
        return "contact"
    return "wide"


def media_spec(condition: Condition, family: str, *, contact: float | None, duration: Fraction) -> MediaSpec:
    """What of the clip the family shows. ``contact`` is in seconds of clip time, where it is known."""
    max_pixels = None if condition.pixels == "native" else int(condition.pixels)
    if condition.video == "full":
        return MediaSpec()
    if condition.video != "window":
        return MediaSpec(sampling=condition.video, max_pixels=max_pixels)
    if family == "whole":  # Stage 0 looks at everything before there is a contact time
        return MediaSpec(sampling=_RATES["wide"], max_pixels=max_pixels)
    window = None
    if family == "contact" and contact is not None:
        moment = Fraction(contact).limit_denominator(1000)
        start = max(Fraction(0), moment - BEFORE_CONTACT_S)
        end = min(duration, moment + AFTER_CONTACT_S)
        if start < end:
            window = (str(start), str(end))
    return MediaSpec(sampling=_RATES[family], window=window, max_pixels=max_pixels)
