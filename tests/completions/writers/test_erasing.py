"""A writer's withdrawal removes person and texts, and everything goes on without them."""

from decimal import Decimal

import pytest
from django.apps import apps

from access.models import LogEntry
from annotation.choices import Purpose, ReportOutcome, Side
from annotation.judges.services import runs
from annotation.judging.services import leasing
from annotation.models import Comparison, JudgeCall, Judgment
from annotation.overview import queries as overview_queries
from annotation.planning import queries as planning_queries
from annotation.planning import services as planning_services
from annotation.quality.services import reporting
from annotation.raters.services import withdrawing
from annotation.studies import queries as study_queries
from completions.choices import CallState, LeaseOutcome, MessageState, MessageVerdict, WriterState
from completions.leaks import queries
from completions.models import (
    AdmissionDecision,
    Completion,
    Context,
    Message,
    MessageDecision,
    WriterMail,
)
from completions.runs.services import states
from ranking.judgments.analysis_set import n_decisions, n_judgments
from tests.completions.writers.desk import SENT
from tests.helpers.factories import (
    HOUR,
    NOW,
    make_comparison,
    make_completion,
    make_judge,
    make_judge_call,
    make_judgment,
    make_lease,
    make_quality_check,
    make_rater,
    make_study,
    make_writer,
    make_writing_lease,
)
from tests.helpers.factories_of_calls import make_judge_run
from tests.helpers.factories_of_people import (
    make_accepted,
    make_admission,
    make_hold,
    make_mail,
    make_message_decision,
    make_revision,
    make_sent,
)
from tests.helpers.written import make_open_context

pytestmark = pytest.mark.django_db

SECRET = "My own words about a lonely evening."


def withdraw(writer, *, keep_texts=False, now=NOW + HOUR):
    withdrawing.withdraw_writer(writer=writer, keep_texts=keep_texts, now=now)
    writer.refresh_from_db()


def lease_for(writer, **fields):
    return make_writing_lease(writer=writer, context=make_open_context(writer.dataset), **fields)


def write(writer, state=MessageState.WAITING, text=SECRET):
    return make_sent(text, lease=lease_for(writer, **SENT), state=state)


def make_compared(study=None, **fields):
    """An accepted message of a person that a study compares with another completion."""
    study = study or make_study()
    message = make_accepted(SECRET, lease=lease_for(make_writer(dataset=study.dataset), **SENT))
    make_completion(context=message.lease.context)
    first, second = Completion.objects.filter(context=message.lease.context).order_by("pk")
    return message, make_comparison(study=study, first=first, second=second, **fields)


@pytest.fixture
def message():
    return make_compared()[0]


@pytest.fixture
def comparison(message):
    return Comparison.objects.get()


@pytest.fixture
def writer(message):
    return message.lease.writer


def everything_stored():
    """Return every row of every table, as text."""
    return str([list(model._base_manager.values()) for model in apps.get_models()])


class TestWithdrawingWriter:
    @pytest.mark.parametrize("keep_texts", [True, False])
    def test_forgets_the_person_and_what_was_never_sent(self, keep_texts):
        writer = make_writer(email="ada@example.org", background="PEER")
        lease = lease_for(writer, draft="I begin", typing_ms=900)
        make_mail(writer=writer)

        withdraw(writer, keep_texts=keep_texts)

        assert (writer.email, writer.background, writer.imported_as) == ("", "", "")
        assert (writer.state, writer.texts_kept) == (WriterState.WITHDRAWN, keep_texts)
        lease.refresh_from_db()
        assert (lease.draft, lease.typing_ms, lease.outcome) == ("", 0, LeaseOutcome.RELEASED)
        assert not WriterMail.objects.exists()

    @pytest.mark.parametrize(
        "state", sorted(set(WriterState) - {WriterState.ACTIVE, WriterState.WITHDRAWN})
    )
    def test_is_possible_from_any_state(self, state):
        writer = make_writer(state=state)

        withdraw(writer)

        assert writer.state == WriterState.WITHDRAWN

    def test_twice_changes_nothing_and_is_logged_once_without_a_word(self, message, writer):
        free = Context.objects.get(pk=message.lease.context_id).slots_left
        for hours in (1, 2):
            withdraw(writer, now=NOW + hours * HOUR)

        assert Completion.objects.get(pk=message.completion_id).erased_at == NOW + HOUR
        assert Context.objects.get(pk=message.lease.context_id).slots_left == free + 1
        entry = LogEntry.objects.get(action="writer.withdrew")
        assert (entry.subject, entry.after) == (f"writer {writer.code}", {"texts": "deleted"})


