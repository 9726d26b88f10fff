"""How fits are claimed, computed, refused and stored."""

import dataclasses
import functools
import itertools
from contextlib import nullcontext

import pytest

from completions.models import Context, System
from completions.runs.services import exclusive
from ranking.choices import ContextSet, EvaluatorPool, FitState
from ranking.fits import estimate
from ranking.fits import services as fit_services
from ranking.fits.services import claiming, running
from ranking.judgments.analysis_set import Selection
from ranking.judgments.frames.groups import read_groups
from ranking.judgments.frames.keeping import keep_counts
from ranking.judgments.method import MOST_DRAWS
from ranking.models import DimensionRate, Fit
from ranking.numerics.bradley_terry import fit_bradley_terry
from tests.helpers.factories import (
    HOUR,
    make_comparison,
    make_completion,
    make_context,
    make_judge,
    make_judgment,
    make_llm_judgment,
    make_rater,
    make_study,
    make_system,
)
from tests.helpers.factories_written_once import make_exclusion, make_fit
from tests.helpers.judged import fit_one, judge_all_pairs, make_judged_study, newest_fit
from tests.helpers.threads import doing_elsewhere

pytestmark = pytest.mark.django_db

HUMAN, LLM, COMBINED = EvaluatorPool.HUMAN, EvaluatorPool.LLM, EvaluatorPool.COMBINED


def counted(study, now, pool=COMBINED, context_set=ContextSet.ALL):
    return read_groups(Selection(study, pool, context_set, now))


def claim(study, now, pool=HUMAN):
    return fit_services.claim_fit(study=study, pool=pool, context_set=ContextSet.ALL, now=now)


def fitted(study, now, pool=HUMAN):
    return fit_one(study, now, pool)


class TestClaimFit:
    def test_records_what_the_fit_will_rest_on_and_is_had_once(self, now):
        study = make_judged_study(with_llm=True)

        fit = claim(study, now, COMBINED)

        assert (fit.state, fit.n_judgments) == (FitState.RUNNING, 24)
        assert (fit.as_of, fit.claimed_at) == (now, now)
        assert (fit.method["strength"], fit.method["replicates"]) == ("soft", 200)
        assert claim(study, now + HOUR, COMBINED) is None
        assert study.fits.count() == 1

    def test_claims_without_reading_the_judgments(self, now, django_assert_max_num_queries):
        study = make_judged_study(with_llm=True)

        keep_counts(study=study, now=now)
        # what is kept is looked at, brought up for the answers since, and read; then the claim
        with django_assert_max_num_queries(24) as asked:
            claim(study, now, COMBINED)

        assert not any("COPY" in query["sql"] for query in asked)

    def test_nothing_is_claimed_without_judgments(self, now):
        assert claim(make_study(), now) is None

    def test_the_method_follows_the_study(self, now):
        study = make_judged_study()
        study.content["soft_scores"] = {"slightly": 1, "much": 5}

        method = claim(study, now).method

        assert (method["slightly"], method["much"]) == (1, 5)


class TestClaimChangedFits:
    def test_claims_each_pool_and_context_set_with_judgments_once(self, now):
        study = make_judged_study(with_llm=True)

        claimed = fit_services.claim_changed_fits(study=study, now=now)

        assert len(claimed) == study.fits.count() == 6
        assert fit_services.claim_changed_fits(study=study, now=now) == []

    def test_a_new_judgment_by_a_person_leaves_the_judges_fit_alone(self, now):
        study = make_judged_study(with_llm=True)
        fit_services.claim_changed_fits(study=study, now=now)
        make_judgment(comparison=study.comparisons.first())

        claimed = fit_services.claim_changed_fits(study=study, now=now + HOUR)

        pools = Fit.objects.filter(pk__in=claimed).values_list("pool", flat=True)
        assert set(pools) == {HUMAN, COMBINED}

    def test_an_exclusion_taken_back_gives_a_newer_fit_of_the_same_ratings(self, now, admin_user):
        study = make_judged_study()
        rater = make_judgment(comparison=study.comparisons.first(), verdict=-2).rater
        taken_back = {"is_excluded": False, "reason": "misread", "decided_by": admin_user}
        fits = [fitted(study, now)]
        for n, decision in enumerate(({}, taken_back), start=1):
            make_exclusion(rater=rater, decided_at=now + n * HOUR, **decision)
            fits.append(fitted(study, now + n * HOUR))

        assert [fit.n_judgments for fit in fits] == [13, 12, 13]
        assert newest_fit(study, HUMAN) == fits[2]
        first, second, third = ([*fit.ratings.values_list("system", "elo")] for fit in fits)
        assert sorted(first) == sorted(third) != sorted(second)


