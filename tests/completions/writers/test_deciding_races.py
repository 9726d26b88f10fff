"""Reviewers, writers and planners who touch one message at the same moment, in real threads."""

from functools import partial

import pytest

from annotation.assignment import design
from annotation.choices import StudyState
from annotation.models import Comparison, Lease
from annotation.planning import services as planning_services
from annotation.raters.services import withdrawing
from completions.choices import MessageState, MessageVerdict
from completions.dialogues import locking
from completions.models import Completion, Message, MessageDecision, MessageRevision
from completions.writers.services.leasing import DatasetFrozenError, WritingLeaseNotFoundError
from completions.writers.services.pool import freeze_dataset
from completions.writers.services.review_decisions import (
    MessageChangedError,
    MessageNotOpenError,
    Seen,
)
from tests.completions.writers.desk import SENT
from tests.helpers.factories import (
    NOW,
    make_comparison,
    make_completion,
    make_context,
    make_rater,
    make_study,
    make_writer,
    make_writing_lease,
)
from tests.helpers.factories_of_people import TEXT, make_accepted, make_sent
from tests.helpers.factories_written_once import make_user
from tests.helpers.judged import lease_next, skip, submit
from tests.helpers.threads import together, while_uncommitted
from tests.helpers.written import (
    ACCEPT,
    REJECT,
    RETURN,
    SECOND_TEXT,
    decide,
    draft_of,
    revised,
    save_draft,
    send,
    slots_of,
)

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("shared_database"),
]

AS_SENT = Seen(revision=1, decisions=0)


def done(error, act, *args, **options):
    """Say whether an act was done, and not refused with ``error``."""
    try:
        act(*args, **options)
    except error:
        return False
    return True


def try_to_decide(message, verdict, by=None):
    """Return an act that decides on a message as it was sent first, and says whether that won."""
    return partial(done, MessageChangedError, decide, message, verdict, by=by, seen=AS_SENT)


def decide_unless_compared(message, verdict):
    return partial(done, locking.CompletionFixedError, decide, message, verdict)


def make_revised():
    """An accepted message with a second version that waits, in a context with another text."""
    message = make_accepted("The text that was accepted first.")
    make_completion(context=message.lease.context)
    return revised(message).message


def plan(study):
    planning_services.plan_study(study=study, now=NOW)


def as_planned(completion):
    """Say whether the one comparison is of the text that the completion has."""
    comparison = Comparison.objects.get()
    other = Completion.objects.exclude(pk=completion.pk).get()
    first, second = sorted((completion, other), key=lambda one: one.pk)
    expected = design.pair_key(
        context_key=comparison.context.key,
        first_hash=first.content_hash,
        second_hash=second.content_hash,
    )
    return comparison.key == expected


class TestTwoReviewers:
    @pytest.mark.parametrize("other", MessageVerdict)
    def test_who_decide_at_once_decide_once_and_the_other_is_told(self, crowd, other):
        for _ in range(crowd.rounds):
            message = make_sent()
            before = slots_of(message.lease.context)

            acts = [try_to_decide(message, verdict, make_user()) for verdict in (REJECT, other)]
            won = together(acts)

            assert sorted(won) == [False, True]
            decision = MessageDecision.objects.get(revision__message=message)
            state = Message.objects.get(pk=message.pk).state
            assert state == decision.verdict
            freed = slots_of(message.lease.context) - before
            assert freed == (state == MessageState.REJECTED)

    def test_who_press_twice_decide_once(self, crowd):
        for _ in range(crowd.rounds):
            message, by = make_sent(), make_user()

            won = together([try_to_decide(message, REJECT, by)] * 2)

            assert won == [True, True]
            assert MessageDecision.objects.filter(revision__message=message).count() == 1


def test_a_writer_and_a_reviewer_who_act_at_once_leave_no_version_decided_on_unseen(crowd):
    for _ in range(crowd.rounds):
        message = make_sent()

        accepted, _sent = together(
            [try_to_decide(message, ACCEPT), partial(send, message.lease, SECOND_TEXT)]
        )

        decisions = MessageDecision.objects.filter(revision__message=message)
        assert list(decisions.values_list("revision__number", flat=True)) == [1] * accepted
        assert Message.objects.get(pk=message.pk).state == MessageState.WAITING
        completion = Completion.objects.filter(message=message)
        assert list(completion.values_list("text", flat=True)) == [TEXT] * accepted


class TestAPlan:
    def test_made_while_a_text_is_taken_back_compares_it_or_never_saw_it(self, crowd):
        for _ in range(crowd.rounds):
            message = make_accepted()
            make_completion(context=message.lease.context)
            study = make_study(dataset=message.lease.context.dataset)

            taken_back, _ = together(
                [decide_unless_compared(message, REJECT), partial(plan, study)]
            )

            assert study.comparisons.count() == (0 if taken_back else 1)
            assert Message.objects.get(pk=message.pk).state == (
                MessageState.REJECTED if taken_back else MessageState.ACCEPTED
            )

    def test_not_committed_yet_makes_a_reviewer_wait_and_refuses_the_new_text(self):
        message = make_revised()
        study = make_study(dataset=message.lease.context.dataset)

        accepted = while_uncommitted(
            partial(plan, study), decide_unless_compared(message, ACCEPT), has_to_wait=True
        )

        assert accepted is False
        assert Completion.objects.get(message=message).text != SECOND_TEXT

    def test_waits_for_a_decision_that_is_not_committed_and_compares_the_new_text(self):
        message = make_revised()
        study = make_study(dataset=message.lease.context.dataset)

        while_uncommitted(partial(decide, message, ACCEPT), partial(plan, study), has_to_wait=True)

        completion = Completion.objects.get(message=message)
        assert (completion.text, completion.fixed_at) == (SECOND_TEXT, NOW)
        assert as_planned(completion)


