"""What crowd platforms put on their links."""

import pytest

from annotation.choices import Platform
from annotation.entry_links import PLATFORMS, Arrival, EntryLinkError, read_arrival


@pytest.mark.parametrize(
    ("parameters", "arrival"),
    [
        ({}, Arrival()),
        ({"utm_source": "mail"}, Arrival()),
        (
            {"PROLIFIC_PID": "p1", "STUDY_ID": "s1", "SESSION_ID": "x1"},
            Arrival("PROLIFIC", "p1", {"STUDY_ID": "s1", "SESSION_ID": "x1"}),
        ),
        (
            {"workerId": "w1", "assignmentId": "a1", "hitId": "h1", "turkSubmitTo": "https://x"},
            Arrival("MTURK", "w1", {"assignmentId": "a1", "hitId": "h1"}),
        ),
        ({"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE"}, Arrival("MTURK", is_preview=True)),
        (
            {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", "hitId": "h1"},
            Arrival("MTURK", is_preview=True),
        ),
        (
            {"participantId": "c1", "assignmentId": "a1", "projectId": "j1"},
            Arrival("CONNECT", "c1", {"assignmentId": "a1", "projectId": "j1"}),
        ),
        ({"pid": "77"}, Arrival("GENERIC", "77")),
    ],
    ids=[
        "nothing",
        "other parameters",
        "Prolific",
        "MTurk",
        "MTurk preview",
        "MTurk preview with its task",
        "Connect",
        "generic",
    ],
)
def test_arrival_is_read_from(parameters, arrival):
    assert read_arrival(parameters) == arrival


@pytest.mark.parametrize(
    "parameters",
    [
        {"PROLIFIC_PID": ""},
        {"PROLIFIC_PID": "{{%PROLIFIC_PID%}}"},
        {"PROLIFIC_PID": "p1", "STUDY_ID": "{{%STUDY_ID%}}"},
        {"STUDY_ID": "s1", "SESSION_ID": "x1"},
        {"assignmentId": "a1", "projectId": "j1"},
        {"participantId": ""},
        {"pid": "x" * 121},
        {"pid": "a\0b"},
    ],
    ids=[
        "empty",
        "not filled in",
        "half filled in",
        "Prolific without the person",
        "Connect without the person",
        "empty on Connect",
        "overlong",
        "null byte",
    ],
)
def test_incomplete_link_is_refused(parameters):
    with pytest.raises(EntryLinkError):
        read_arrival(parameters)


def test_every_platform_is_one_that_raters_can_have():
    assert {platform for platform, *_ in PLATFORMS} | {Arrival().platform} == set(Platform.values)
