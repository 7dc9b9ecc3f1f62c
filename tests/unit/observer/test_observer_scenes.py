"""The observer on a drawn road: what it measures, and what it leaves unsaid."""

import base64
import json
from collections.abc import Iterable
from pathlib import Path

import cv2
import httpx
import numpy as np
import pytest
from numpy.typing import NDArray

from vlmrec.observer.analysis import analyse, scene_of
from vlmrec.observer.answers import reply_text
from vlmrec.observer.app import create_app
from vlmrec.observer.footage import Frame, read_frames
from vlmrec.observer.measure import Glimpse, Measures
from vlmrec.observer.request import ChatRequest, Option, Question, Video
from vlmrec.observer.scene import Scene
from vlmrec.observer.table import Hint, entity_table, read_hint
from vlmrec.terms import Party

WIDTH, HEIGHT, RATE = 640, 360, 15
FOCAL, CAMERA, LANE = 330.0, 1.35, 3.4
HORIZON = 165.0
CONTACT = 5.6


def place(x: float, y: float, z: float, nod: float) -> tuple[int, int]:
    """Picture point of a place ``x`` m to the right, ``y`` m above the road, ``z`` m ahead."""
    return round(WIDTH / 2 + FOCAL * x / z), round(HORIZON + nod + FOCAL * (CAMERA - y) / z)


def quad(
    picture: NDArray[np.uint8], corners: list[tuple[float, float, float]], colour: tuple[int, ...], nod: float
) -> None:
    points = np.array([place(*corner, nod) for corner in corners], np.int32)
    cv2.fillConvexPoly(picture, points, colour, cv2.LINE_AA)


def draw_car(picture: NDArray[np.uint8], x: float, z: float, nod: float) -> None:
    """A red box of a car with a dark window and a shadow under it, its rear at ``z``."""
    for depth in (z + 4.2, z):
        quad(
            picture,
            [(x - 0.9, 0, depth), (x + 0.9, 0, depth), (x + 0.9, 1.45, depth), (x - 0.9, 1.45, depth)],
            (30, 30, 150),
            nod,
        )
    quad(picture, [(x - 0.8, 0.9, z), (x + 0.8, 0.9, z), (x + 0.8, 1.4, z), (x - 0.8, 1.4, z)], (20, 20, 20), nod)
    quad(picture, [(x - 0.9, 0, z), (x + 0.9, 0, z), (x + 0.9, 0.3, z), (x - 0.9, 0.3, z)], (15, 15, 15), nod)


def road_film(*, cut_in: bool, seconds: float = 7.5) -> list[Frame]:
    """A drive on the middle one of three lanes; with ``cut_in`` a slower car from the right lane gets in the way and is hit."""
    rng = np.random.default_rng(5)
    asphalt = cv2.GaussianBlur(rng.normal(105, 22, (4096, 64)).astype(np.float32), (3, 3), 0)
    noise = rng.normal(0, 1.5, (HEIGHT, WIDTH, 3)).round().astype(np.int16)
    speed, frames = 14.0, []
    travelled = 0.0
    rows = np.arange(int(HORIZON) + 4, HEIGHT)
    columns = np.arange(WIDTH)
    for index in range(round(seconds * RATE)):
        time = index / RATE
        after = max(0.0, time - CONTACT)
        crashed = cut_in and after > 0
        travelled += max(0.0, speed - (7.0 * after if crashed else 0.0)) / RATE
        nod = 9.0 * np.exp(-after / 0.3) * np.sin(40 * after) if crashed else 0.3 * np.sin(17 * time)
        picture = np.full((HEIGHT, WIDTH, 3), (200, 170, 140), np.uint8)
        for tower in range(12):
            z = 25 + (tower * 37 - travelled) % 220
            side = -1 if tower % 2 else 1
            quad(
                picture,
                [(side * 14, 0, z), (side * 18, 0, z), (side * 18, 9, z), (side * 14, 9, z)],
                (90, 80 + 10 * tower, 110),
                nod,
            )
        depth = FOCAL * CAMERA / (rows - HORIZON - nod).clip(2)
        across = (columns[None, :] - WIDTH / 2) * depth[:, None] / FOCAL
        along = ((depth[:, None] + travelled) * 24 % 4096).astype(int)
        shade = asphalt[np.broadcast_to(along, across.shape), (across * 8).astype(int) % 64]
        picture[rows] = np.repeat(np.clip(shade, 0, 255).astype(np.uint8)[:, :, None], 3, axis=2)
        for line in (-1.5, -0.5, 0.5, 1.5):
            dashed = abs(line) < 1
            for start in np.arange(-(travelled % 8), 60, 8) if dashed else [2.6]:
                near, far = max(2.6, float(start)), float(start) + 3.5 if dashed else 60.0
                if far > near:
                    x = line * LANE
                    quad(
                        picture,
                        [(x - 0.08, 0, near), (x + 0.08, 0, near), (x + 0.08, 0, far), (x - 0.08, 0, far)],
                        (235, 235, 235),
                        nod,
                    )
        if cut_in:
            moved = float(np.clip((time - CONTACT + 1.6) / 2.0, 0, 1))
            x = LANE * (1 - moved * moved * (3 - 2 * moved))
            draw_car(picture, x, 2.3 + 3.6 * max(0.0, CONTACT - time) + 1.2 * after, nod)
        grain = np.roll(noise, 7919 * index)
        frames.append(Frame(time, np.clip(picture.astype(np.int16) + grain, 0, 255).astype(np.uint8)))
    return frames