class TestReclaimLostFits:
    def test_takes_over_a_claim_whose_worker_is_gone_and_no_other(self, now):
        lost = make_fit(claimed_at=now)
        make_fit(claimed_at=now + HOUR)
        make_fit(claimed_at=now, state=FitState.DONE, ended_at=now)

        assert fit_services.reclaim_lost_fits(now=now + HOUR) == [lost.pk]
        assert fit_services.reclaim_lost_fits(now=now + HOUR) == []

    def test_leaves_one_that_takes_long_to_whoever_computes_it(self, now):
        fit = make_fit(claimed_at=now)

        with doing_elsewhere(f"computing fit {fit.pk}"):
            assert fit_services.reclaim_lost_fits(now=now + HOUR) == []
            assert not fit_services.run_fit(fit_id=fit.pk, clock=lambda: now)
        assert fit_services.reclaim_lost_fits(now=now + HOUR) == [fit.pk]


def called(*slugs):
    return [make_system(slug=slug) for slug in slugs]


def judged_once(pairs):
    """Return a study in which the first of each pair of systems won, in a context of its own."""
    study = make_study()
    for pair in pairs:
        judge_all_pairs(study, make_context(), pair, lambda *_: 1, make_rater(study=study))
    return study


def simulate_nothing(study):
    pass


def simulate_a_system(study):
    slug = study.comparisons.first().first.system.slug
    System.objects.filter(slug=slug).update(is_simulated=True, name="Simulated one")


def simulate_a_judge(study):
    judge = make_judge(name="Simulated judge", is_simulated=True)
    make_llm_judgment(comparison=study.comparisons.first(), judge=judge)


def simulate_contexts(study):
    Context.objects.filter(comparisons__study=study).update(is_simulated=True)


