"""From ratings of messages read alone to a fit, its analysis, and what changes them."""

import datetime as dt
import hashlib
import json

import numpy as np
import pytest

from annotation.choices import Protocol, Purpose
from completions.choices import SystemKind
from ranking.choices import AnalysisKind, ContextSet, EvaluatorPool, FitState
from ranking.findings import Findings
from ranking.fits import analysis_queries
from ranking.fits.services.inputs import orders_beside
from ranking.fits.services.verifying import verify_fit
from ranking.judgments.analysis_set import Selection, n_judgments
from ranking.judgments.frames.columns import read_scores
from ranking.judgments.frames.groups import read_groups
from ranking.judgments.groups import NO_PAIRS
from ranking.judgments.scores import implied_columns
from ranking.models import Analysis, Fit, Rating
from ranking.numerics.bradley_terry import fit_bradley_terry
from ranking.numerics.elo import to_elo
from ranking.report import services
from tests.helpers.factories import HOUR, NOW, make_comparison, make_rater, make_study, make_system
from tests.helpers.factories_written_once import make_exclusion
from tests.helpers.judged import fit_one, make_judged_study
from tests.helpers.rated import close
from tests.helpers.scores import KEYS, by_place, make_rated_study, rate

pytestmark = pytest.mark.django_db

HUMAN, LLM, COMBINED = EvaluatorPool.HUMAN, EvaluatorPool.LLM, EvaluatorPool.COMBINED
START = NOW + HOUR
LIKERT = AnalysisKind.LIKERT


@pytest.fixture(autouse=True)
def _few_replicates(settings):
    settings.HEART_BOOTSTRAP_REPLICATES = 40


def selection(study, pool=COMBINED, context_set=ContextSet.ALL, as_of=START):
    return Selection(study, pool, context_set, as_of)


def analysed(fit):
    assert services.analyse_fit(fit_id=fit.pk, kind=LIKERT, clock=lambda: START)
    return Analysis.objects.get(fit=fit, kind=LIKERT)


def table(analysis, key):
    found = Findings.of(analysis.result)
    one = next(one for one in found.tables if one.key == key)
    keys = [column.key for column in one.columns]
    return [dict(zip(keys, row, strict=True)) for row in one.rows]


class TestReading:
    def test_reads_who_gave_what_to_which_message(self):
        study = make_study(protocol=Protocol.LIKERT)
        ash, birch = make_system(slug="ash"), make_system(slug="birch")
        make_rated_study(study=study, systems=[ash, birch], n_dialogues=2, n_raters=2)

        found = read_scores(selection(study))

        assert (found.systems, found.dimensions) == (("ash", "birch"), KEYS)
        assert (found.n, len(found.units), len(found.evaluators)) == (8, 2, 2)
        told = sorted(zip(found.system, found.points[:, 0], strict=True))
        expected = [(s, by_place(d, s, r)) for d in range(2) for s in range(2) for r in range(2)]
        assert told == sorted(expected)
        assert len(set(found.message)) == 4
        assert len(set(found.context)) == 2

    def test_a_dimension_without_a_mark_is_not_rated(self):
        study = make_study(protocol=Protocol.LIKERT)
        alone = make_comparison(study=study)
        rate(alone, make_rater(study=study), [5, 4])

        found = read_scores(selection(study))

        assert found.points.tolist() == [[5, 4, 0, 0, 0]]
        assert not found.is_whole.any()

    def test_nothing_is_read_of_what_does_not_count(self):
        study = make_study(protocol=Protocol.LIKERT)
        counted, late = make_rater(study=study), make_rater(study=study)
        simulated = make_rater(study=study, is_simulated=True)
        alone = make_comparison(study=study)
        rate(alone, counted, 4)
        rate(alone, simulated, 1)
        rate(alone, late, 2, is_surplus=True)
        rate(make_comparison(study=study, purpose=Purpose.CHECK), counted, 5)
        rate(make_comparison(study=study), late, 5, submitted_at=START + dt.timedelta(days=1))

        found = read_scores(selection(study))

        assert found.points[:, 0].tolist() == [4]
        assert n_judgments(study=study, as_of=START) == 1

    def test_pools_are_read_apart(self):
        study = make_rated_study(n_dialogues=2, n_raters=1, with_judge=True)

        n = {pool: read_scores(selection(study, pool)).n for pool in EvaluatorPool}

        assert n == {HUMAN: 6, LLM: 6, COMBINED: 12}

    def test_without_ratings_there_is_nothing(self):
        found = read_scores(selection(make_study(protocol=Protocol.LIKERT)))

        assert (found.n, found.systems, found.points.shape) == (0, (), (0, 5))

    def test_takes_as_many_queries_for_many_as_for_few(self, django_assert_num_queries):
        few, many = make_rated_study(n_dialogues=2), make_rated_study(n_dialogues=8, n_raters=5)

        for study in (few, many):
            with django_assert_num_queries(6):
                read_scores(selection(study))