def ask(scene: Scene, question_id: str, party: Party, *codes: str) -> dict[str, object]:
    question = Question(question_id, party, "?", tuple(Option(code, code) for code in codes))
    request = ChatRequest(None, 1, None, None, (), (), (), None, question, None)
    answer = json.loads(reply_text(request, scene))
    assert isinstance(answer, dict)
    return answer


@pytest.fixture(scope="module")
def film() -> list[Frame]:
    return road_film(cut_in=True)


@pytest.fixture(scope="module")
def cut_in(film: list[Frame]) -> Measures:
    measured = analyse(iter(film))
    assert isinstance(measured, Measures)
    return measured


@pytest.fixture(scope="module")
def quiet_drive() -> Measures:
    measured = analyse(iter(road_film(cut_in=False, seconds=5.0)))
    assert isinstance(measured, Measures)
    return measured


def test_the_vanishing_point_and_the_lanes_are_found_without_knowing_the_camera(cut_in: Measures) -> None:
    assert cut_in.point.x == pytest.approx(WIDTH / 2, abs=6)
    assert cut_in.point.y == pytest.approx(HORIZON, abs=5)
    assert cut_in.lanes is not None
    assert cut_in.lanes.spacing == pytest.approx(LANE / CAMERA, abs=0.15)


def test_a_knock_with_a_car_in_the_way_is_a_collision(cut_in: Measures) -> None:
    scene = scene_of(cut_in)
    assert scene.contact is not None
    assert scene.contact.time == pytest.approx(CONTACT, abs=0.3)
    answer = ask(scene, "q_collision", Party.NONE, "vehicle_contact", "object_contact", "no_contact")
    assert answer["value"] == "vehicle_contact"


def test_a_car_that_cuts_in_from_the_right_changed_lane_and_the_ego_did_not(cut_in: Measures) -> None:
    scene = scene_of(cut_in)
    moves = ("straight", "lane_change", "turn_left", "stopped")
    assert ask(scene, "q_maneuver", Party.OTHER, *moves)["value"] == "lane_change"
    assert ask(scene, "q_maneuver", Party.SELF, *moves)["value"] == "straight"
    assert ask(scene, "q_lane_change_direction", Party.OTHER, "left", "right")["value"] == "left"
    assert ask(scene, "q_lane_relation", Party.NONE, "same_lane", "adjacent_lane")["value"] == "adjacent_lane"


def test_a_value_that_is_not_among_the_options_becomes_an_abstention(cut_in: Measures) -> None:
    answer = ask(scene_of(cut_in), "q_maneuver", Party.OTHER, "overtaking", "straight")
    assert (answer["status"], answer["value"]) == ("unknown", None)


def test_evidence_lies_inside_the_clip_and_is_ordered(cut_in: Measures) -> None:
    scene = scene_of(cut_in)
    answer = ask(scene, "q_maneuver", Party.OTHER, "straight", "lane_change")
    start, end = answer["evidence_start"], answer["evidence_end"]
    assert isinstance(start, float)
    assert isinstance(end, float)
    assert scene.start <= start <= end <= scene.end


def test_a_quiet_drive_has_no_collision(quiet_drive: Measures) -> None:
    answer = ask(scene_of(quiet_drive), "q_collision", Party.NONE, "vehicle_contact", "object_contact", "no_contact")
    assert answer["value"] in ("no_contact", None)


def test_the_same_frames_give_the_same_scene(film: list[Frame]) -> None:
    first, second = (scene_of(analyse(iter(film[60:90]))) for _ in range(2))
    assert first == second


