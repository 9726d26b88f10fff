"""What is read of judges: accounts that sum, position, the ensemble, one comparison's calls."""

import pytest

from annotation.judges import queries, verdict_queries
from annotation.judges.ensembles import (
    EnsembleOutcome,
    EnsembleVerdict,
    Fate,
    Order,
    Replies,
    VoteStatus,
)
from annotation.models import JudgeCall
from completions.choices import CallState, Stratum
from completions.models import Context
from tests.helpers.factories import (
    HOUR,
    NOW,
    make_comparison,
    make_completion,
    make_context,
    make_dialogue,
    make_judge,
    make_study,
    make_system,
)
from tests.helpers.factories_written_once import make_exclusion, make_user
from tests.helpers.judged import delete_text, judge_calls

pytestmark = pytest.mark.django_db


def asked(*answers, study=None, **fields):
    """A comparison with what each new judge said of it."""
    comparison = make_comparison(study=study or make_study())
    for said in answers:
        judge_calls(comparison, make_judge(), said, **fields)
    return comparison


def page_of(study, show="", page="1"):
    figures = verdict_queries.judges_figures(study)
    listed, shown = verdict_queries.listed_comparisons(study, figures, show=show, page=page)
    return figures, listed, [names.key for names, _said in shown]


def verdict_of(comparison):
    panel = queries.panel_of(comparison.study)
    (found,) = queries.judged_comparisons(comparison.study, panel)
    return found


def pair_of(comparison):
    return verdict_queries.judged_pair(comparison.study, comparison.public_key)


class TestVerdicts:
    def test_are_of_the_replies_counted_by_order_in_the_canonical_frame(self):
        comparison = asked(["A+3", "A-1", "A+5", "B-2", "B?"], ["A-1", "B-2"])

        found = verdict_of(comparison)

        open_one, decided = found.replies.values()
        assert open_one == Replies(Order(3, 2, 1, 7), Order(2, 0, 1, -2), n_open=1)
        assert decided == Replies(Order(1, 0, 1, -1), Order(1, 0, 1, -2))
        assert found.ensemble == EnsembleVerdict(
            EnsembleOutcome.WAITING, n_first=0, n_second=1, n_judges=2, is_consistent=False
        )

    def test_do_not_wait_for_calls_that_failed_or_are_not_valid_any_more(self):
        failed = {"state": CallState.FAILED, "ended_at": NOW, "error_kind": "timeout"}
        comparison = asked(["A+3", "B?"], ["A-2", "B-1"], ["A+3"], **failed)
        newest = JudgeCall.objects.latest("pk")
        JudgeCall.objects.filter(pk=newest.pk).update(state=CallState.INVALID, error_kind="schema")

        found = verdict_of(comparison)

        assert found.ensemble.outcome is EnsembleOutcome.SECOND
        assert {one.status for one in found.verdicts.values()} == {
            VoteStatus.ONE_ORDER,
            VoteStatus.DECIDED,
            VoteStatus.NO_ANSWER,
        }

    def test_leave_an_excluded_judge_out_until_that_is_taken_back(self):
        comparison = asked(["A+3"], ["A-2"], ["A-2"])
        judges = [call.judge for call in JudgeCall.objects.order_by("pk")]
        for judge in judges[1:]:
            make_exclusion(judge=judge)
        back = {"is_excluded": False, "decided_by": make_user(), "reason": "It was tried out."}
        make_exclusion(judge=judges[1], decided_at=NOW + HOUR, **back)

        found = verdict_of(comparison)

        told = found.ensemble
        assert (told.n_first, told.n_second, told.n_judges) == (1, 1, 2)
        assert len(found.verdicts) == 3

    def test_are_none_when_every_judge_is_left_out_or_the_text_is_deleted(self):
        comparison = asked(["A+3"])
        make_exclusion(judge=JudgeCall.objects.get().judge)
        erased = asked(["A+3"])
        delete_text(erased.first_id)

        assert verdict_of(comparison).ensemble is None
        assert verdict_of(erased).ensemble is None
        assert verdict_of(erased).is_erased

    def test_of_one_study_come_in_the_order_of_planning_in_one_query(
        self, django_assert_num_queries
    ):
        asked(["A+3"])  # of another study
        study = make_study()
        pairs = [asked(["A+1"], ["B-1"], study=study).pk for _ in range(3)]
        panel = queries.panel_of(study)

        with django_assert_num_queries(1):
            found = list(queries.judged_comparisons(study, panel))

        assert [one.comparison for one in found] == pairs


class TestAccounts:
    def test_split_the_valid_answers_by_what_they_came_to(self):
        study, judge = make_study(), make_judge()
        failed = {"state": CallState.FAILED, "ended_at": NOW, "error_kind": "empty"}
        said = (["A+3", "B+1"], ["A+3", "B-1"], ["A+1", "A-1"], ["A+1", "A+2", "A-1"])
        for one in said:
            judge_calls(make_comparison(study=study), judge, one)
        judge_calls(make_comparison(study=study), judge, ["A+3", "B?"])
        judge_calls(make_comparison(study=study), judge, ["A+3", "B?"], **failed)
        erased = make_comparison(study=study)
        judge_calls(erased, judge, ["A+3", "B+3"])
        delete_text(erased.first_id)

        (row,) = verdict_queries.judges_figures(study).rows

        assert dict(row.answers) == {
            VoteStatus.DECIDED: 5,
            VoteStatus.UNSETTLED: 2,
            VoteStatus.TIED: 2,
            VoteStatus.WAITING: 1,
            VoteStatus.ONE_ORDER: 1,
        }
        assert row.n_erased == 2
        assert row.n_answers == row.account.n(Fate.VALID) == 13


