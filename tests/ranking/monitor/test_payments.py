"""What the rules of crowd platforms say about the pay of a submission."""

import pytest

from annotation.choices import SubmissionState
from annotation.session.endings import Way
from ranking.monitor.paying import LABELS, MESSAGES, SHORTEST_MESSAGE, WHY, Advice, SubmissionWork


def work(**changes):
    usual = {"state": SubmissionState.ACTIVE, "way": Way.COMPLETE, "n_failed": 0}
    return SubmissionWork(**{**usual, "is_excluded": False, "minutes": 40, **changes})


@pytest.mark.parametrize(
    ("changes", "advice"),
    [
        ({}, Advice.APPROVE),
        ({"n_failed": 1}, Advice.APPROVE),
        ({"n_failed": 2}, Advice.REJECTABLE),
        ({"n_failed": 1, "minutes": 4}, Advice.REJECTABLE),
        ({"is_excluded": True}, Advice.LOOK),
        ({"way": Way.PARTIAL, "n_failed": 5}, Advice.PART),
        ({"way": Way.SCREENED_OUT}, Advice.PART),
        ({"way": Way.NO_CONSENT}, Advice.RETURN),
        ({"way": Way.FULL}, Advice.RETURN),
        ({"way": Way.TIMED_OUT}, Advice.RETURN),
        ({"way": None}, Advice.WAIT),
        *(({"state": one}, Advice.SETTLED) for one in SubmissionState if one != "ACTIVE"),
    ],
)
def test_advice_follows_the_work(changes, advice):
    assert work(**changes).advice() == advice


def test_each_advice_has_words_and_a_rejection_is_explained_at_length():
    assert set(LABELS) == set(WHY) == set(Advice)
    assert set(Advice) - set(MESSAGES) == {Advice.WAIT, Advice.SETTLED}
    assert len(str(MESSAGES[Advice.REJECTABLE])) >= SHORTEST_MESSAGE
