"""Writers who act at the same moment, in real threads."""

from functools import partial

import pytest

from completions.models import Context, MessageRevision, Writer, WritingLease
from completions.writers import services
from tests.helpers.factories import (
    HOUR,
    NOW,
    make_context,
    make_dataset,
    make_dialogue,
    make_writer,
)
from tests.helpers.threads import together, while_uncommitted
from tests.helpers.written import TEXT, send, writers_of

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("shared_database"),
]

LATER = NOW + 2 * HOUR  # every lease has run out by then


def claim(writer, now=NOW):
    return services.lease_next_context(writer=writer, now=now)


def write(lease, now=NOW):
    return send(lease, now=now)


def skip(lease):
    services.skip_context(token=lease.token, writer=lease.writer, reason="unclear", now=NOW)


def write_if_wanted(lease):
    try:
        write(lease, now=LATER)
    except services.ContextTakenError:
        assert WritingLease.objects.get(pk=lease.pk).draft == TEXT


def claim_and_write(writer):
    if (lease := claim(writer, LATER)) is not None:
        write(lease, now=LATER)


def write_until_nothing_is_left(writer, *, skip_every=0):
    n = 0
    while (lease := claim(writer)) is not None:
        n += 1
        if skip_every and n % skip_every == 0:
            skip(lease)
        else:
            write(lease)


def slots_balance(context, *, slots):
    """Every slot is free, held by an open lease, or filled by a message."""
    context = Context.objects.get(pk=context.pk)
    n_open = context.writing_leases.filter(closed_at=None).count()
    return context.slots_left + n_open + len(writers_of(context)) == slots


class TestWriters:
    def test_fill_every_context_exactly_and_never_write_twice_for_one(self, crowd):
        dataset = make_dataset()
        contexts = [
            make_context(dialogue=make_dialogue(dataset=dataset), slots_left=3)
            for _ in range(crowd.contexts)
        ]
        writers = [make_writer(dataset=dataset) for _ in range(crowd.people)]

        together([partial(write_until_nothing_is_left, one, skip_every=4) for one in writers])
        # A dialogue that was skipped last may be wanted still, when others had found nothing.
        together([partial(write_until_nothing_is_left, one) for one in writers])

        for context in contexts:
            people = writers_of(context)
            assert len(people) == len(set(people)) == 3
            assert slots_balance(context, slots=3)
            assert Context.objects.get(pk=context.pk).slots_left == 0

    def test_are_not_told_that_nothing_is_left_while_rows_are_merely_busy(self, crowd):
        for _ in range(crowd.rounds):
            context = make_context(slots_left=crowd.people)
            writers = [make_writer(dataset=context.dataset) for _ in range(crowd.people)]

            leases = together([partial(claim, writer) for writer in writers])

            assert None not in leases

    def test_get_one_context_however_many_tabs_they_open(self, crowd):
        dataset = make_dataset()
        for _ in range(4):
            make_context(dialogue=make_dialogue(dataset=dataset))

        for _ in range(crowd.rounds):
            writer = make_writer(dataset=dataset)
            leases = together([partial(claim, writer)] * 4)

            assert len({lease.pk for lease in leases}) == writer.leases.count() == 1
            skip(leases[0])

    def test_invited_twice_at_once_are_one_writer(self, crowd):
        dataset = make_dataset()
        for n in range(crowd.rounds):
            invite = partial(
                services.invite_writer, dataset=dataset, now=NOW, email=f"w{n}@example.org"
            )

            assert len(set(together([invite] * 2))) == 1

        assert Writer.objects.count() == crowd.rounds

    def test_who_send_one_text_twice_at_once_have_one_message(self, crowd):
        for _ in range(crowd.rounds):
            lease = claim(make_writer(dataset=make_context().dataset))

            messages = together([partial(write, lease)] * 2)

            assert len({message.pk for message in messages}) == 1
            assert MessageRevision.objects.filter(message__lease=lease).count() == 1


class TestTheSweepOfExpiredLeases:
    def test_leaves_no_writer_with_a_lease_that_it_is_closing(self):
        context = make_context(slots_left=1)
        lease = claim(make_writer(dataset=context.dataset))

        again = while_uncommitted(
            partial(services.release_expired_writing_leases, now=LATER),
            partial(claim, lease.writer, LATER),
            has_to_wait=True,
        )

        assert again is None
        assert slots_balance(context, slots=1)

    def test_never_makes_one_context_too_many_or_too_few(self, crowd):
        for _ in range(crowd.rounds):
            context = make_context(slots_left=3)
            late = [claim(make_writer(dataset=context.dataset)) for _ in range(3)]
            others = [make_writer(dataset=context.dataset) for _ in range(3)]

            together(
                [
                    partial(services.release_expired_writing_leases, now=LATER),
                    *(partial(write_if_wanted, lease) for lease in late),
                    *(partial(claim_and_write, writer) for writer in others),
                ]
            )

            assert slots_balance(context, slots=3)
