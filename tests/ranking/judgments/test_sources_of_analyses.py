"""What analyses may know beyond who preferred what, in the order of the columns."""

import datetime as dt

import numpy as np
import pytest

from annotation.models import Judgment
from completions.choices import Presence, RunState, SystemKind
from ranking.analyses import analyse
from ranking.choices import AnalysisKind, ContextSet, EvaluatorPool, FitState
from ranking.fits.services.inputs import inputs_of
from ranking.judgments.analysis_set import Selection, n_decisions
from ranking.judgments.frames.columns import read_columns_and_dimensions
from ranking.judgments.frames.sources import DatabaseSources
from ranking.models import Fit
from tests.helpers.factories import (
    NOW,
    make_assistant,
    make_completion,
    make_context,
    make_generation_call,
    make_judge,
    make_judgment,
    make_llm_judgment,
)
from tests.helpers.factories_of_calls import (
    BOOK,
    DONE,
    KEYS,
    code_all,
    make_coded,
    make_labelling_run,
    make_rationale_call,
    make_rationale_run,
    make_strategy_call,
    make_strategy_label,
    make_theme_label,
)
from tests.helpers.judged import fit_one, make_judged_study

pytestmark = pytest.mark.django_db
MINUTE = dt.timedelta(minutes=1)


def sources_of(study, now):
    selection = Selection(study, EvaluatorPool.COMBINED, ContextSet.ALL, now)
    return DatabaseSources(selection, read_columns_and_dimensions(selection)[0])


@pytest.fixture
def study(settings):
    settings.HEART_BOOTSTRAP_REPLICATES = 20
    return make_judged_study(with_llm=True)


@pytest.fixture
def coder():
    return make_assistant(name="Simulated coder", is_simulated=True)


class TestItems:
    def test_line_up_with_the_columns(self, now):
        sources = sources_of(make_judged_study(n_dialogues=5), now)

        items, columns = sources.items(), sources.columns

        sides = items.system[items.message]
        assert np.array_equal(sides[columns.item, 0], columns.first)
        assert np.array_equal(sides[columns.item, 1], columns.second)
        assert len(set(zip(items.context[columns.item], columns.unit, strict=True))) == 5

    def test_tell_hostile_contexts(self, comparison, now):
        make_judgment(comparison=comparison)

        assert sources_of(comparison.study, now).items().is_adversarial.tolist() == [True]

    def test_have_neither_chips_nor_labels_where_there_are_none(self, comparison, now):
        make_judgment(comparison=comparison)

        sources = sources_of(comparison.study, now)

        assert (sources.chips(), sources.strategies(), sources.themes()) == (None, None, None)


class TestSystems:
    def test_come_with_figures_from_outside_and_their_own_calls(self, comparison, now):
        system = comparison.first.system
        known = {"intelligence_index": 66, "median_ttft_ms": 700}
        system.facts = {name: {"value": n, "source": "a list"} for name, n in known.items()}
        system.save()
        for ttft_ms in (100, 300, 900):
            context = make_context(dataset=comparison.study.dataset)
            make_generation_call(
                context=context,
                system=system,
                completion=make_completion(context=context, system=system),
                ttft_ms=ttft_ms,
                claimed_at=NOW,
                **DONE,
            )
        make_judgment(comparison=comparison)

        facts = sources_of(comparison.study, now).systems()

        zeta, alpha = facts["zeta"], facts["alpha"]
        assert (zeta.intelligence_index, zeta.published_ttft_ms) == (66.0, 700.0)
        assert zeta.measured_ttft_ms == 300.0
        assert (alpha.intelligence_index, alpha.measured_ttft_ms) == (None, None)
        assert (zeta.name, zeta.kind) == (system.name, SystemKind.MODEL)


class TestJudgments:
    def test_have_reasons_times_and_places(self, comparison, now):
        times = {"shown_at": NOW - dt.timedelta(seconds=30), "submitted_at": NOW}
        make_judgment(comparison=comparison, rationale="Warmer.", hidden_ms=10_000, **times)
        judge = make_judge(slug="a-judge", family="someone")
        make_llm_judgment(comparison=comparison, judge=judge, rationale="Colder.", submitted_at=NOW)

        sources = sources_of(comparison.study, now)
        facts = sources.judgments()

        assert facts.rationales == ("Warmer.", "Colder.")
        assert facts.seconds[0] == 20.0
        assert np.isnan(facts.seconds[1])
        assert facts.place.tolist() == [0, 0]
        assert np.isnan(facts.probability).all()
        assert sources.judge_families() == {"a-judge": "someone"}

    def test_are_counted_evaluator_by_evaluator(self, now):
        sources = sources_of(make_judged_study(n_dialogues=3, with_llm=True), now)

        place, evaluator = sources.judgments().place, sources.columns.evaluator

        for index in range(2):
            assert place[evaluator == index].tolist() == list(range(9))


