"""The plain-number camera agrees with the renderer's, and the jolt of a contact is in it."""

import numpy as np
import pytest

from vlmrec.synth.camera import CameraPath, View, box_of, outline, project
from vlmrec.synth.draw import Draw, generator
from vlmrec.synth.look import draw_look
from vlmrec.synth.make import plan_clips, stage_clip
from vlmrec.synth.world import BODIES, Pose, Road


def test_a_point_on_the_axis_is_in_the_middle_and_right_is_right() -> None:
    view = View(0, 0, 1.4, 0, 0, 0)
    middle, right, below = project(np.array([[0, 10, 1.4], [2, 10, 1.4], [0, 10, 0.0]]), view, 90, 16 / 9)
    assert middle[:2] == pytest.approx([0.5, 0.5])
    assert right[0] == pytest.approx(0.6)
    assert below[1] > 0.5


def test_a_vehicle_behind_the_camera_has_no_box() -> None:
    road = Road(lanes=2, dividers=())
    pose = Pose(-20.0, 1.7, 0.0, 10.0, 0.0)
    assert box_of(outline(road, BODIES["sedan"], pose), View(1.7, 0, 1.4, 0, 0, 0), 90, 16 / 9) is None


def test_a_nearer_vehicle_has_the_larger_box() -> None:
    road, view = Road(lanes=2, dividers=()), View(1.7, 0, 1.4, 0, 0, 0)
    near, far = (
        box_of(outline(road, BODIES["sedan"], Pose(s, 1.7, 0.0, 10.0, 0.0)), view, 90, 16 / 9) for s in (12.0, 40.0)
    )
    assert near is not None
    assert far is not None
    assert near.area > 5 * far.area


def test_the_camera_shakes_at_the_contact_and_calms_down() -> None:
    clip = stage_clip(plan_clips(seed=5, count=1, scenarios=["rear_end"])[0])
    path = CameraPath(clip.plot.scene, clip.look, generator("test", "camera"))
    contact = clip.plot.scene.contact
    assert contact is not None

    def unrest(start: float) -> float:
        rolls = [path.at(start + k / 60).roll for k in range(12)]
        return float(np.abs(np.diff(rolls)).max())

    assert unrest(contact) > 4 * unrest(contact - 1.5)
    assert unrest(contact + 1.8) < unrest(contact) / 4


def test_a_look_is_a_function_of_its_stream() -> None:
    one, two, three = (draw_look(Draw(generator(*key)), 3) for key in (("a", "look"), ("a", "look"), ("b", "look")))
    assert one == two
    assert one != three
