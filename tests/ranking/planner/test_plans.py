"""What a study needs, from what an analysis kept; and before any data."""

import math

import pytest

from annotation.models import Study
from ranking.numerics.elo import ELO_PER_LOG_UNIT
from ranking.numerics.planning.needs import Wish
from ranking.planner.plans import HEADER, Bill, Rates, first_plan, plan_of
from ranking.planner.queries import judged_per_context

WISH = Wish(20 / ELO_PER_LOG_UNIT)
LAYOUT = {"n_systems": 5, "n_pairs": 10, "per_pair": 3}


def neighbours(first="a", second="b", *, between=0.0004, within=0.001, **more):
    row = {"first": first, "second": second, "difference": 0.1, "n_units": 100}
    return row | {"between": between, "within": within, "raters": 0.0, "freedom": 100.0} | more


def kept(*rows, n_judgments=2_000):
    return {
        "n_judgments": n_judgments,
        "n_comparisons": 500,
        "n_evaluators": 20,
        "n_systems": 3,
        "neighbours": list(rows or [neighbours()]),
    }


class TestAPlan:
    def test_spends_judgments_on_the_least_certain_neighbours(self):
        plan = plan_of(kept(neighbours(), neighbours("b", "c", within=0.004)), WISH, Rates())

        sure, unsure = plan.pairs
        assert plan.same is not None
        assert plan.same.n_judgments == unsure.judgments_more > sure.judgments_more
        assert plan.per_comparison == pytest.approx(
            4 * (1 + unsure.judgments_more / 2_000), rel=0.01
        )
        assert plan.n_dialogues == unsure.dialogues_more
        assert plan.new.n_judgments == 20 * unsure.dialogues_more

    def test_says_when_dialogues_are_too_few(self):
        plan = plan_of(kept(neighbours(between=0.01)), WISH, Rates())

        assert plan.same is None
        assert (plan.n_limited, plan.is_known) == (1, True)
        assert plan.pairs[0].judgments_more is None
        assert plan.new.n_judgments > 0

    def test_says_when_nobody_knows_and_leaves_as_rows_without_infinities(self):
        unknown = neighbours(between=0.01, within=None)

        plan = plan_of(kept(unknown, neighbours()), WISH, Rates())

        assert (plan.same, plan.n_limited, plan.is_known) == (None, 0, False)
        header, *rows = plan.rows()
        assert header == HEADER
        assert rows == [
            ("a", "b", 17.372, 17.372, 0.2046, None, False, None, 495, 379, 662, 9900),
            ("a", "b", 17.372, 6.5, 0.8614, 0, False, 0.9999, 0, 0, 9, 0),
        ]

    def test_asks_for_nothing_where_there_is_enough(self):
        plan = plan_of(kept(), Wish(1.0), Rates(price=2.0))

        assert plan.n_met == 1
        assert (plan.same, plan.new) == (Bill(0, None, None, 0.0), Bill(0, None, None, 0.0))

    def test_has_no_number_beyond_all_bounds(self):
        plan = plan_of(kept(), Wish(1e-9), Rates())

        assert (plan.new, plan.n_dialogues) == (None, None)
        assert plan.pairs[0].dialogues_high is None


class TestABill:
    def test_counts_people_hours_and_money(self):
        assert Bill.of(1_000, Rates(price=0.25, seconds=36.0, per_person=30.0)) == Bill(
            1_000, 34, 10.0, 250.0
        )

    def test_does_not_count_what_is_not_known(self):
        assert Bill.of(1_000, Rates()) == Bill(1_000, None, None, None)


class TestAFirstPlan:
    def test_is_the_closed_form_in_whole_contexts(self):
        """16 (K - 1) / 4 judgments per squared error, 2.8016 errors, 1.4 for the correlation."""
        found = first_plan(WISH, Rates(), correlation=0.2, **LAYOUT)

        judgments = 16 * (2.8015852 / WISH.difference) ** 2 * 1.4
        assert found.design_effect == pytest.approx(1.4)
        assert found.n_contexts == math.ceil(judgments / 30)
        assert found.bill.n_judgments == 30 * found.n_contexts

    def test_takes_more_where_the_level_holds_for_all(self):
        joint = Wish(WISH.difference, is_joint=True)

        found = [
            first_plan(wish, Rates(), correlation=0.0, **LAYOUT).n_contexts
            for wish in (WISH, joint)
        ]

        assert found[0] < found[1]

    @pytest.mark.parametrize(("wanted", "pairs"), [(0, 10), (4, 4), (99, 10)])
    def test_judges_as_many_pairs_of_a_context_as_there_are(self, wanted, pairs):
        assert judged_per_context(Study(pairs_per_context=wanted), 5) == pairs
