"""When judgments of a pair make a preference, and which part a dialogue is in."""

import pytest

from ranking.exports.options import Rule
from ranking.exports.pairs import as_messages, preference, split_of

USUAL = Rule()


def votes(*signs):
    """Each sign from a person of their own."""
    return [(f"person {number}", sign) for number, sign in enumerate(signs)]


class TestPreference:
    def test_is_for_whom_the_majority_names(self):
        first_is_chosen, found = preference(votes(1, 2, -1), USUAL)

        assert first_is_chosen
        assert found == {
            "votes_chosen": 2,
            "votes_rejected": 1,
            "votes_tied": 0,
            "n_judgments": 3,
            "n_evaluators": 3,
            "agreement": pytest.approx(2 / 3, abs=1e-6),
            "margin": pytest.approx(1 / 3, abs=1e-6),
        }

    def test_mirrors_when_the_completions_are_exchanged(self):
        one, other = preference(votes(1, 1, -1), USUAL), preference(votes(-1, -1, 1), USUAL)

        assert (one[0], other[0]) == (True, False)
        assert (one[1]["agreement"], one[1]["margin"]) == (
            other[1]["agreement"],
            other[1]["margin"],
        )

    @pytest.mark.parametrize(
        "signs", [(), (1, -1), (0,), (0, 0), (2, -2, 0)], ids=lambda signs: str(len(signs))
    )
    def test_is_none_without_a_lead(self, signs):
        assert preference(votes(*signs), Rule(least_agreement=0.0)) is None

    def test_asks_for_judgments_enough(self):
        assert preference(votes(1, 1), Rule(least_judgments=3)) is None
        _, found = preference(votes(1, 1, 1), Rule(least_judgments=3))
        assert found["n_judgments"] == 3

    @pytest.mark.parametrize(("least", "is_there"), [(0.6, True), (0.61, False)])
    def test_asks_for_agreement_enough(self, least, is_there):
        found = preference(votes(1, 1, 1, -1, -1), Rule(least_agreement=least))

        assert (found is not None) is is_there

    def test_counts_ties_unless_they_are_left_out(self):
        given = votes(1, 0, 0)

        assert preference(given, USUAL) is None  # a third is no majority
        _, found = preference(given, Rule(leaves_ties_out=True))
        assert (found["agreement"], found["margin"], found["votes_tied"]) == (1.0, 1.0, 2.0)

    def test_gives_a_judge_of_both_orders_the_weight_of_one(self):
        twice = [("judge 1", 3), ("judge 1", 2), ("person 1", -1), ("person 2", -1)]

        first_is_chosen, found = preference(twice, USUAL)

        assert not first_is_chosen
        assert (found["votes_chosen"], found["votes_rejected"]) == (2.0, 1.0)
        assert (found["n_judgments"], found["n_evaluators"]) == (4, 3)

    def test_lets_a_judge_whom_the_order_sways_favour_neither(self):
        swayed = [("judge 1", 1), ("judge 1", -1)]

        assert preference(swayed, USUAL) is None
        _, found = preference([*swayed, ("person 1", 1)], USUAL)
        assert (found["votes_chosen"], found["votes_rejected"]) == (1.5, 0.5)


class TestSplits:
    def test_stay_as_they_are_and_have_their_shares(self):
        names = [f"dialogue {number}" for number in range(3000)]

        parts = [split_of(one, seed="esconv", rule=USUAL) for one in names]

        assert parts == [split_of(one, seed="esconv", rule=USUAL) for one in names]
        assert parts.count("test") / 3000 == pytest.approx(0.1, abs=0.02)
        assert parts.count("validation") / 3000 == pytest.approx(0.1, abs=0.02)

    def test_follow_from_the_seed(self):
        names = [f"dialogue {number}" for number in range(100)]
        rule = Rule(test=0.5)

        one, other = ([split_of(name, seed=seed, rule=rule) for name in names] for seed in "ab")

        assert one != other

    def test_may_be_for_training_alone(self):
        assert split_of("x", seed="", rule=Rule(validation=0, test=0)) == "train"


def test_messages_have_the_seeker_as_the_user():
    turns = [{"role": "seeker", "text": "Hi"}, {"role": "supporter", "text": "Hello"}]

    assert as_messages(turns) == [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Hello"},
    ]
