"""Which judgments count, and how they are counted."""

import datetime as dt

import pytest

from annotation.choices import Purpose, RaterState
from annotation.models import JudgeCall, Rater
from completions.choices import CallState, Stratum, SystemKind
from completions.models import Context
from ranking.choices import ContextSet, EvaluatorPool
from ranking.judgments.analysis_set import Selection, analysis_set
from ranking.judgments.frames.groups import read_groups, read_stamps
from tests.helpers.factories import (
    NOW,
    make_comparison,
    make_completion,
    make_context,
    make_dialogue,
    make_judgment,
    make_lease,
    make_llm_judgment,
    make_quality_check,
    make_rater,
    make_study,
    make_system,
    make_writer,
)
from tests.helpers.factories_written_once import make_exclusion
from tests.helpers.judged import judge_all_pairs, make_judged_study
from tests.helpers.observed import counted_reads

pytestmark = pytest.mark.django_db

LATER = dt.timedelta(hours=1)
HUMAN, LLM, COMBINED = EvaluatorPool.HUMAN, EvaluatorPool.LLM, EvaluatorPool.COMBINED


def counted(study, now, pool=COMBINED, context_set=ContextSet.ALL):
    return read_groups(Selection(study, pool, context_set, now))


def counting(judgment, as_of):
    """Return which judgments of the study of one count."""
    return list(analysis_set(study=judgment.comparison.study, as_of=as_of))


def judge_a_main_pair_shown_as_a_check():
    comparison = make_comparison()
    check = make_quality_check(comparison=comparison)
    lease = make_lease(
        comparison=comparison, quality_check=check, closed_at=NOW, outcome="SUBMITTED"
    )
    return make_judgment(comparison=comparison, rater=lease.rater, lease=lease)


def judge_two_texts_of_one_system():
    people, context = make_system(kind=SystemKind.HUMAN), make_context()
    first, second = (
        make_completion(context=context, system=people, writer=make_writer()) for _ in range(2)
    )
    return make_judgment(comparison=make_comparison(first=first, second=second))


def judge_by_a_call_that_is_not_valid():
    judgment = make_llm_judgment()
    invalid = {"state": CallState.INVALID, "error_kind": "schema"}
    JudgeCall.objects.filter(judgment=judgment).update(**invalid)
    return judgment


def judge_and_leave(**fields):
    judgment = make_judgment(submitted_at=NOW)
    Rater.objects.filter(judgments=judgment).update(**fields)
    return judgment


LEFT_OUT = {
    "what came after the time": lambda: make_judgment(submitted_at=NOW + 2 * LATER),
    "a comparison planted as a check": lambda: make_judgment(
        comparison=make_comparison(purpose=Purpose.CHECK)
    ),
    "a main pair shown again as a check": judge_a_main_pair_shown_as_a_check,
    "a surplus judgment": lambda: make_judgment(is_surplus=True),
    "two texts of one system": judge_two_texts_of_one_system,
    "a call that was not valid": judge_by_a_call_that_is_not_valid,
}
WITHDRAWN = {"state": RaterState.WITHDRAWN, "ended_at": NOW + LATER / 60}


class TestAnalysisSet:
    def test_counts_the_answer_to_a_main_comparison_of_the_study(self, now):
        judgment, _of_another_study = make_judgment(), make_judgment()

        assert counting(judgment, now) == [judgment]

    @pytest.mark.parametrize("judge", LEFT_OUT.values(), ids=LEFT_OUT)
    def test_leaves_out(self, judge, now):
        assert counting(judge(), now) == []

    @pytest.mark.parametrize(
        ("ended", "counts"),
        [
            ({"state": RaterState.STOPPED, "ended_at": NOW}, True),
            (WITHDRAWN | {"data_kept": True}, True),
            (WITHDRAWN | {"data_kept": False}, False),
        ],
        ids=["stopped", "withdrew and lets answers count", "withdrew"],
    )
    def test_a_rater_who_left_counts_unless_they_took_their_answers_back(self, ended, counts, now):
        judgment = judge_and_leave(**ended)

        assert counting(judgment, NOW + LATER / 60) == [judgment] * counts

    def test_keeps_withdrawn_answers_in_what_was_before(self):
        judgment = judge_and_leave(**WITHDRAWN, data_kept=False)

        assert counting(judgment, NOW) == [judgment]

    def test_takes_the_current_revision_as_of_the_time(self, now):
        before = make_judgment(submitted_at=NOW)
        after = make_judgment(revises=before, submitted_at=NOW + LATER, verdict=-2)

        assert counting(before, NOW) == [before]
        assert counting(before, NOW + LATER) == [after]

    @pytest.mark.parametrize("evaluator", ["rater", "judge"])
    def test_follows_the_newest_exclusion_decision_as_of_the_time(self, evaluator, now, admin_user):
        judgment = make_judgment() if evaluator == "rater" else make_llm_judgment()
        study, whom = judgment.comparison.study, {evaluator: getattr(judgment, evaluator)}
        make_judgment(comparison=make_comparison(study=study))
        out, back = now, now + LATER
        make_exclusion(**whom, decided_at=out)
        taken_back = {"is_excluded": False, "reason": "misread", "decided_by": admin_user}
        make_exclusion(**whom, decided_at=back, **taken_back)

        sizes = [
            analysis_set(study=study, as_of=time).count() for time in (out - LATER / 60, out, back)
        ]

        assert sizes == [2, 1, 2]


