"""Tests that share something costly run on one worker: the runner keeps their group together."""

from pathlib import Path

import pytest

BROWSER = Path(__file__).parents[1] / "browser"


def test_the_runner_sends_a_group_to_one_worker(request: pytest.FixtureRequest):
    """What xdist knows a group by is the end of a test's name."""
    if not hasattr(request.config, "workerinput"):
        return  # one process has nothing to keep together
    grouped = [item.nodeid for item in request.session.items if BROWSER in Path(item.path).parents]

    assert all(name.endswith("@browser") for name in grouped)
    assert all(
        item.nodeid.rpartition("@")[2] == mark.args[0]
        for item in request.session.items
        if (mark := item.get_closest_marker("xdist_group")) is not None
    )
