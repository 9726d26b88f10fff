"""Writers who have their texts deleted while others judge, review and plan with them."""

from contextlib import suppress
from functools import partial

import pytest

from annotation.choices import StudyState
from annotation.models import Comparison, Lease
from annotation.planning import services as planning_services
from annotation.raters import services as rater_services
from completions.choices import LeaseOutcome, MessageState, MessageVerdict
from completions.models import Completion, Context, Message, MessageRevision
from completions.writers import services as writing
from completions.writers.services.leasing import WritingLeaseNotFoundError
from completions.writers.services.review_decisions import MessageNotOpenError
from tests.helpers.factories import (
    NOW,
    make_comparison,
    make_completion,
    make_context,
    make_dialogue,
    make_rater,
    make_study,
    make_writer,
    make_writing_lease,
)
from tests.helpers.factories_of_people import make_accepted, make_sent
from tests.helpers.judged import lease_next, skip, submit
from tests.helpers.threads import together, while_uncommitted
from tests.helpers.written import draft_of, save_draft

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("shared_database"),
]

LEAVING = 2
CLOSED = {"closed_at": NOW, "outcome": LeaseOutcome.SUBMITTED}


def make_written(study, n_contexts):
    """Let two people write for each context, each compared with another completion."""
    writers = [make_writer(dataset=study.dataset) for _ in range(LEAVING)]
    for place in range(n_contexts):
        context = make_context(dialogue=make_dialogue(dataset=study.dataset))
        other = make_completion(context=context)
        for n, writer in enumerate(writers):
            lease = make_writing_lease(writer=writer, context=context, **CLOSED)
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
    rater_services.withdraw_writer(writer=writer, keep_texts=False, now=NOW)


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

            together([partial(accept, message), partial(withdraw, writer)])

            message.refresh_from_db()
            assert message.state == MessageState.ERASED
            assert not Completion.objects.filter(writer=writer).exclude(text="").exists()
            assert not MessageRevision.objects.filter(message=message).exclude(text="").exists()
            free = Context.objects.get(pk=context.pk).slots_left
            assert free == context.slots_left + 1

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

        assert Context.objects.get(pk=context.pk).slots_left == context.slots_left + 1
        assert Message.objects.get().state == MessageState.ERASED

    def test_leave_no_draft_that_was_on_its_way(self):
        lease = make_writing_lease()

        while_uncommitted(
            partial(withdraw, lease.writer), partial(keep_draft, lease), has_to_wait=True
        )

        assert draft_of(lease) == ""


def keep_draft(lease):
    with suppress(WritingLeaseNotFoundError):
        save_draft(lease)


def accept(message):
    with suppress(MessageNotOpenError):
        writing.decide_message(
            message=message, verdict=MessageVerdict.ACCEPTED, note="", by=None, now=NOW
        )


def plan(study):
    planning_services.plan_study(study=study, now=NOW)