def test_shuffled_frames_give_abstentions(film: list[Frame]) -> None:
    order = np.random.default_rng(1).permutation(len(film))
    shuffled = [Frame(film[i].time, film[int(order[i])].picture) for i in range(len(film))]
    scene = scene_of(analyse(iter(shuffled)))
    for question in ("q_collision", "q_maneuver", "q_lane_relation", "q_direction_relation"):
        answer = ask(
            scene, question, Party.OTHER, "vehicle_contact", "no_contact", "straight", "lane_change", "same_direction"
        )
        assert answer["value"] is None, answer


@pytest.mark.parametrize("shade", [0, 128, 255])
def test_a_blank_film_gives_abstentions(shade: int) -> None:
    blank = np.full((HEIGHT, WIDTH, 3), shade, np.uint8)
    measured = analyse(Frame(index / RATE, blank) for index in range(60))
    assert isinstance(measured, Glimpse)
    scene = scene_of(measured)
    assert ask(scene, "q_collision", Party.NONE, "vehicle_contact", "no_contact")["value"] is None
    assert entity_table(scene)["entities"] == []


def test_a_table_made_from_the_scene_names_the_counterpart_and_keeps_its_boxes_inside(cut_in: Measures) -> None:
    table = entity_table(scene_of(cut_in))
    counterparts = [entity for entity in table["entities"] if entity["role"] == "counterpart"]
    assert len(counterparts) == 1
    assert table["contact_time"] == pytest.approx(CONTACT, abs=0.3)
    for entity in table["entities"]:
        for item in entity["boxes"]:
            x1, y1, x2, y2 = item["box"]
            assert 0 <= x1 <= x2 <= 1000
            assert 0 <= y1 <= y2 <= 1000


def test_a_wrong_table_moves_the_contact_it_names(cut_in: Measures) -> None:
    scene = scene_of(cut_in, Hint(2.0, ()))
    assert scene.contact is not None
    assert scene.contact.time == pytest.approx(2.0)
    assert ask(scene, "q_collision", Party.NONE, "vehicle_contact", "no_contact")["value"] is None


def test_a_hint_is_read_from_what_has_the_form_and_the_rest_is_passed_over() -> None:
    box = {"t": 1.0, "box": [1, 2, 3, 4]}
    faulty: list[object] = [box, {"t": "x", "box": []}, {"box": [1, 2, 3, 4]}, 7]
    table = {
        "contact_time": 4.5,
        "entities": [{"role": "counterpart", "boxes": faulty}, "noise", {"role": "other", "boxes": [box]}],
    }
    assert read_hint(table) == Hint(4.5, ((1.0, (1.0, 2.0, 3.0, 4.0)),))
    assert read_hint({"contact_time": None, "entities": 3}) is None
    assert read_hint(None) is None


def _check_no_collision(paths: Iterable[Path]) -> None:
    for path in paths:
        request = ChatRequest(None, 1, None, None, (), (Video(path.read_bytes(), None),), (), None, None, None)
        scene = scene_of(analyse(read_frames(request)))
        answer = ask(scene, "q_collision", Party.NONE, "vehicle_contact", "object_contact", "no_contact")
        assert answer["value"] in (None, "no_contact"), path.name


def test_real_driving_clips_show_no_collision(shared_data: Path) -> None:
    _check_no_collision(
        shared_data / "clips" / name for name in ("d10_dashcam_expressway.ts", "p13_blackbox_mjpeg.avi")
    )


@pytest.mark.deep
def test_no_real_driving_clip_shows_a_collision(shared_data: Path) -> None:
    _check_no_collision(path for path in sorted((shared_data / "clips").glob("d*")) if not path.name.startswith("d09"))


@pytest.mark.parametrize("name", ["p01", "p02", "p06", "p09", "p10", "p11", "p12"])
async def test_an_odd_or_damaged_clip_is_measured_or_refused_and_never_an_error(shared_data: Path, name: str) -> None:
    """A smear can send every line below the picture, and leave no row of road."""
    (path,) = (shared_data / "clips").glob(f"{name}_*")
    url = f"data:video/mp4;base64,{base64.b64encode(path.read_bytes()).decode()}"
    question = "[question] q_collision\n[party] none\n[text] ?\n[options]\n- vehicle_contact: a\n- no_contact: b"
    content = [{"type": "video_url", "video_url": {"url": url}}, {"type": "text", "text": question}]
    body = {"model": "observer/classical", "messages": [{"role": "user", "content": content}]}
    transport = httpx.ASGITransport(app=create_app(), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://observer") as client:
        reply = await client.post("/v1/chat/completions", json=body, timeout=60)
    assert reply.status_code in (200, 400), reply.text