class TestFreezing:
    def test_waits_for_a_decision_that_is_not_committed(self):
        message = make_sent()
        dataset = message.lease.context.dataset

        while_uncommitted(
            partial(decide, message, RETURN),
            partial(freeze_dataset, dataset=dataset, by=None, now=NOW),
            has_to_wait=True,
        )

        assert Message.objects.get(pk=message.pk).state == MessageState.RETURNED

    def test_not_committed_yet_makes_a_reviewer_wait_and_sends_nothing_back(self):
        message = make_sent()
        dataset = message.lease.context.dataset

        with pytest.raises(DatasetFrozenError):
            while_uncommitted(
                partial(freeze_dataset, dataset=dataset, by=None, now=NOW),
                partial(decide, message, RETURN),
                has_to_wait=True,
            )

    def test_and_a_message_at_once_take_it_or_keep_it_as_the_draft(self, crowd):
        for _ in range(crowd.rounds):
            lease = make_writing_lease()
            dataset = lease.context.dataset

            _none, is_sent = together(
                [
                    partial(freeze_dataset, dataset=dataset, by=None, now=NOW),
                    partial(done, DatasetFrozenError, send, lease, SECOND_TEXT),
                ]
            )

            lease.refresh_from_db()
            assert Message.objects.filter(lease=lease).count() == is_sent
            assert lease.draft == ("" if is_sent else SECOND_TEXT)
            assert lease.outcome == ("SUBMITTED" if is_sent else "RELEASED")


LEAVING = 2


def make_written(study, n_contexts):
    """Let two people write for each context, each compared with another completion."""
    writers = [make_writer(dataset=study.dataset) for _ in range(LEAVING)]
    for place in range(n_contexts):
        context = make_context(dataset=study.dataset)
        other = make_completion(context=context)
        for n, writer in enumerate(writers):
            lease = make_writing_lease(writer=writer, context=context, **SENT)
            make_accepted(lease=lease)
            text = Completion.objects.get(context=context, writer=writer)
            make_comparison(study=study, first=other, second=text, position=LEAVING * place + n)
    return writers


def judge(rater, n):
    """Answer, and skip every third, until nothing is left or enough is done."""
    for turn in range(n):
        lease = lease_next(rater)
        if lease is None:
            return
        if turn % 3 == 2:
            skip(lease)
        else:
            submit(lease, now=NOW)


def withdraw(writer):
    withdrawing.withdraw_writer(writer=writer, keep_texts=False, now=NOW)


class TestWritersWhoWithdraw:
    def test_leave_raters_judging_and_no_pair_of_theirs_open(self, crowd):
        study = make_study(session_length=50)
        writers = make_written(study, crowd.contexts)
        raters = [make_rater(study=study) for _ in range(crowd.people - LEAVING)]

        together(
            [
                *(partial(judge, rater, 6) for rater in raters),
                *(partial(withdraw, writer) for writer in writers),
            ]
        )

        assert not Completion.objects.filter(writer__in=writers).exclude(text="").exists()
        assert not Comparison.objects.filter(held_at=None).exists()
        for rater in raters:  # a lease that was busy at that moment goes with the next request
            assert lease_next(rater) is None
        assert not Lease.objects.filter(closed_at=None).exists()

    def test_are_not_accepted_afterwards(self, crowd):
        for _ in range(crowd.rounds):
            message = make_sent()
            context, writer = message.lease.context, message.lease.writer

            together(
                [
                    partial(done, MessageNotOpenError, decide, message, ACCEPT),
                    partial(withdraw, writer),
                ]
            )

            message.refresh_from_db()
            assert message.state == MessageState.ERASED
            assert not Completion.objects.filter(writer=writer).exclude(text="").exists()
            assert not MessageRevision.objects.filter(message=message).exclude(text="").exists()
            assert slots_of(context) == context.slots_left + 1

    def test_are_planned_with_before_or_not_at_all(self, crowd):
        for _ in range(crowd.rounds):
            study = make_study(state=StudyState.DRAFT)
            (writer, _other) = make_written(study, 2)
            Comparison.objects.filter(study=study).delete()

            together([partial(plan, study), partial(withdraw, writer)])

            shown = Comparison.objects.filter(study=study, held_at=None)
            assert shown.exists()
            assert all(not row.is_erased for row in shown)

    def test_together_do_it_once(self, crowd):
        message = make_sent()
        context = message.lease.context

        together([partial(withdraw, message.lease.writer)] * crowd.people)

        assert slots_of(context) == context.slots_left + 1
        assert Message.objects.get().state == MessageState.ERASED

    def test_leave_no_draft_that_was_on_its_way(self):
        lease = make_writing_lease()

        while_uncommitted(
            partial(withdraw, lease.writer),
            partial(done, WritingLeaseNotFoundError, save_draft, lease),
            has_to_wait=True,
        )

        assert draft_of(lease) == ""