class TestChips:
    def test_have_a_row_for_each_judgment_and_a_column_for_each_chip(self, comparison, now):
        study = comparison.study
        study.content |= {
            "chips": [
                {"key": "warm", "words": "warm", "theme": "warmth"},
                {"key": "other", "words": "something else", "theme": ""},
            ]
        }
        study.save()
        for ticked in ("other warm", "", "warm"):
            make_judgment(comparison=comparison, chips=ticked)

        chips = sources_of(study, now).chips()

        assert (chips.words, chips.themes) == (("warm", "something else"), ("warmth", ""))
        assert sorted(chips.ticked.tolist()) == [[False, False], [True, False], [True, True]]


class TestStrategies:
    def test_have_a_row_for_each_message(self, comparison, now):
        make_judgment(comparison=comparison)
        call = make_strategy_call(completion=comparison.second, **DONE)
        for key, presence in zip(KEYS, Presence, strict=False):
            quote = "weighs" if presence == Presence.PRESENT else ""
            make_strategy_label(call=call, strategy=key, presence=presence, quote=quote)

        sources = sources_of(comparison.study, now)
        labels, items = sources.strategies(), sources.items()

        labelled = labels.probability[items.message[0, 1]]
        assert dict(zip(labels.keys, labelled, strict=True)).items() >= {
            (KEYS[0], 1.0),
            (KEYS[1], 0.0),
            (KEYS[2], 0.5),
        }
        assert np.isnan(labels.probability[items.message[0, 0]]).all()
        assert labels.labellers == (call.assistant.name,)


class TestThemes:
    def test_have_a_row_for_each_judgment(self, study, coder, now):
        judgments = Judgment.objects.order_by("submitted_at", "pk")
        call = make_rationale_call(judgment=judgments[3], assistant=coder, **DONE)
        for key, presence in zip(BOOK.keys, Presence, strict=False):
            quote = "names" if presence == Presence.PRESENT else ""
            make_theme_label(call=call, theme=key, presence=presence, quote=quote)

        labels = sources_of(study, now).themes()

        assert labels.coders == ("Simulated coder",)
        assert labels.presence.shape == (1, judgments.count(), len(BOOK.keys))
        assert labels.presence[0, 3, :3].tolist() == [1.0, 0.0, 0.5]
        assert (labels.presence[0, :3] != labels.presence[0, :3]).all()  # not a number

    def test_know_nothing_of_what_came_later_or_goes_by_another_book(self, study, coder, now):
        first, second = Judgment.objects.order_by("pk")[:2]
        make_coded(first, coder, ended_at=now + MINUTE)
        make_coded(second, coder, ended_at=now, codebook="heart-0")
        code_all(make_judged_study(), coder, at=now)

        assert sources_of(study, now).themes() is None
        assert sources_of(study, now + MINUTE).themes().presence.shape[0] == 1


class TestWhatIsReadLater:
    """What models find in rationales enters with the next fit and changes none before."""

    def found(self, fit):
        return analyse(AnalysisKind.RATIONALES, inputs_of(fit, AnalysisKind.RATIONALES))

    def test_is_in_the_analysis_of_the_next_fit_alone(self, study, coder, now):
        fit = fit_one(study, now)
        before = self.found(fit)
        code_all(study, coder, at=now + MINUTE)

        after = self.found(fit_one(study, now + 2 * MINUTE))

        assert self.found(fit) == before
        assert "coders" not in [one.key for one in before.tables]
        assert [one.key for one in after.tables][-2:] == ["coders", "coder-agreement"]

    @pytest.mark.parametrize(
        ("run", "n_fits"),
        [({"state": RunState.ENDED, "ended_at": NOW}, 2), ({}, 1)],
        ids=["once a run has ended", "not while a run goes on"],
    )
    def test_asks_for_another_fit(self, study, now, run, n_fits):
        fit_one(study, now)

        make_rationale_run(study=study, **run)
        fit_one(study, now + 2 * MINUTE)

        assert Fit.objects.filter(state=FitState.DONE).count() == n_fits

    def test_is_a_decision_about_the_study_that_was_read_and_no_other(self, study, now):
        other = make_judged_study()
        before = n_decisions(study), n_decisions(other)
        ended = {"state": RunState.ENDED, "ended_at": now}

        make_labelling_run(dataset=study.dataset, **ended)
        make_labelling_run(**ended)
        make_rationale_run(study=study, **ended)

        after = n_decisions(study), n_decisions(other)
        assert after == (before[0] + 2, before[1])
