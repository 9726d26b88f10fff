"""Which judge is asked about what: no own family, balanced sides, orders and samples that grow."""

from collections import Counter
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from annotation.choices import Purpose, Side, StudyState
from annotation.judges import services
from annotation.models import Comparison, JudgeCall, JudgeRun
from completions.choices import SystemKind
from tests.helpers.factories import (
    NOW,
    make_comparison,
    make_completion,
    make_context,
    make_judge,
    make_judge_call,
    make_study,
    make_system,
)

pytestmark = pytest.mark.django_db


def make_comparisons(n: int, *, families: tuple[str, str] = ("fam-a", "fam-b")) -> list[Comparison]:
    study = make_study()
    systems = [make_system(family=family) for family in families]
    comparisons = []
    for _ in range(n):
        context = make_context()
        first, second = (make_completion(context=context, system=system) for system in systems)
        comparisons.append(make_comparison(study=study, first=first, second=second))
    return comparisons


def planned() -> list[tuple]:
    calls = JudgeCall.objects.order_by("pk")
    return list(calls.values_list("pk", "comparison", "judge", "first_side", "sample"))


class TestPlan:
    def test_every_judge_gets_every_comparison_once(self, now):
        comparisons = make_comparisons(4)
        judges = [make_judge(), make_judge()]

        n_added = services.plan_judge_calls(study=comparisons[0].study, judges=judges, now=now)

        planned = Counter(JudgeCall.objects.values_list("comparison", "judge"))
        assert n_added == 8
        assert planned == {(c.pk, judge.pk): 1 for c in comparisons for judge in judges}

    def test_planning_again_adds_what_is_new_alone(self, now):
        comparisons = make_comparisons(4)
        study, judges = comparisons[0].study, [make_judge()]
        services.plan_judge_calls(study=study, judges=judges, now=now)
        before = dict(JudgeCall.objects.values_list("pk", "first_side"))

        assert services.plan_judge_calls(study=study, judges=judges, now=now) == 0
        assert services.plan_judge_calls(study=study, judges=[*judges, make_judge()], now=now) == 4
        after = dict(JudgeCall.objects.filter(pk__in=before).values_list("pk", "first_side"))
        assert after == before

    @pytest.mark.parametrize("families", [("acme", "fam-b"), ("fam-a", "acme")])
    def test_a_judge_is_never_asked_about_its_own_family(self, now, families):
        comparisons = make_comparisons(3, families=families)
        judges = [make_judge(family="acme"), make_judge(family="other")]

        services.plan_judge_calls(study=comparisons[0].study, judges=judges, now=now)

        assert set(JudgeCall.objects.values_list("judge__family", flat=True)) == {"other"}

    def test_completions_of_people_have_no_family_to_exclude(self, now):
        context = make_context()
        human = make_completion(context=context, system=make_system(kind=SystemKind.HUMAN))
        original = make_completion(context=context, system=make_system(kind=SystemKind.ORIGINAL))
        comparison = make_comparison(first=human, second=original)

        assert services.plan_judge_calls(study=comparison.study, judges=[make_judge()], now=now)

    @pytest.mark.parametrize("place", ["first_family", "second_family"])
    def test_the_database_refuses_a_judge_of_a_systems_family(self, place):
        comparison = make_comparison()
        judge = make_judge(family=comparison.first.system.family)

        with pytest.raises(IntegrityError, match="own_family"), transaction.atomic():
            make_judge_call(
                comparison=comparison,
                judge=judge,
                **{"first_family": "x", "second_family": "y", place: judge.family},
            )

    def test_quality_checks_are_not_for_judges(self, now):
        comparison = make_comparison(purpose=Purpose.CHECK)

        assert not services.plan_judge_calls(study=comparison.study, judges=[make_judge()], now=now)

    def test_a_study_that_may_still_change_is_refused(self, now):
        study = make_study(locked_at=None, protocol_hash="", state=StudyState.DRAFT)

        with pytest.raises(services.StudyNotLockedError):
            services.plan_judge_calls(study=study, judges=[make_judge()], now=now)

    def test_sides_are_balanced_within_a_comparison_and_within_a_judge(self, now):
        comparisons = make_comparisons(20)
        judges = [make_judge() for _ in range(4)]

        for judge in judges:  # also when judges join one by one
            services.plan_judge_calls(study=comparisons[0].study, judges=[judge], now=now)

        for by in ("comparison", "judge"):
            counts = Counter(JudgeCall.objects.values_list(by, "first_side"))
            for key in JudgeCall.objects.values_list(by, flat=True):
                assert abs(counts[key, Side.A] - counts[key, Side.B]) <= 1

    def test_planned_calls_belong_to_their_run(self, now):
        comparisons = make_comparisons(2)
        study = comparisons[0].study
        run = JudgeRun.objects.create(study=study, plan={}, created_at=NOW)
        judge = make_judge()
        services.plan_judge_calls(study=study, judges=[judge], now=now)

        services.plan_judge_calls(study=study, judges=[judge], now=now, run=run, both_orders=True)

        assert run.calls.count() == 2
        assert JudgeCall.objects.filter(run=None).count() == 2