class TestReadGroups:
    def test_counts_alike_judgments_together(self, now):
        comparison = make_comparison()
        for verdict in (1, 1, -2):
            make_judgment(comparison=comparison, verdict=verdict)

        counts = counted(comparison.study, now).counts

        assert counts.n.tolist() == [3]
        assert (counts.n_first.tolist(), counts.size_first.tolist()) == ([2], [2])
        assert (counts.n_second.tolist(), counts.size_second.tolist()) == ([1], [2])

    def test_counts_a_pair_of_systems_by_source_dialogue_and_not_by_context(self, now):
        study, dialogue = make_study(), make_dialogue()
        systems = [make_system(), make_system()]
        for turn in (1, 3):
            context = make_context(dialogue=dialogue, turn_index=turn)
            judge_all_pairs(study, context, systems, lambda _i, _j: 2, make_rater(study=study))

        found = counted(study, now)

        assert found.dialogues == (dialogue.content_hash,)
        assert (found.counts.n.tolist(), found.counts.size_first.tolist()) == ([2], [4])

    @pytest.mark.parametrize(
        ("pool", "expected"),
        [
            (HUMAN, {(True, False)}),
            (LLM, {(False, True)}),
            (COMBINED, {(True, False), (False, True)}),
        ],
    )
    def test_takes_the_judgments_of_its_pool(self, pool, expected, now):
        study = make_judged_study(with_llm=True, n_dialogues=1)

        counts = counted(study, now, pool).counts

        graded_or_judged = zip(counts.is_graded.tolist(), counts.is_judge.tolist(), strict=True)
        assert set(graded_or_judged) == expected

    def test_takes_the_contexts_of_its_set(self, now):
        study = make_judged_study(n_dialogues=1)
        source = Context.objects.get(dataset=study.dataset)
        hostile = make_context(
            dialogue=source.dialogue,
            stratum=Stratum.ADVERSARIAL,
            escalation_profile="MID_SPIKE",
            source_context=source,
        )
        systems = [make_system(), make_system()]
        judge_all_pairs(study, hostile, systems, lambda _i, _j: 1, make_rater(study=study))

        sizes = {name: counted(study, now, HUMAN, name).n_judgments for name in ContextSet}

        assert sizes == {"ALL": 4, "REGULAR": 3, "ADVERSARIAL": 1}

    def test_counts_marks_that_name_a_side(self, now):
        study = make_judged_study(
            systems=[make_system(slug="a"), make_system(slug="b")], n_dialogues=3, with_llm=True
        )

        marks = counted(study, now, LLM).marks

        assert marks == (("a", "H", 2, 3), ("b", "H", 1, 3))

    def test_reads_a_study_in_eight_queries(self, now):
        study = make_judged_study(with_llm=True)

        # what is kept, comparisons, answers, dialogues, systems, marks, decisions, deletions
        with counted_reads() as reads:
            counted(study, now)

        assert reads.n == 8

    def test_the_hash_changes_with_each_judgment_and_not_without(self, now):
        study = make_judged_study()
        before = counted(study, now).inputs_hash()
        again = counted(study, now + LATER).inputs_hash()

        make_judgment(comparison=study.comparisons.first())

        assert again == before != counted(study, now).inputs_hash()


class TestReadStamps:
    def test_agrees_with_the_counts_themselves(self, now):
        study = make_judged_study(with_llm=True)

        stamps = read_stamps(study=study, as_of=now)

        assert set(stamps) == {
            (pool, context_set)
            for pool in EvaluatorPool
            for context_set in (ContextSet.ALL, ContextSet.REGULAR)
        }
        for (pool, context_set), stamp in stamps.items():
            assert stamp == counted(study, now, pool, context_set).stamp

    def test_knows_a_revision_from_what_it_revised_though_a_newer_judgment_stays(self, now):
        before = make_judgment(submitted_at=NOW)
        make_judgment(revises=before, submitted_at=NOW + LATER)
        make_judgment(comparison=before.comparison, submitted_at=NOW)
        study = before.comparison.study

        sooner, later = (
            read_stamps(study=study, as_of=time)[HUMAN, ContextSet.ALL]
            for time in (NOW, NOW + LATER)
        )

        assert sooner[:3] == later[:3]
        assert sooner != later

    def test_a_study_without_judgments_has_none(self, now):
        assert read_stamps(study=make_study(), as_of=now) == {}
