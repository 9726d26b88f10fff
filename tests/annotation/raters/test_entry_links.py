"""What crowd platforms put on their links."""

from urllib.parse import parse_qsl

import pytest

from annotation.choices import Platform
from annotation.raters.entry_links import (
    FILLED_IN,
    PLATFORMS,
    Entry,
    EntryLinkError,
    links_for,
    read_arrival,
)

PREVIEW = Entry("MTURK")


@pytest.mark.parametrize(
    ("parameters", "arrival"),
    [
        ({}, Entry()),
        ({"utm_source": "mail"}, Entry()),
        (
            {"PROLIFIC_PID": "p1", "STUDY_ID": "s1", "SESSION_ID": "x1"},
            Entry("PROLIFIC", "p1", {"STUDY_ID": "s1", "SESSION_ID": "x1"}),
        ),
        (
            {"workerId": "w1", "assignmentId": "a1", "hitId": "h1", "turkSubmitTo": "https://x"},
            Entry("MTURK", "w1", {"assignmentId": "a1", "hitId": "h1"}),
        ),
        ({"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE"}, PREVIEW),
        (
            {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", "hitId": "h1"},
            PREVIEW,
        ),
        (
            {"participantId": "c1", "assignmentId": "a1", "projectId": "j1"},
            Entry("CONNECT", "c1", {"assignmentId": "a1", "projectId": "j1"}),
        ),
        ({"pid": "77"}, Entry("GENERIC", "77")),
        (
            {"pid": "jan.de-vries+2@panel.example"},
            Entry("GENERIC", "jan.de-vries+2@panel.example"),
        ),
        (
            {"prolific_pid": "p1", "Study_Id": "s1", "SESSION_ID": "x1"},
            Entry("PROLIFIC", "p1", {"STUDY_ID": "s1", "SESSION_ID": "x1"}),
        ),
        ({"WORKERID": "w1"}, Entry("MTURK", "w1")),
        ({"participant_id": "c1"}, Entry("CONNECT", "c1")),
        ({"assignmentid": " ASSIGNMENT_ID_NOT_AVAILABLE"}, PREVIEW),
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
        "generic with an address",
        "Prolific in another case",
        "MTurk in another case",
        "Connect with a line between the words",
        "MTurk preview in another case",
    ],
)
def test_arrival_is_read_from(parameters, arrival):
    found = read_arrival(parameters)

    assert found == arrival
    assert found.is_preview == (arrival is PREVIEW)


@pytest.mark.parametrize(
    "copied",
    [
        *("abc ", "\tabc\n", "abc\u200b", "\ufeffabc", "a\u00adbc"),
        *("abc\u2060", "abc\u3164", "\uffa0abc", "\u202eabc", "abc\u00a0"),
    ],
)
def test_a_copy_with_what_nobody_sees_is_the_same_person(copied):
    assert read_arrival({"PROLIFIC_PID": copied}) == Entry("PROLIFIC", "abc")


@pytest.mark.parametrize("name", [name for _platform, name, _others in PLATFORMS])
def test_what_stands_for_no_id_is_nobody(name, subtests):
    for value in (
        *("undefined", "null", "NULL", "None", "NaN", "n/a", "N/A", "unknown", "anonymous"),
        *("[PID]", "{pid}", "{{%PROLIFIC_PID%}}", "%PROLIFIC_PID%", "${workerId}", "<id>"),
        *("(null)", "[object Object]", "PROLIFIC_PID", "prolific_pid", "worker-id", "pid"),
        *("user_id", "...", "", " ", "\u200b", "\u200b\u200b", "a b", "a\0b", "-", "'; --"),
        *("x" * 121, "%E2%80%8B"),
    ):
        with subtests.test(value), pytest.raises(EntryLinkError):
            read_arrival({name: value})


@pytest.mark.parametrize(
    "parameters",
    [
        {"PROLIFIC_PID": "p1", "STUDY_ID": "{{%STUDY_ID%}}"},
        {"STUDY_ID": "s1", "SESSION_ID": "x1"},
        {"study_id": "s1"},
        {"PROLIFIC_PID": "p1", "SESSION_ID": "undefined"},
        {"assignmentId": "a1", "projectId": "j1"},
    ],
    ids=[
        "half filled in",
        "Prolific without the person",
        "Prolific without the person in another case",
        "the session not filled in",
        "Connect without the person",
    ],
)
def test_incomplete_link_is_refused(parameters):
    with pytest.raises(EntryLinkError):
        read_arrival(parameters)


def test_every_platform_is_one_that_raters_can_have():
    assert {platform for platform, *_ in PLATFORMS} | {Entry().platform} == set(Platform.values)


@pytest.mark.parametrize("platform", FILLED_IN)
def test_a_link_as_it_is_shown_lets_nobody_in(platform):
    with pytest.raises(EntryLinkError) as refused:
        read_arrival(dict(parse_qsl(FILLED_IN[platform])))

    assert refused.value.platform == platform


@pytest.mark.parametrize(
    ("platform", "expected"),
    [
        ("mturk", {"MTURK": f"?{FILLED_IN['MTURK']}"}),
        ("prolific", {"PROLIFIC": f"?{FILLED_IN['PROLIFIC']}"}),
        ("any", {"GUEST": ""} | {name: f"?{link}" for name, link in FILLED_IN.items()}),
    ],
)
def test_a_study_has_the_links_of_those_whom_it_lets_in(platform, expected):
    assert links_for(platform) == expected
