"""The picture of two systems by dimension."""

import math
from xml.etree import ElementTree as ET

import pytest

from ranking.gate.radar import MIDDLE, RADIUS, GateLine, TooFewAxesError, radar

SVG = "{http://www.w3.org/2000/svg}"
CANDIDATE = GateLine("New", {"H": 1500.0, "E": 1520.0, "A": 1480.0, "R": 1510.0, "T": 1490.0})
BASELINE = GateLine("Old", dict.fromkeys("HEART", 1500.0))


def drawn(candidate=CANDIDATE, title="x", note=""):
    picture = radar(candidate, BASELINE, title=title, note=note)
    return ET.fromstring(picture)  # noqa: S314 (written here)


def reaches(root, name):
    """Return how far from the middle the corners of a system are."""
    (area,) = (one for one in root.iter(f"{SVG}polygon") if one.get("class") == name)
    corners = [tuple(map(float, corner.split(","))) for corner in area.get("points", "").split()]
    return [math.dist(corner, MIDDLE) for corner in corners]


def test_equal_points_are_equally_far_out():
    far = reaches(drawn(), "baseline")

    assert far == pytest.approx([far[0]] * 5, abs=0.1)


def test_more_points_are_farther_out_in_proportion():
    root = drawn()
    new, old = reaches(root, "candidate"), reaches(root, "baseline")[0]

    assert new[1] - old == pytest.approx(2 * (new[3] - old), abs=0.3)
    assert old - new[2] == pytest.approx(new[1] - old, abs=0.3)


@pytest.mark.parametrize("spread", [0.0, 3.0, 60.0, 900.0, 50_000.0])
def test_everything_is_inside_the_rings_and_nothing_in_the_middle(spread):
    points = {axis: 1500.0 + spread * place / 4 for place, axis in enumerate("HEART")}
    root = drawn(candidate=GateLine("New", points))

    for name in ("candidate", "baseline"):
        assert all(0.0 < far <= RADIUS + 0.1 for far in reaches(root, name))


def test_figures_are_told_to_those_who_do_not_see_it():
    root = drawn(note="Simulated data.")

    assert root.get("role") == "img"
    assert root.findtext(f"{SVG}desc") == (
        "Candidate and baseline: H 1500 and 1500, E 1520 and 1500, A 1480 and 1500, "
        "R 1510 and 1500, T 1490 and 1500. Simulated data."
    )


def test_names_cannot_change_the_picture():
    root = drawn(candidate=GateLine("<script>&\"'", CANDIDATE.points), title="</title><script>")

    assert not list(root.iter(f"{SVG}script"))
    assert any("<script>" in (one.text or "") for one in root.iter(f"{SVG}text"))


def test_has_colours_for_light_and_for_dark_and_a_broken_line():
    style = drawn().findtext(f"{SVG}style") or ""

    assert "prefers-color-scheme: dark" in style
    assert "stroke-dasharray" in style


def test_axes_of_one_system_alone_are_left_out():
    root = drawn(candidate=GateLine("New", {**CANDIDATE.points, "Z": 1.0}))

    assert len(reaches(root, "candidate")) == 5


def test_two_axes_are_too_few():
    with pytest.raises(TooFewAxesError, match="not 2"):
        radar(GateLine("New", {"H": 1.0, "E": 2.0}), BASELINE, title="x")
