"""Tests that share something costly: a group runs on one worker, and a folder's ends with it."""

from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]


def test_the_runner_sends_a_group_to_one_worker(request: pytest.FixtureRequest):
    """What xdist knows a group by is the end of a test's name."""
    if not hasattr(request.config, "workerinput"):
        return  # one process has nothing to keep together

    assert all(
        item.nodeid.rpartition("@")[2] == mark.args[0]
        for item in request.session.items
        if (mark := item.get_closest_marker("xdist_group")) is not None
    )


def test_what_a_folder_shares_ends_with_its_last_test():
    """In a folder that is no package, it would last for the session: an event loop, servers."""
    shared = [
        file.parent
        for file in TESTS.rglob("*.py")
        if 'scope="package"' in file.read_text("utf-8") and file != Path(__file__)
    ]

    assert shared
    assert [folder for folder in shared if not (folder / "__init__.py").exists()] == []