class TestKeepingTheTexts:
    def test_leaves_everything_as_it_is_and_may_be_followed_by_deleting(
        self, message, comparison, writer
    ):
        withdraw(writer, keep_texts=True)
        message.refresh_from_db()
        comparison.refresh_from_db()
        kept = (message.state, message.completion.text, comparison.held_at)
        withdraw(writer)

        assert kept == (MessageState.ACCEPTED, SECRET, None)
        assert not writer.texts_kept
        assert SECRET not in everything_stored()
        assert Comparison.objects.get(pk=comparison.pk).held_at is not None

    def test_cannot_call_back_what_was_deleted(self):
        writer = make_writer()
        withdraw(writer)

        withdraw(writer, keep_texts=True)

        assert not writer.texts_kept


class TestDeletingTheTexts:
    def test_leaves_tombstones_without_a_word_of_them_nor_how_long_they_took(
        self, message, comparison, writer
    ):
        judgment = make_judgment(comparison=comparison)
        figures = {"typing_ms": 90_000, "pastes": 2, "pasted_characters": 40}
        make_revision(message=message, text=f"{SECRET} 2", flags=[{"matched": SECRET}], **figures)
        make_hold(completion=message.completion, reasons=[{"reason": "name", "matched": SECRET}])
        write(writer, MessageState.REJECTED)
        lease_for(
            writer, closed_at=NOW, outcome=LeaseOutcome.SKIPPED, draft=SECRET, skip_reason=SECRET
        )
        assert SECRET in everything_stored()

        withdraw(writer)

        assert SECRET not in everything_stored()
        assert set(message.revisions.values_list(*figures)) == {(0, 0, 0)}
        message.refresh_from_db()
        assert (message.state, message.completion.erased_at) == (MessageState.ERASED, NOW + HOUR)
        assert set(message.revisions.values_list("erased_at", flat=True)) == {NOW + HOUR}
        assert Judgment.objects.get().rationale == judgment.rationale

    def test_leaves_no_word_that_notes_and_mails_quote(self, message, writer):
        note = f'Please take "{SECRET}" out.'
        for verdict in (MessageVerdict.RETURNED, MessageVerdict.REJECTED):
            make_message_decision(revision=message.revisions.get(), verdict=verdict, note=note)
        make_message_decision(revision=message.revisions.get())
        make_admission(writer=writer, note=note)
        make_mail(writer=writer, note=note, claimed_at=NOW, sent_at=NOW)

        withdraw(writer)

        assert SECRET not in everything_stored()
        notes = MessageDecision.objects.order_by("pk").values_list("note", flat=True)
        assert list(notes) == ["[deleted]", "[deleted]", ""]
        assert AdmissionDecision.objects.get().note == "[deleted]"
        assert WriterMail.objects.get().note == ""

    @pytest.mark.parametrize(
        ("ended", "raw"),
        [
            ({"state": CallState.DONE}, "[deleted]"),
            ({"state": CallState.INVALID, "error_kind": "invalid_answer"}, "[deleted]"),
            ({"state": CallState.FAILED, "error_kind": "timeout", "raw_answer": ""}, ""),
        ],
    )
    def test_leaves_no_word_that_judges_quoted(self, comparison, writer, ended, raw):
        said = {"raw_answer": f"A says: {SECRET}", "ended_at": NOW}
        asked = {"model": "m", "first_try": {"answer": SECRET}}
        call = make_judge_call(comparison=comparison, asked=asked, **said | ended)

        withdraw(writer)

        call.refresh_from_db()
        assert (call.raw_answer, call.asked) == (raw, {"model": "m"})
        assert call.state == ended["state"]

    @pytest.mark.parametrize(
        ("state", "freed"),
        [
            (MessageState.WAITING, 1),
            (MessageState.RETURNED, 1),
            (MessageState.REJECTED, 0),
            (MessageState.LAPSED, 0),
        ],
    )
    def test_frees_the_place_of_what_counted(self, state, freed):
        message = write(make_writer(), state)
        free = Context.objects.get().slots_left

        withdraw(message.lease.writer)

        assert Context.objects.get().slots_left == free + freed
        assert Message.objects.get().state == MessageState.ERASED

    def test_touches_nobody_elses(self, comparison, writer):
        other, theirs = make_compared(study=comparison.study)
        decision = make_message_decision(revision=other.revisions.get(), note="Fine.")
        mail = make_mail(writer=other.lease.writer, note="Fine.", claimed_at=NOW, sent_at=NOW)
        call = make_judge_call(
            comparison=theirs, state=CallState.DONE, ended_at=NOW, raw_answer="A is warm."
        )

        withdraw(writer)

        for row in (other, decision, mail, call):
            row.refresh_from_db()
        assert (decision.note, mail.note, call.raw_answer) == ("Fine.", "Fine.", "A is warm.")
        assert (other.state, other.completion.text) == (MessageState.ACCEPTED, SECRET)
        assert Comparison.objects.get(pk=theirs.pk).held_at is None


