"""Every call to a judge has one fate, whatever its state and its error."""

import re
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.judges.ensembles import Account, Fate, UnknownCallError, account, fate
from annotation.judges.ensembles.accounts import FAILURES, NOT_FAILED
from annotation.raters.services.withdrawing import ERASED
from completions.choices import CallState
from completions.llm import exchange, failures, wrapping

ROOT = Path(__file__).resolve().parents[3]
WRITTEN = re.compile(r"\b(?:error_)?kind\"?(?: ?= ?|: )f?\"([a-z_]+)\"")


def kinds_in_the_code():
    """Every kind of error that some line stores with a call."""
    files = [
        *(ROOT / "completions/llm").glob("*.py"),
        *ROOT.glob("completions/*/services/**/*.py"),
        *ROOT.glob("annotation/*/services/*.py"),
    ]
    found = {kind for path in files for kind in WRITTEN.findall(path.read_text(encoding="utf-8"))}
    tables = {*failures._PERMANENT_KINDS.values(), *failures._TRANSIENT_KINDS.values()}
    tables |= {*exchange._KINDS, exchange.UNKNOWN, wrapping.ONLY_THOUGHTS, wrapping.UNCLEAR}
    return sorted(found | tables | {ERASED["error_kind"]})


KINDS = kinds_in_the_code()
STORABLE = [
    (state, kind)
    for state, kind in product(CallState.values, ["", *KINDS, "status_418"])
    if kind or state not in {CallState.INVALID, CallState.FAILED}
]


def test_the_kinds_found_in_the_code_are_more_than_a_few():
    assert {"invalid_answer", "timeout", "lost", "erased", "configuration", "cut_stream"} <= {
        *KINDS
    }


def test_every_state_of_a_call_is_known():
    assert {*NOT_FAILED, "FAILED"} == set(CallState.values)


def test_every_failure_with_a_place_of_its_own_exists():
    assert set(FAILURES) <= set(KINDS)


def test_a_call_has_one_fate(subtests):
    for state, kind in STORABLE:
        with subtests.test(state, kind=kind):
            found = account([(state, kind, 3)])

            assert dict(found.fates) == {fate(state, kind): 3}
            assert found.n_calls == 3
            assert dict(found.others) == ({kind: 3} if fate(state, kind) is Fate.OTHER else {})


@given(st.lists(st.tuples(st.sampled_from(STORABLE), st.integers(0, 60_000))))
def test_the_fates_sum_to_the_calls(rows):
    found = account((state, kind, n) for (state, kind), n in rows)

    assert sum(found.n(one) for one in Fate) == sum(n for _, n in rows) == found.n_calls
    assert sum(found.others.values()) == found.n(Fate.OTHER)


@pytest.mark.parametrize(
    ("state", "kind", "expected"),
    [
        ("DONE", "", Fate.VALID),
        ("INVALID", "invalid_answer", Fate.INVALID),
        ("FAILED", "content_filtered", Fate.REFUSED),
        ("FAILED", "truncated", Fate.TRUNCATED),
        ("FAILED", "empty", Fate.EMPTY),
        ("FAILED", "timeout", Fate.TIMED_OUT),
        ("FAILED", "server_error", Fate.OTHER),
        ("PENDING", "rate_limited", Fate.WAITING),
        ("PENDING", "timeout", Fate.WAITING),
        ("CLAIMED", "", Fate.IN_FLIGHT),
    ],
)
def test_a_fate_is_what_the_state_and_the_error_say(state, kind, expected):
    assert fate(state, kind) is expected


@pytest.mark.parametrize(("state", "kind"), [("FAILED", ""), ("LATER", "timeout"), ("", "")])
def test_what_cannot_be_accounted_for_is_refused(state, kind):
    with pytest.raises(UnknownCallError, match="cannot be accounted for"):
        fate(state, kind)


def test_nothing_asked_is_an_account_of_no_calls():
    assert account([]) == Account()
    assert Account().n_calls == Account().n(Fate.VALID) == 0