class TestRunFit:
    def test_stores_one_rating_per_system_and_what_they_rest_on(self, now):
        study = make_judged_study(with_llm=True)

        fit = fitted(study, now, COMBINED)

        ratings = list(fit.ratings.order_by("rank"))
        elos = [rating.elo for rating in ratings]
        assert (fit.state, fit.ended_at, fit.refusal) == (FitState.DONE, now, "")
        assert (len(elos), sum(elos)) == (3, pytest.approx(4500.0))
        assert elos == sorted(elos, reverse=True)
        assert sum(rating.wins for rating in ratings) == sum(r.losses for r in ratings)
        assert (fit.n_judgments, fit.n_units, fit.diagnostics["n_raters"]) == (24, 4, 1)
        assert len(fit.diagnostics["judges"]) == 1
        assert fit.inputs_hash == counted(study, now, COMBINED).inputs_hash()

    @pytest.mark.parametrize(
        ("simulate", "of_people", "of_judges"),
        [
            (simulate_nothing, False, False),
            (simulate_a_system, True, True),
            (simulate_a_judge, False, True),
            (simulate_contexts, True, True),
        ],
    )
    def test_says_when_anything_that_it_rests_on_is_simulated(
        self, now, simulate, of_people, of_judges
    ):
        study = make_judged_study(with_llm=True)
        simulate(study)

        found = fitted(study, now, HUMAN), fitted(study, now, LLM)
        assert [fit.is_simulated for fit in found] == [of_people, of_judges]
        told = ("has_simulated_evaluators", "has_simulated_contexts")
        is_of_contexts = simulate is simulate_contexts
        assert [[fit.diagnostics[name] for name in told] for fit in found] == [
            [False, is_of_contexts],
            [simulate is simulate_a_judge, is_of_contexts],
        ]

    def test_two_systems_have_the_rating_of_the_closed_form(self, now):
        systems = called("a", "b")
        study = make_judged_study(systems=systems, verdict=lambda d, _i, _j: 2 if d else -1)

        fit = fitted(study, now)

        # three wins of strength 4 and one loss of strength 2: 2.9 against 1.1 soft wins
        best = fit.ratings.get(system=systems[0])
        assert best.elo - 1500.0 == pytest.approx(200.0 * 0.42103, abs=0.01)
        assert (best.wins, best.losses, best.ties) == (3, 1, 0)

    def test_stores_the_share_of_marks_won_per_dimension(self, now):
        study = make_judged_study(with_llm=True, n_dialogues=3)

        fit = fitted(study, now, LLM)

        rates = DimensionRate.objects.filter(rating__fit=fit)
        assert {rate.dimension for rate in rates} == {"H"}
        assert sum(rate.n_marks for rate in rates) == 2 * sum(rate.wins for rate in rates) == 18

    def test_the_seed_of_the_method_decides_the_intervals(self, now):
        study = make_judged_study()
        counts = counted(study, now, HUMAN)
        method = claiming.method_of(study)

        once, again = (estimate.estimate_ratings(counts, method) for _ in range(2))
        other = estimate.estimate_ratings(counts, dataclasses.replace(method, seed=1))

        assert once.elo_se.tolist() == again.elo_se.tolist() != other.elo_se.tolist()

    def test_two_workers_at_once_store_once(self, now, monkeypatch):
        fit = claim(make_judged_study(), now)
        compute = estimate.estimate_ratings

        def while_another_finishes(counts, method):
            monkeypatch.setattr(running, "estimate_ratings", compute)
            assert fit_services.run_fit(fit_id=fit.pk, clock=lambda: now)
            return compute(counts, method)

        monkeypatch.setattr(running, "estimate_ratings", while_another_finishes)
        # As where the database was restarted, which forgets who works.
        monkeypatch.setattr(exclusive, "sole_worker", nullcontext)

        assert fit_services.run_fit(fit_id=fit.pk, clock=lambda: now + HOUR) is False
        assert fit.ratings.count() == 3

    def test_gives_the_claim_up_when_a_judgment_came_in_late(self, now):
        study = make_judged_study()
        fit = claim(study, now)
        make_judgment(comparison=study.comparisons.first())

        assert fit_services.run_fit(fit_id=fit.pk, clock=lambda: now) is False
        assert not study.fits.exists()
        assert claim(study, now).n_judgments == 13

    def test_refuses_systems_that_nothing_connects_and_names_what_would_join_them(self, now):
        study = make_judged_study(systems=called("a", "b"))
        make_judged_study(systems=called("c", "d"), study=study)

        fit = fitted(study, now)

        assert (fit.state, fit.ratings.exists()) == (FitState.REFUSED, False)
        assert "2 groups" in fit.refusal
        assert fit.diagnostics["components"] == [["a", "b"], ["c", "d"]]
        (joining,) = fit.diagnostics["joining"]
        both = {joining["winner"], joining["loser"]}
        assert (len(both & {"a", "b"}), len(both & {"c", "d"})) == (1, 1)
        assert joining["is_either_way"] is True

    @pytest.mark.parametrize(
        ("make", "why"),
        [
            (lambda: make_judged_study(n_dialogues=1), "one source dialogue"),
            (lambda: judged_once(itertools.pairwise(make_system() for _ in range(12))), "resample"),
        ],
        ids=["a single dialogue", "systems that resamples never connect"],
    )
    def test_refuses(self, now, settings, make, why):
        settings.HEART_BOOTSTRAP_REPLICATES = 3

        fit = fitted(make(), now)

        assert (fit.state, why in fit.refusal) == (FitState.REFUSED, True)

    def test_refuses_when_the_search_does_not_end(self, now, monkeypatch):
        fit_in_one_step = functools.partial(fit_bradley_terry, max_iterations=1)
        monkeypatch.setattr(estimate, "fit_bradley_terry", fit_in_one_step)

        assert fitted(make_judged_study(), now).refusal.startswith("The search")

    def test_warns_of_few_dialogues_and_of_resamples_without_a_maximum(self, now):
        pairs = itertools.combinations([make_system() for _ in range(3)], 2)

        fit = fitted(judged_once(pairs), now)

        few, unconnected = fit.diagnostics["warnings"]
        assert "3 source dialogues" in few
        assert "unconnected" in unconnected
        assert 0 < fit.diagnostics["replicates_without_maximum"] < 200


