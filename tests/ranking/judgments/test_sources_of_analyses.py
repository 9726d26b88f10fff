"""What analyses may know beyond who preferred what, in the order of the columns."""

import datetime as dt

import numpy as np
import pytest

from completions.choices import CallState, Presence, Stratum, SystemKind
from ranking.choices import ContextSet, EvaluatorPool
from ranking.judgments import frames
from ranking.judgments.frames.sources import DatabaseSources
from tests.helpers.factories import (
    NOW,
    make_comparison,
    make_completion,
    make_context,
    make_dialogue,
    make_generation_call,
    make_judge,
    make_judgment,
    make_llm_judgment,
    make_rater,
    make_study,
    make_system,
)
from tests.helpers.factories_of_calls import DONE, KEYS, make_strategy_call, make_strategy_label
from tests.helpers.judged import make_judged_study

pytestmark = pytest.mark.django_db


def sources_of(study, now):
    selection = frames.Selection(study, EvaluatorPool.COMBINED, ContextSet.ALL, now)
    return DatabaseSources(selection, frames.read_columns(selection))


@pytest.fixture
def comparison():
    context = make_context(dialogue=make_dialogue(), stratum=Stratum.ADVERSARIAL)
    first, second = (
        make_completion(context=context, system=make_system(slug=slug))
        for slug in ("zeta", "alpha")
    )
    study = make_study(dataset=context.dataset)
    return make_comparison(study=study, first=first, second=second)


class TestItems:
    def test_line_up_with_the_columns(self, now):
        sources = sources_of(make_judged_study(n_dialogues=5), now)

        items, columns = sources.items(), sources.columns

        sides = items.system[items.message]
        assert np.array_equal(sides[columns.item, 0], columns.first)
        assert np.array_equal(sides[columns.item, 1], columns.second)
        same_context = items.message_context[items.message]
        assert np.array_equal(same_context[:, 0], items.context)
        assert np.array_equal(same_context[:, 1], items.context)
        assert len(set(zip(items.context[columns.item], columns.unit, strict=True))) == 5

    def test_tell_hostile_contexts(self, comparison, now):
        make_judgment(comparison=comparison)

        assert sources_of(comparison.study, now).items().is_adversarial.tolist() == [True]


class TestSystems:
    def test_come_with_figures_from_outside_and_their_own_calls(self, comparison, now):
        system = comparison.first.system
        system.facts = {
            "intelligence_index": {"value": 66, "source": "a list"},
            "median_ttft_ms": {"value": 700, "source": "a list"},
        }
        system.save()
        for ttft_ms in (100, 300, 900):
            context = make_context(dialogue=make_dialogue(dataset=comparison.study.dataset))
            make_generation_call(
                context=context,
                system=system,
                completion=make_completion(context=context, system=system),
                state=CallState.DONE,
                ended_at=NOW,
                ttft_ms=ttft_ms,
                claimed_at=NOW,
                raw_answer="Hello.",
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
        rater = make_rater(study=comparison.study)
        shown = dt.timedelta(seconds=30)
        make_judgment(
            comparison=comparison,
            rater=rater,
            rationale="Warmer.",
            shown_at=NOW - shown,
            submitted_at=NOW,
            hidden_ms=10_000,
        )
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

    def test_are_none_in_a_study_without(self, comparison, now):
        make_judgment(comparison=comparison)

        assert sources_of(comparison.study, now).chips() is None


class TestStrategies:
    def test_are_none_where_nothing_was_labelled(self, comparison, now):
        make_judgment(comparison=comparison)

        assert sources_of(comparison.study, now).strategies() is None

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
