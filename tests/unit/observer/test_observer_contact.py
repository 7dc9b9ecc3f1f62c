"""Which of several knocks was the collision."""

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from vlmrec.observer import contact
from vlmrec.observer.jolts import Jolt
from vlmrec.observer.scene import Contact
from vlmrec.observer.view import View

TIMES = np.arange(150) / 15


def a_drive(pace: Any) -> View:
    """A film of an ego with ``pace`` per frame, with nothing else on the road."""
    measures: Any = SimpleNamespace(times=TIMES, size=(640, 360))
    return View(measures, cast(Any, None), cast(Any, None), TIMES, pace, TIMES, 1.0, (), ())


def test_of_two_loud_knocks_that_which_took_most_of_the_pace_at_once_is_the_collision(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(contact, "suspects", lambda view, time: [])
    braked = np.interp(TIMES, [0, 5.5, 7.0, 7.1], [1.0, 1.0, 0.7, 0.1])
    knocks = (Jolt(7.0, 8.0, 15.0), Jolt(5.8, 7.0, 12.0))
    found, _ = contact.find_contact(a_drive(braked), knocks)
    assert found is not None
    assert found.time == 7.0
    slowing = np.interp(TIMES, [0, 5.5, 9.0], [1.0, 1.0, 0.1])
    assert contact.find_contact(a_drive(slowing), knocks) == (None, None)


def test_a_quiet_knock_counts_when_the_ego_moves_back_in_front_of_the_one_it_passed_and_then_slows_down(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    passed: Any = SimpleNamespace(how="passed")
    monkeypatch.setattr(contact, "_passed_at", lambda view, time: passed)
    slowing = a_drive(np.interp(TIMES, [0, 7.0, 9.0], [1.0, 1.0, 0.2]))
    assert contact.find_contact(slowing, (Jolt(7.0, 3.5, 8.0),)) == (Contact(7.0, 0.7), passed)
    assert contact.find_contact(a_drive(np.ones(len(TIMES))), (Jolt(7.0, 3.5, 8.0),)) == (None, None)


def test_a_bump_that_the_ego_drove_on_from_to_a_knock_that_slowed_it_down_is_not_the_collision(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(contact, "suspects", lambda view, time: [])
    slowed = np.interp(TIMES, [0, 6.0, 8.0], [1.0, 1.0, 0.1])
    knocks = (Jolt(6.0, 5.4, 6.0), Jolt(4.7, 4.8, 8.0))
    found, _ = contact.find_contact(a_drive(slowed), knocks)
    assert found is not None
    assert found.time == 6.0
    at_first = np.interp(TIMES, [0, 4.7, 6.7], [1.0, 1.0, 0.1])
    assert contact.find_contact(a_drive(at_first), knocks) == (None, None)


def test_a_knock_that_the_ego_drove_on_from_for_more_than_a_second_is_no_collision(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(contact, "suspects", lambda view, time: [])
    monkeypatch.setattr(contact, "_passed_at", lambda view, time: None)
    for begins, is_one in ((4.6, True), (6.1, False)):
        pace = np.interp(TIMES, [0, begins, begins + 1.6], [1.0, 1.0, 0.4])
        found, _ = contact.find_contact(a_drive(pace), (Jolt(4.6, 5.3, 7.0),))
        assert (found is not None) is is_one