class TestPoolMasses:
    """Two systems: a person prefers the first one slightly, ten judges the second one by far."""

    @pytest.fixture
    def study(self):
        study = make_judged_study(systems=called("a", "b"), n_dialogues=2, verdict=lambda *_: 1)
        for comparison in study.comparisons.all():
            for _ in range(10):
                make_llm_judgment(comparison=comparison, verdict=-5)
        return study

    def share_of_first(self, fit):
        apart = 2 * (fit.ratings.get(system__slug="a").elo - 1500.0)
        return 1.0 / (1.0 + 10.0 ** (-apart / 400.0))

    @pytest.mark.parametrize(
        ("masses", "share", "pooling"),
        [
            (None, (0.65 + 10 * 0.05) / 11, "each judgment counts once"),
            ({"people": 1.0, "judges": 1.0}, (0.65 + 0.05) / 2, "weigh 1 to 1"),
            ({"people": 3.0, "judges": 1.0}, (3 * 0.65 + 0.05) / 4, "weigh 3 to 1"),
        ],
        ids=["none declared", "one to one", "three to one"],
    )
    def test_declared_masses_hold_however_many_judgments_there_are(
        self, study, now, masses, share, pooling
    ):
        study.content |= {"pool_masses": masses} if masses else {}
        study.save()

        fit = fitted(study, now, COMBINED)

        assert self.share_of_first(fit) == pytest.approx(share)
        assert pooling in fit.method["pooling"]
        assert fit.n_judgments == 22

    def test_a_pool_of_one_kind_is_as_without_masses(self, study, now):
        without = fitted(study, now)
        study.content["pool_masses"] = {"people": 3.0, "judges": 1.0}
        study.save()

        assert claim(study, now) is None
        assert self.share_of_first(without) == pytest.approx(0.65)


class TestUncertainty:
    def test_no_site_draws_more_often_than_a_release_may_ask_for(self, now, settings):
        settings.HEART_BOOTSTRAP_REPLICATES = 10**9

        fit = claim(make_judged_study(n_dialogues=2), now)

        assert fit is not None
        assert fit.method["replicates"] == MOST_DRAWS["replicates"]

    def test_joint_intervals_are_wider_and_the_sandwich_agrees_with_resamples(self, now, settings):
        settings.HEART_BOOTSTRAP_REPLICATES = 1000

        fit = fitted(make_judged_study(n_dialogues=60), now)

        for rating in fit.ratings.all():
            assert rating.elo_low <= rating.elo <= rating.elo_high
            # Both ends, for they lie evenly; the percentiles need not, and may lie outside.
            assert rating.joint_low < rating.elo - 1.96 * rating.elo_se
            assert rating.joint_high > rating.elo + 1.96 * rating.elo_se
            assert rating.tier >= 1
            # 0.95 to 1.07 in 180 fits
            assert rating.sandwich_se == pytest.approx(rating.elo_se, rel=0.15)

    def test_systems_far_apart_are_of_two_tiers(self, now):
        def mostly_the_first(dialogue, _i, _j):
            return 2 if dialogue % 10 else -1

        systems = called("a", "b")
        study = make_judged_study(systems=systems, n_dialogues=30, verdict=mostly_the_first)

        fit = fitted(study, now)

        assert list(fit.ratings.order_by("rank").values_list("tier", flat=True)) == [1, 2]

    @pytest.mark.parametrize(("n", "is_corrected", "n_warnings"), [(19, True, 1), (20, True, 0)])
    def test_few_dialogues_are_corrected_and_very_few_warned_of(
        self, n, is_corrected, n_warnings, now
    ):
        diagnostics = fitted(make_judged_study(n_dialogues=n), now).diagnostics

        assert diagnostics["is_corrected_for_few_units"] is is_corrected
        assert len(diagnostics["warnings"]) == n_warnings
        assert all("19 source dialogues for 3 systems" in one for one in diagnostics["warnings"])

    @pytest.mark.parametrize(
        ("n", "n_of_first", "warned"),
        [
            (1, 1, ["All or most judgments are on fewer than 10 source dialogues: late (1)."]),
            (9, 1, ["All or most judgments are on fewer than 10 source dialogues: late (9)."]),
            (10, 1, []),
            (10, 6, ["All or most judgments are on fewer than 10 source dialogues: late (5)."]),
        ],
    )
    def test_a_system_of_few_of_many_dialogues_is_warned_of(self, n, n_of_first, warned, now):
        systems, late = called("a", "b"), make_system(slug="late")
        study = make_judged_study(systems=systems, n_dialogues=20)
        for place, first in enumerate(systems[0].completions.order_by("pk")[:n]):
            second = make_completion(context=first.context, system=late)
            pair = make_comparison(study=study, first=first, second=second)
            for _ in range(1 if place else n_of_first):
                make_judgment(comparison=pair, verdict=1 if place % 2 else -1)

        diagnostics = fitted(study, now).diagnostics

        named = [one for one in diagnostics["warnings"] if "All or most" in one]
        assert [one.partition(" Intervals")[0] for one in named] == warned