def nothing(study):
    pass


def rate_once_more(study):
    rate(study.comparisons.earliest("pk"), make_rater(study=study), 5)


def exclude_a_rater(study):
    make_exclusion(rater=study.raters.first(), decided_at=START)


class TestFits:
    def test_ratings_are_those_of_the_implied_pairs_and_can_be_computed_again(self):
        study = make_rated_study(n_dialogues=6)

        fit = fit_one(study, START)

        columns = implied_columns(read_scores(selection(study)))
        wins = np.zeros((3, 3))
        for first, second, lead in zip(
            columns.first, columns.second, columns.strength, strict=True
        ):
            wins[first, second] += (1 + lead) / 2
            wins[second, first] += (1 - lead) / 2
        expected = dict(
            zip(columns.systems, to_elo(fit_bradley_terry(wins).log_strengths), strict=True)
        )
        rows = Rating.objects.filter(fit=fit).values_list("system__slug", "elo", "n_judgments")
        assert {slug: elo for slug, elo, _ in rows} == pytest.approx(expected)
        assert sum(n for *_, n in rows) == 2 * columns.n_judgments
        again = verify_fit(fit)
        assert (again.is_sound, again.n_figures > 30) == (True, True)

    def test_counts_the_ratings_and_not_the_pairs(self):
        fit = fit_one(make_rated_study(n_dialogues=4), START)

        assert (fit.state, fit.n_judgments, fit.n_units) == (FitState.DONE, 36, 4)
        assert fit.diagnostics["n_raters"] == 3
        assert fit.method["strength"] == "ignore"
        assert "single messages" in fit.method["estimator"]

    @pytest.mark.parametrize(
        ("change", "n_judgments"),
        [(nothing, [36]), (rate_once_more, [36, 37]), (exclude_a_rater, [36, 24])],
    )
    def test_another_fit_is_made_of_other_ratings_alone(self, change, n_judgments):
        study = make_rated_study()
        fit_one(study, START)

        change(study)
        fit_one(study, START + HOUR)

        fits = study.fits.filter(pool=COMBINED, context_set=ContextSet.ALL).order_by("pk")
        assert [fit.n_judgments for fit in fits] == n_judgments

    def test_texts_of_people_and_simulated_systems_are_systems_like_others(self):
        oak = make_system(slug="simulated-oak", name="Simulated Oak", is_simulated=True)
        systems = [make_system(kind=SystemKind.HUMAN), make_system(), oak]

        fit = fit_one(make_rated_study(systems=systems, n_dialogues=5), START)

        assert (fit.state, fit.is_simulated) == (FitState.DONE, True)
        assert not fit.human_ratings.exists()

    def test_where_nobody_rated_two_messages_of_a_context_no_order_is_implied(self):
        study = make_study(protocol=Protocol.LIKERT)
        systems = [make_system(), make_system()]
        for n in range(3):
            make_rated_study(study=study, systems=[systems[n % 2]], n_dialogues=2)

        fit = fit_one(study, START)

        assert (fit.state, fit.refusal) == (FitState.REFUSED, NO_PAIRS)
        analysis = analysed(fit)
        assert analysis.state == FitState.DONE
        assert len(table(analysis, "scores")) == 2
        assert any(NO_PAIRS in warning for warning in analysis.result["warnings"])

    def test_a_study_of_pairs_is_fitted_as_before(self):
        """The stamp and the hash of what a preference study rests on hold nothing new."""
        study = make_judged_study()
        fit = fit_one(study, START)

        found = read_groups(selection(study))

        assert found.alone is None
        rests_on = [found.stamp, found.systems, found.dialogues, found.marks, found.texts]
        content = json.dumps(rests_on).encode() + b"\n" + b"".join(found.counts.parts())
        assert fit.inputs_hash == hashlib.sha256(content).hexdigest()
        assert fit.method["strength"] == "soft"
        assert fit.method["estimator"] == "Bradley-Terry, maximum likelihood"