class TestPosition:
    def test_counts_what_each_judge_chose_in_both_orders(self):
        study, steady, led = make_study(), make_judge(name="a steady"), make_judge(name="b led")
        for _ in range(2):
            comparison = make_comparison(study=study)
            judge_calls(comparison, steady, ["A+3", "B+1"])
            judge_calls(comparison, led, ["A+3", "B-3"])

        first, second = verdict_queries.judges_figures(study).rows

        assert (first.position.n_same, first.position.n_compared) == (2, 2)
        assert first.position.mean_gap == 2
        assert (second.position.n_a_twice, second.position.share) == (2, 0)
        assert (second.position.share_a, second.position.mean_shift) == (1, 3)


class TestEnsemble:
    def test_counts_majorities_by_stratum(self):
        study = make_study()
        asked(["A+1"], ["A+2"], study=study)
        asked(["A+1"], ["A-2"], ["B+5"], study=study)
        asked(["A+1"], ["A-2"], study=study)
        hostile = asked(["A+1", "B-1"], ["A?"], study=study)
        source = make_context(dialogue=make_dialogue(dataset=study.dataset))
        Context.objects.filter(pk=hostile.context_id).update(
            stratum=Stratum.ADVERSARIAL,
            escalation_profile="ALWAYS_10",
            source_context=source,
        )

        whole, regular, adversarial = verdict_queries.judges_figures(study).ensembles

        assert (whole.n, whole.n_majority, whole.n_unanimous) == (4, 2, 1)
        assert (regular.n, regular.outcomes[EnsembleOutcome.NO_MAJORITY]) == (3, 1)
        assert (adversarial.n, adversarial.outcomes[EnsembleOutcome.WAITING]) == (1, 1)
        assert (whole.n_tried, whole.n_inconsistent) == (1, 1)

    @pytest.mark.parametrize(
        ("show", "expected"), [("", [1, 2, 3]), ("no-majority", [1, 3]), ("inconsistent", [2, 3])]
    )
    def test_lists_what_needs_a_look_by_pages(self, monkeypatch, show, expected):
        study = make_study()
        pairs = [
            asked(*said, study=study).key
            for said in (
                [["A+1"]],
                [["A+1"], ["A-1"]],
                [["A+1", "B-1"], ["A-1"]],
                [["A+1", "B-1"]],
            )
        ]

        assert page_of(study, show)[2] == [pairs[n] for n in expected]
        monkeypatch.setattr("annotation.judges.verdict_queries.PER_PAGE", 1)
        _, listed, second = page_of(study, show, page="2")
        assert second == [pairs[expected[1]]]
        assert listed.paginator.count == len(expected)

    def test_passes_over_what_was_put_to_judges_since_it_was_counted(self):
        study = make_study()
        old = asked(["A+1", "B-1"], study=study)
        figures, panel = verdict_queries.judges_figures(study), queries.panel_of(study)
        listed = verdict_queries.named_comparisons(study, panel)
        first = next(listed)
        judge_calls(old, make_judge(), ["A+1"])
        asked(["A+1", "B-1"], study=study)

        _page, shown = verdict_queries.listed_comparisons(study, figures, show="", page="1")

        assert [(names.key, len(said.verdicts)) for names, said in shown] == [(old.key, 1)]
        assert [first[0].key, *(names.key for names, _said in listed)] == [old.key]

    @pytest.mark.parametrize(
        ("judge", "system", "expected"),
        [({}, {}, False), ({"is_simulated": True}, {}, True), ({}, {"is_simulated": True}, True)],
    )
    def test_knows_what_is_simulated(self, judge, system, expected):
        study = make_study()
        context = make_context(dialogue=make_dialogue(dataset=study.dataset))
        named = {"name": "Oak (simulated)"}
        first = make_completion(context=context, system=make_system(**(system and named | system)))
        comparison = make_comparison(study=study, first=first)
        judge_calls(comparison, make_judge(**(judge and named | judge)), ["A+1"])

        assert verdict_queries.judges_figures(study).is_simulated is expected


class TestOneComparison:
    def test_shows_what_was_asked_and_what_went_wrong(self):
        comparison = asked(
            ["A?"],
            state=CallState.INVALID,
            ended_at=NOW,
            raw_answer="I choose A!",
            error_kind="invalid_answer",
            error_detail="no JSON",
            asked={"model": "openai/x", "addressed": ["A"]},
        )

        ((*_, (call,)),) = pair_of(comparison)["judges"]

        assert (call.fate, call.fault) == (Fate.INVALID, "invalid_answer: no JSON")
        assert '"model": "openai/x"' in call.asked
        assert call.is_addressed
        assert call.raw_answer == "I choose A!"

    def test_shows_nothing_that_may_quote_a_deleted_text(self):
        comparison = asked(["A+3"])
        JudgeCall.objects.update(asked={"first_try": {"answer": "secret"}}, error_detail="secret")
        delete_text(comparison.first_id)
        comparison.refresh_from_db()

        ((*_, (call,)),) = pair_of(comparison)["judges"]

        assert (call.rationale, call.raw_answer, call.asked, call.fault) == ("",) * 4
        assert call.verdict == 3
