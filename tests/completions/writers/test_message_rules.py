"""What may be decided about a message in which situation."""

import pytest

from completions.choices import MessageState, MessageVerdict
from completions.writers.message_queries import REASONS, Obstacle, Situation, obstacle

ACCEPT, RETURN, REJECT = MessageVerdict.ACCEPTED, MessageVerdict.RETURNED, MessageVerdict.REJECTED
WAITING, RETURNED, ACCEPTED = (
    MessageState.WAITING,
    MessageState.RETURNED,
    MessageState.ACCEPTED,
)


def against(verdict, state, **facts):
    known = {"has_completion": state == ACCEPTED, "is_fixed": False, "is_frozen": False}
    return obstacle(verdict, Situation(state=state, **{**known, "is_gone": False, **facts}))


class TestNothing:
    @pytest.mark.parametrize(
        ("verdict", "state"),
        [
            *((verdict, WAITING) for verdict in MessageVerdict),
            (ACCEPT, RETURNED),
            (REJECT, RETURNED),
            (RETURN, ACCEPTED),
            (REJECT, ACCEPTED),
        ],
    )
    def test_stands_against_a_decision_in_a_state_that_is_open_to_it(self, verdict, state):
        assert against(verdict, state) is None

    @pytest.mark.parametrize("verdict", [ACCEPT, REJECT])
    @pytest.mark.parametrize("fact", ["is_frozen", "is_gone"])
    def test_stands_against_taking_or_refusing_what_waits(self, verdict, fact):
        assert against(verdict, WAITING, **{fact: True}) is None

    @pytest.mark.parametrize("fact", ["is_frozen", "is_fixed"])
    def test_stands_against_keeping_the_text_that_was_accepted_before(self, fact):
        assert against(REJECT, WAITING, has_completion=True, **{fact: True}) is None


class TestAClosedMessage:
    @pytest.mark.parametrize("verdict", MessageVerdict)
    @pytest.mark.parametrize(
        "state",
        [MessageState.TRIAL, MessageState.REJECTED, MessageState.LAPSED, MessageState.ERASED],
    )
    def test_is_open_to_nothing(self, verdict, state):
        assert against(verdict, state) == Obstacle.CLOSED

    @pytest.mark.parametrize(("verdict", "state"), [(RETURN, RETURNED), (ACCEPT, ACCEPTED)])
    def test_is_one_of_which_this_was_decided(self, verdict, state):
        assert against(verdict, state) == Obstacle.CLOSED


class TestAComparedText:
    @pytest.mark.parametrize(
        ("verdict", "state"), [(ACCEPT, WAITING), (RETURN, WAITING), (RETURN, ACCEPTED)]
    )
    def test_is_neither_replaced_nor_taken_back(self, verdict, state):
        assert against(verdict, state, has_completion=True, is_fixed=True) == Obstacle.FIXED


class TestAFrozenDataset:
    @pytest.mark.parametrize(
        ("verdict", "state"), [(RETURN, WAITING), (RETURN, ACCEPTED), (REJECT, ACCEPTED)]
    )
    def test_has_nothing_sent_or_taken_back(self, verdict, state):
        assert against(verdict, state, is_frozen=True) == Obstacle.FROZEN

    def test_has_no_text_replaced(self):
        assert against(ACCEPT, WAITING, has_completion=True, is_frozen=True) == Obstacle.FROZEN


class TestAWriterWhoIsGone:
    def test_gets_nothing_back(self):
        assert against(RETURN, WAITING, is_gone=True) == Obstacle.GONE

    def test_is_told_before_the_rest(self):
        assert against(RETURN, WAITING, is_gone=True, is_frozen=True) == Obstacle.GONE


def test_every_obstacle_is_told_in_words():
    assert set(REASONS) == set(Obstacle)
