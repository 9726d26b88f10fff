"""Which judge is asked about what: no own family, balanced sides, orders and samples that grow."""

from collections import Counter
from typing import Any

import pytest

from annotation.choices import Protocol, Purpose, Side, StudyState
from annotation.judges.services import runs
from annotation.models import Comparison, JudgeCall, JudgeRun
from completions.choices import SystemKind
from tests.helpers.factories import (
    NOW,
    make_alone,
    make_comparison,
    make_completion,
    make_context,
    make_judge,
    make_study,
    make_system,
)

pytestmark = pytest.mark.django_db


def make_study_of(n: int, *, families: tuple[str, str] = ("fam-a", "fam-b")):
    """Make a study that compares two systems of these families in so many contexts."""
    study = make_study()
    systems = [make_system(family=family) for family in families]
    for _ in range(n):
        context = make_context()
        first, second = (make_completion(context=context, system=system) for system in systems)
        make_comparison(study=study, first=first, second=second)
    return study


def plan(study, *judges, run=None, **asking):
    """Plan calls, and return how many were added."""
    return runs.plan_judge_calls(
        study=study, judges=judges, now=NOW, run=run, asking=runs.Asking(**asking)
    )


def planned(*fields):
    """Return how many calls there are of each kind."""
    return Counter(JudgeCall.objects.values_list(*fields))


def sides_by(field):
    """Return how often the first text stood on each side, by comparison or by judge."""
    first_samples = JudgeCall.objects.filter(sample=0)
    keys = first_samples.values_list(field, flat=True).distinct()
    counts = Counter(first_samples.values_list(field, "first_side"))
    return [(counts[key, Side.A], counts[key, Side.B]) for key in keys]


class TestPlan:
    def test_every_judge_gets_every_comparison_once_and_a_new_judge_all(self):
        study, judges = make_study_of(4), [make_judge(), make_judge()]
        pairs = Comparison.objects.values_list("pk", flat=True)

        assert plan(study, *judges) == 8

        assert planned("comparison", "judge") == {
            (pair, judge.pk): 1 for pair in pairs for judge in judges
        }
        before = dict(JudgeCall.objects.values_list("pk", "first_side"))
        assert plan(study, *judges) == 0
        assert plan(study, *judges, make_judge()) == 4
        kept = JudgeCall.objects.filter(pk__in=before).values_list("pk", "first_side")
        assert dict(kept) == before

    @pytest.mark.parametrize("families", [("acme", "fam-b"), ("fam-a", "acme")])
    def test_a_judge_is_never_asked_about_its_own_family(self, families):
        plan(make_study_of(3, families=families), make_judge(family="acme"), make_judge(family="o"))

        assert planned("judge__family") == {("o",): 3}

    def test_completions_of_people_have_no_family_to_exclude(self):
        context = make_context()
        human = make_completion(context=context, system=make_system(kind=SystemKind.HUMAN))
        original = make_completion(context=context, system=make_system(kind=SystemKind.ORIGINAL))

        assert plan(make_comparison(first=human, second=original).study, make_judge())

    @pytest.mark.parametrize("both_orders", [True, False])
    def test_a_message_alone_is_put_to_each_judge_once_but_to_none_of_its_family(self, both_orders):
        study = make_study(protocol=Protocol.LIKERT)
        alone = [make_alone(study=study) for _ in range(3)]
        own = make_completion(system=make_system(family="acorn"), context=alone[0].context)
        make_comparison(study=study, first=own)
        judges = [make_judge(family="acorn"), make_judge()]

        assert plan(study, *judges, both_orders=both_orders) == 7

        assert planned("first_side", "second_family") == {(Side.A, ""): 7}
        assert [call.judge for call in JudgeCall.objects.filter(comparison__first=own)] == [
            judges[1]
        ]

    def test_quality_checks_are_not_for_judges(self):
        assert not plan(make_comparison(purpose=Purpose.CHECK).study, make_judge())

    def test_a_study_that_may_still_change_is_refused(self):
        with pytest.raises(runs.StudyNotLockedError):
            plan(make_study(locked_at=None, protocol_hash="", state=StudyState.DRAFT), make_judge())

    @pytest.mark.parametrize("samples", [1, 4])
    def test_sides_are_balanced_within_a_comparison_and_within_a_judge(self, samples):
        study = make_study_of(19)

        for _ in range(4):  # also when judges join one by one
            plan(study, make_judge(), samples=samples)

        for field in ("comparison", "judge"):
            assert all(abs(as_a - as_b) <= 1 for as_a, as_b in sides_by(field))

    def test_planned_calls_belong_to_their_run(self):
        study, judge = make_study_of(2), make_judge()
        run = JudgeRun.objects.create(study=study, plan={}, created_at=NOW)
        plan(study, judge)

        plan(study, judge, run=run, both_orders=True)

        assert planned("run") == {(None,): 2, (run.pk,): 2}


class TestOrdersAndSamples:
    def test_in_both_orders_each_comparison_is_asked_once_on_each_side(self):
        assert plan(make_study_of(3), make_judge(), make_judge(), both_orders=True) == 12

        rows = planned("comparison", "judge", "first_side")
        assert (len(rows), set(rows.values())) == (12, {1})

    def test_one_order_grows_to_both_and_keeps_what_was_drawn(self):
        study, judge = make_study_of(5), make_judge()
        plan(study, judge)
        fields = ("pk", "comparison", "first_side", "sample")
        before = planned(*fields)

        assert plan(study, judge, both_orders=True) == 5
        assert plan(study, judge, both_orders=True) == 0

        assert before <= planned(*fields)
        assert set(planned("comparison", "first_side").values()) == {1}

    def test_samples_of_one_order_stay_in_the_order_that_was_drawn(self):
        study, judge = make_study_of(5), make_judge()
        plan(study, judge)
        drawn = planned("comparison", "first_side")

        assert [plan(study, judge, samples=n) for n in (3, 3, 2)] == [10, 0, 0]

        assert planned("comparison", "first_side", "sample") == {
            (*place, sample): 1 for place in drawn for sample in range(3)
        }

    def test_after_both_orders_more_samples_of_one_go_to_the_order_drawn_first(self):
        study, judge = make_study_of(1), make_judge()
        plan(study, judge)
        drawn = JudgeCall.objects.get().first_side
        plan(study, judge, both_orders=True)

        assert plan(study, judge, samples=2) == 1

        assert JudgeCall.objects.get(sample=1).first_side == drawn

    def test_a_plan_can_be_counted_without_being_made(self, django_assert_num_queries):
        study = make_study_of(3, families=("acme", "fam-b"))
        judges = [make_judge(slug="free"), make_judge(slug="own", family="acme")]
        plan(study, *judges)
        wanted: dict[str, Any] = {"both_orders": True, "samples": 2}

        with django_assert_num_queries(2):
            counted = runs.count_wanted_judge_calls(
                study=study, judges=judges, asking=runs.Asking(**wanted)
            )

        assert counted == dict(zip(judges, (9, 0), strict=True))
        assert JudgeCall.objects.count() == 3
        assert plan(study, *judges, **wanted) == 9