class TestAnalysis:
    def test_is_the_only_kind_of_such_a_study_and_of_no_other(self):
        likert, pairs = make_rated_study(), make_judged_study()

        assert analysis_queries.kinds_of(likert) == (LIKERT,)
        assert LIKERT not in analysis_queries.kinds_of(pairs)
        assert len(analysis_queries.kinds_of(pairs)) == len(analysis_queries.known_kinds()) - 1

    def test_means_are_those_of_the_points(self):
        systems = [make_system(slug=slug) for slug in ("ash", "birch", "cedar")]
        fit = fit_one(make_rated_study(systems=systems, n_dialogues=6), START)

        rows = {row["system"]: row for row in table(analysed(fit), "scores")}

        for place, slug in enumerate(("ash", "birch", "cedar")):
            points = [by_place(d, place, r) for d in range(6) for r in range(3)]
            assert rows[slug]["value"] == pytest.approx(np.mean(points), abs=1e-4)
            assert (rows[slug]["n"], rows[slug]["evaluators"]) == (18, 3)

    def test_is_due_at_once_and_for_fits_without_an_order(self, settings):
        settings.HEART_ANALYSIS_SECONDS = 600
        study = make_rated_study()
        fit_one(study, START)
        claimed = services.claim_due_analyses(now=START)
        assert [Analysis.objects.get(pk=pk).kind for pk in claimed] == [LIKERT]
        for pk in claimed:
            services.run_analysis(analysis_id=pk, clock=lambda: START)
        rate(study.comparisons.earliest("pk"), make_rater(study=study), 5)
        later = START + dt.timedelta(seconds=61)
        second = fit_one(study, later)

        due = list(analysis_queries.missing_analyses(now=later, pause=dt.timedelta(seconds=600)))

        assert (second, LIKERT) in [(one.fit, one.kind) for one in due]

    def test_holds_ratings_of_pairs_on_the_same_dialogues_beside_it(self):
        systems = [make_system(slug=slug) for slug in ("ash", "birch", "cedar")]
        likert = make_rated_study(systems=systems, n_dialogues=6)
        pairs = make_study(dataset=likert.dataset, title="Pairs of the same")
        make_judged_study(systems=systems, study=pairs)
        other = make_judged_study(systems=systems)
        for one in (pairs, other):
            fit_one(close(one), START)

        found = analysed(fit_one(likert, START))

        columns = [one["label"] for one in found.result["tables"][2]["columns"]]
        assert "Elo in Pairs of the same (People and LLM judges)" in columns
        beside = Fit.objects.get(study=pairs, pool=COMBINED, context_set=ContextSet.ALL)
        elo = dict(Rating.objects.filter(fit=beside).values_list("system__slug", "elo"))
        rows = {row["system"]: row[beside.key] for row in table(found, "orders")}
        assert rows == pytest.approx(elo, abs=0.05)
        assert other.title not in str(found.result)

    def test_a_shadow_stands_beside_no_real_study(self):
        likert = make_rated_study()
        simulated = {"is_simulated": True, "slug": "simulated", "title": "Simulated shadow"}
        shadow = make_judged_study(study=make_study(dataset=likert.dataset, **simulated))
        fit_one(shadow, START)

        assert orders_beside(fit_one(likert, START)) == ()

    def test_is_refused_when_the_points_are_no_longer_those_of_the_fit(self):
        study = make_rated_study()
        fit = fit_one(study, START)
        Fit.objects.filter(pk=fit.pk).update(inputs_hash="0" * 64)

        analysis = analysed(fit)

        assert analysis.state == FitState.REFUSED
        assert "no longer" in analysis.refusal