class TestDeletedTextsInStudies:
    def test_are_handed_to_no_rater_planted_nor_repeated(self, comparison, writer):
        make_quality_check(comparison=comparison)
        rater = make_rater(study=comparison.study)

        withdraw(writer)

        assert Comparison.objects.get().held_at == NOW + HOUR
        assert leasing.lease_next_comparison(rater=rater, now=NOW + HOUR) is None

    def test_leave_the_screens_of_raters(self):
        message, comparison = make_compared(slots_left=3)
        rater = make_rater(study=comparison.study)
        leasing.lease_next_comparison(rater=rater, now=NOW)

        withdraw(message.lease.writer)

        assert rater.leases.get().outcome == LeaseOutcome.RELEASED
        comparison.refresh_from_db()
        shown = (comparison.slots_left, comparison.shown_first_as_a, comparison.shown_first_as_b)
        assert shown == (3, 0, 0)

    def test_are_taken_from_a_rater_who_was_busy_with_them_meanwhile(self, comparison, writer):
        withdraw(writer)
        rater = make_rater(study=comparison.study)
        make_lease(comparison=comparison, rater=rater, first_side=Side.A)
        Comparison.objects.update(shown_first_as_a=1)

        assert leasing.lease_next_comparison(rater=rater, now=NOW + HOUR) is None
        assert rater.leases.get().outcome == LeaseOutcome.RELEASED

    def test_are_not_shown_again_to_who_judged_them(self, comparison, writer):
        rater = make_rater(study=comparison.study)
        make_lease(comparison=comparison, rater=rater, **SENT)
        assert study_queries.last_judged_lease(rater) is not None

        withdraw(writer)

        assert study_queries.last_judged_lease(rater) is None

    def test_are_asked_of_no_judge(self, comparison, writer):
        runs.plan_judge_calls(study=comparison.study, judges=[make_judge()], now=NOW)

        withdraw(writer)

        call = JudgeCall.objects.get()
        assert (call.state, call.error_kind) == (CallState.FAILED, "erased")
        assert not states.refused(JudgeCall.objects.all()).exists()  # no provider's fault
        assert not runs.plan_judge_calls(study=comparison.study, judges=[make_judge()], now=NOW)

    def test_that_are_with_a_judge_count_in_the_money_of_the_run(self, comparison, writer):
        run = make_judge_run(study=comparison.study, reserved_usd=Decimal("0.02"))
        make_judge_call(
            comparison=comparison,
            run=run,
            state=CallState.CLAIMED,
            claimed_at=NOW,
            reserved_usd=Decimal("0.02"),
        )

        withdraw(writer)

        run.refresh_from_db()
        assert (run.reserved_usd, run.spent_usd) == (Decimal(0), Decimal("0.02"))
        assert JudgeCall.objects.get().reserved_usd == 0

    @pytest.mark.parametrize("outcome", ReportOutcome.values)
    def test_stay_held_whatever_is_decided_about_reports(self, comparison, writer, outcome):
        study, context = comparison.study, comparison.context
        intact = make_comparison(
            study=study,
            first=make_completion(context=context),
            second=make_completion(context=context),
        )
        Comparison.objects.update(held_at=NOW)
        withdraw(writer)

        reporting.decide_report(
            study=study, context=context, outcome=outcome, reason="Fine.", by=None, now=NOW + HOUR
        )

        is_dropped = outcome == ReportOutcome.DROPPED
        assert (Comparison.objects.get(pk=intact.pk).held_at is not None) == is_dropped
        assert Comparison.objects.get(pk=comparison.pk).held_at is not None

    def test_keep_no_later_comparison_of_the_dialogue_from_raters(
        self, message, comparison, writer
    ):
        study = comparison.study

        withdraw(writer)
        for _ in range(2):
            make_completion(context=message.lease.context)
        planning_services.plan_study(study=study, now=NOW + HOUR)

        assert study.comparisons.filter(purpose=Purpose.MAIN, held_at=None).exists()

    def test_are_in_no_plan_and_wanted_by_no_study(self):
        message, comparison = make_compared(slots_left=3)
        study = comparison.study

        withdraw(message.lease.writer)

        draft = planning_queries.draft_plan(study)
        assert (draft.additions, draft.summary.n_pairs) == ([], 0)
        assert queries.find_new_leaks(study.dataset_id) == {}
        ((_study, tally),), _old = overview_queries.tallied_studies(now=NOW)
        assert (tally.completions, tally.comparisons, tally.wanted) == (1, 1, 0)


def test_deleted_texts_count_no_more_from_then_on_and_put_the_ratings_out_of_date(
    comparison, writer
):
    study = comparison.study
    for one in (comparison, make_compared(study)[1]):
        make_judgment(comparison=one, submitted_at=NOW)
    n_before = n_decisions(study)

    withdraw(writer)

    assert n_judgments(study=study, as_of=NOW) == 2
    assert n_judgments(study=study, as_of=NOW + HOUR) == 1
    assert n_decisions(study) == n_before + 1
    assert n_decisions(make_study()) == 0