class TestOrdersAndSamples:
    def test_in_both_orders_each_comparison_is_asked_once_on_each_side(self, now):
        comparisons = make_comparisons(3)
        study, judges = comparisons[0].study, [make_judge(), make_judge()]

        assert (
            services.plan_judge_calls(study=study, judges=judges, now=now, both_orders=True) == 12
        )

        rows = Counter(JudgeCall.objects.values_list("comparison", "judge", "first_side"))
        assert set(rows.values()) == {1}
        assert len(rows) == 12

    def test_one_order_grows_to_both_and_keeps_what_was_drawn(self, now):
        comparisons = make_comparisons(5)
        study, judges = comparisons[0].study, [make_judge()]
        services.plan_judge_calls(study=study, judges=judges, now=now)
        before = planned()

        wanted = {"study": study, "judges": judges, "now": now, "both_orders": True}
        assert services.plan_judge_calls(**wanted) == 5
        assert services.plan_judge_calls(**wanted) == 0

        assert planned()[:5] == before
        rows = Counter(JudgeCall.objects.values_list("comparison", "first_side"))
        assert set(rows.values()) == {1}

    def test_samples_of_one_order_stay_in_the_order_that_was_drawn(self, now):
        comparisons = make_comparisons(5)
        study, judges = comparisons[0].study, [make_judge()]
        services.plan_judge_calls(study=study, judges=judges, now=now)
        drawn = dict(JudgeCall.objects.values_list("comparison", "first_side"))

        assert services.plan_judge_calls(study=study, judges=judges, now=now, samples=3) == 10
        assert services.plan_judge_calls(study=study, judges=judges, now=now, samples=3) == 0
        assert services.plan_judge_calls(study=study, judges=judges, now=now, samples=2) == 0

        rows = JudgeCall.objects.values_list("comparison", "first_side", "sample")
        assert set(rows) == {
            (pk, side, sample) for pk, side in drawn.items() for sample in range(3)
        }

    def test_samples_and_orders_multiply(self, now):
        study = make_comparisons(2)[0].study
        wanted = {"study": study, "judges": [make_judge()], "now": now}
        services.plan_judge_calls(**wanted, samples=2)

        assert services.plan_judge_calls(**wanted, samples=3, both_orders=True) == 8

        rows = JudgeCall.objects.values_list("comparison", "first_side", "sample")
        assert len(set(rows)) == 12

    def test_after_both_orders_more_samples_of_one_go_to_the_order_drawn_first(self, now):
        study = make_comparisons(1)[0].study
        wanted = {"study": study, "judges": [make_judge()], "now": now}
        services.plan_judge_calls(**wanted)
        drawn = JudgeCall.objects.get().first_side
        services.plan_judge_calls(**wanted, both_orders=True)

        assert services.plan_judge_calls(**wanted, samples=2) == 1

        assert JudgeCall.objects.get(sample=1).first_side == drawn

    def test_samples_count_once_in_the_balance_of_sides(self, now):
        comparisons = make_comparisons(9)
        study = comparisons[0].study

        for _ in range(3):
            services.plan_judge_calls(study=study, judges=[make_judge()], now=now, samples=4)

        for by in ("comparison", "judge"):
            counts = Counter(JudgeCall.objects.filter(sample=0).values_list(by, "first_side"))
            for key in JudgeCall.objects.values_list(by, flat=True):
                assert abs(counts[key, Side.A] - counts[key, Side.B]) <= 1

    def test_a_plan_can_be_counted_without_being_made(self, now):
        comparisons = make_comparisons(3, families=("acme", "fam-b"))
        study = comparisons[0].study
        free, own = make_judge(slug="free"), make_judge(slug="own", family="acme")
        services.plan_judge_calls(study=study, judges=[free, own], now=now)
        wanted: dict[str, Any] = {
            "study": study,
            "judges": [free, own],
            "both_orders": True,
            "samples": 2,
        }

        counted = services.count_wanted_judge_calls(**wanted)

        assert counted == {"free": 9, "own": 0}
        assert JudgeCall.objects.count() == 3
        assert services.plan_judge_calls(**wanted, now=now) == 9

    def test_counting_any_number_takes_two_queries(self, django_assert_num_queries):
        study = make_comparisons(5)[0].study
        judges = [make_judge(), make_judge()]

        with django_assert_num_queries(2):
            counted = services.count_wanted_judge_calls(study=study, judges=judges)

        assert sum(counted.values()) == 10
