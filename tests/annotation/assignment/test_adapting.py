"""An adaptive plan asks first for what would tell most."""

import pytest

from annotation.choices import PlanKind, Protocol
from annotation.models import Comparison
from annotation.planning import services as annotation
from ranking.boards import board_of
from ranking.exports.options import ExportRequest
from ranking.exports.sources import export_of
from ranking.fits import services
from ranking.results.serializers import BoardOut
from tests.helpers.factories import (
    HOUR,
    NOW,
    make_alone,
    make_comparison,
    make_completion,
    make_context,
    make_dialogue,
    make_judgment,
    make_lease,
    make_llm_judgment,
    make_study,
    make_system,
)
from tests.helpers.judged import make_judged_study

pytestmark = pytest.mark.django_db

LATER = NOW + HOUR


@pytest.fixture
def systems():
    return [make_system(slug=f"system-{letter}") for letter in "abcd"]


def pair(study, one, other, **fields):
    """Make a comparison of two systems in a context of its own."""
    context = make_context(dialogue=make_dialogue(dataset=study.dataset))
    first, second = (make_completion(context=context, system=system) for system in (one, other))
    return make_comparison(study=study, first=first, second=second, **fields)


def judge(comparison, n=1):
    for _ in range(n):
        make_judgment(comparison=comparison)


def adapt(study):
    return services.adapt_plan(study=study, now=LATER)


def weight(comparison):
    return Comparison.objects.get(pk=comparison.pk).weight


class TestAdaptPlan:
    def test_prefers_the_pair_that_was_judged_least(self, systems):
        study = make_study(plan=PlanKind.ADAPTIVE)
        often, seldom = pair(study, *systems[:2]), pair(study, *systems[1:3])
        judge(often, 12)
        judge(seldom)

        changed = [adapt(study), adapt(study)]

        assert changed == [2, 0]
        assert weight(seldom) > 2 * weight(often)

    def test_prefers_a_system_that_is_new(self, systems):
        study = make_judged_study(
            study=make_study(plan=PlanKind.ADAPTIVE), systems=systems[:3], n_dialogues=6
        )
        known, new = pair(study, *systems[:2]), pair(study, systems[0], systems[3])

        adapt(study)

        assert weight(new) > weight(known)

    def test_counts_judgments_by_people_alone(self, systems):
        study = make_study(plan=PlanKind.ADAPTIVE)
        one, other = pair(study, *systems[:2]), pair(study, *systems[2:])
        for _ in range(5):
            make_llm_judgment(comparison=one)

        adapt(study)

        assert weight(one) == pytest.approx(weight(other))

    @pytest.mark.parametrize(
        "fields",
        [{"plan": "BALANCED"}, {"plan": "ADAPTIVE", "state": "CLOSED"}],
        ids=["balanced", "closed"],
    )
    def test_leaves_other_studies_alone(self, systems, fields):
        study = make_study(**fields)
        judge(pair(study, *systems[:2]), 5)
        open_one = pair(study, *systems[1:3])

        assert adapt(study) == 0
        assert weight(open_one) == 1.0

    def test_has_nothing_to_weigh_where_there_are_no_pairs(self):
        likert = make_study(plan=PlanKind.ADAPTIVE, protocol=Protocol.LIKERT)
        make_alone(study=likert)

        assert adapt(likert) == adapt(make_study(plan=PlanKind.ADAPTIVE)) == 0


def test_a_fit_of_people_s_judgments_weighs_once_however_often_the_task_runs(systems):
    study = make_judged_study(study=make_study(plan=PlanKind.ADAPTIVE), systems=systems[:3])
    new = pair(study, systems[0], systems[3])
    claimed = services.claim_changed_fits(study=study, now=LATER)

    done = [services.fit_and_adapt(fit_id=fit_id, clock=lambda: LATER) for fit_id in 2 * claimed]

    assert done == [True] * len(claimed) + [False] * len(claimed)
    assert weight(new) != 1.0


class TestWeighComparisons:
    def test_leaves_full_comparisons_checks_and_pairs_without_a_weight_as_they_are(self, systems):
        study = make_study(plan=PlanKind.ADAPTIVE)
        others = [
            pair(study, *systems[:2], slots_left=0),
            pair(study, *systems[:2], purpose="CHECK"),
            pair(study, *systems[2:]),
        ]
        free = pair(study, *systems[:2])

        changed = annotation.weigh_comparisons(
            study=study, weights={frozenset({"system-a", "system-b"}): 2.5}
        )

        assert (changed, weight(free)) == (1, 2.5)
        assert [weight(one) for one in others] == [1.0, 1.0, 1.0]


class TestWhatLeaves:
    def test_says_the_plan_and_the_probability_of_each_judgment(self, systems):
        study = make_study(plan=PlanKind.ADAPTIVE)
        comparison = pair(study, *systems[:2])
        lease = make_lease(comparison=comparison, sampling_probability=0.125)
        make_judgment(comparison=comparison, lease=lease, rater=lease.rater)

        table, rows = export_of(study, "judgments", ExportRequest(), now=LATER)
        header, (row,) = [column.name for column in table.columns], rows

        found = dict(zip(header, row, strict=True))
        assert (found["plan"], found["sampling_probability"]) == ("ADAPTIVE", 0.125)

    def test_says_the_plan_with_the_ratings(self, systems):
        study = make_judged_study(study=make_study(plan=PlanKind.ADAPTIVE), systems=systems)

        fits = services.refit_study(study=study, clock=lambda: LATER)

        assert all(BoardOut(board_of(fit)).data["conditions"]["plan"] == "ADAPTIVE" for fit in fits)
        assert fits
