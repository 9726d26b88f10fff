"""Lines about tasks that looked for work and did none are details; all others stay."""

import logging

import pytest

from heart_site import schedule
from heart_site.monitoring.logs import IdleTasks

NAME = "heart-idle-test"
TICK = "completions.tasks.look_after_runs"
FIT = "ranking.tasks.run_fit"
IDLE = {
    "sent by beat": ("look-after-runs", TICK),
    "taken": ({"name": TICK, "id": "1"},),
    "ended without anything done": ({"name": TICK, "return_value": "0"},),
}
TELLING = {
    "ended with something done": ({"name": TICK, "return_value": "3"},),
    "work taken": ({"name": FIT, "id": "1"},),
    "work ended": ({"name": FIT, "return_value": "None"},),
    "about no task": (),
}


@pytest.fixture
def logger():
    logger = logging.getLogger(NAME)
    one = IdleTasks(schedule.LOOKING)
    logger.addFilter(one)
    yield logger
    logger.removeFilter(one)


def levels(logger, caplog, level, told, severity=logging.INFO):
    with caplog.at_level(level, NAME):
        logger.log(severity, "about %s %s" if len(told) > 1 else "about a task", *told)
    return [record.levelname for record in caplog.records]


@pytest.mark.parametrize("what", IDLE)
def test_a_line_that_tells_nothing_is_left_out(what, logger, caplog):
    assert levels(logger, caplog, logging.INFO, IDLE[what]) == []


@pytest.mark.parametrize("what", IDLE)
def test_it_is_there_for_who_looks_for_details(what, logger, caplog):
    assert levels(logger, caplog, logging.DEBUG, IDLE[what]) == ["DEBUG"]


@pytest.mark.parametrize("what", TELLING)
def test_a_line_that_tells_something_stays(what, logger, caplog):
    assert levels(logger, caplog, logging.INFO, TELLING[what]) == ["INFO"]


def test_a_task_that_failed_is_told_of(logger, caplog):
    told = ({"name": TICK},)
    assert levels(logger, caplog, logging.INFO, told, logging.ERROR) == ["ERROR"]
