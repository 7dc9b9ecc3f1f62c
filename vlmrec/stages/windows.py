"""Window families: which part of a clip, and how densely, a question is shown. Pure.

Under V=window the family follows the question's time scope and viewpoint: signals and road markings
want few sharp frames, an instant wants dense frames around the contact, everything else the whole
clip. Bounds come from the entity table's contact time; without one a family falls back to the whole
clip, and says so by its name.
"""

from typing import Literal, TypeAlias

from vlmrec.ledger import Question, TimeScope, Viewpoint
from vlmrec.stages.condition import Condition

Family: TypeAlias = Literal["whole", "contact", "signal", "wide"]

_SPARSE = (Viewpoint.SIGNAL, Viewpoint.ROAD)


def window_of(condition: Condition, question: Question) -> Family:
    """The window family in which ``question`` is shown."""
    if condition.video != "window":
        return "whole"
    if question.viewpoint in _SPARSE:
        return "signal"
    if question.time_scope is TimeScope.INSTANT:
        return "contact"
    return "wide"
