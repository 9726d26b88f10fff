"""Writers, imports, freezing and mails at the same moment, in real threads."""

from functools import partial

import pytest
from django.core import mail

from completions.choices import Background, LeaseOutcome, WriterState
from completions.models import Context, Message, MessageRevision, Writer, WriterMail, WritingLease
from completions.writers.assigning import ADVERSARIAL
from completions.writers.importing import WrittenRow
from completions.writers.services import emailing
from completions.writers.services.emailing import send_writer_mails
from completions.writers.services.importing import import_messages
from completions.writers.services.inviting import invite_writer, save_profile
from completions.writers.services.leasing import (
    ContextTakenError,
    DatasetFrozenError,
    release_expired_writing_leases,
)
from completions.writers.services.leaving import resume_writer
from completions.writers.services.pool import freeze_dataset
from completions.writers.services.vetting import use_vetting
from tests.helpers.factories import HOUR, NOW, make_context, make_dataset, make_writer
from tests.helpers.factories_of_people import make_mail, make_vetting
from tests.helpers.threads import together, while_uncommitted
from tests.helpers.written import (
    TEXT,
    lease_next,
    make_open_context,
    send,
    skip,
    slots_of,
    writers_of,
)

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("shared_database"),
]

LATER = NOW + 2 * HOUR  # every lease has run out by then
LONG_AGO = NOW - 3 * HOUR  # a lease from then has run out by now


def send_if_wanted(lease):
    """Send what comes after its time; others may have filled the dialogue meanwhile."""
    try:
        send(lease, now=LATER)
    except ContextTakenError:
        assert WritingLease.objects.get(pk=lease.pk).draft == TEXT


def write_until_nothing_is_left(writer):
    while (lease := lease_next(writer)) is not None:
        send(lease)


def write_skip_and_walk_away(writer):
    """Write until nothing is left: every fourth is skipped, every fifth run out and sent late."""
    n = 1
    while (lease := lease_next(writer, LONG_AGO if n % 5 == 0 else NOW)) is not None:
        if n % 4 == 0:
            skip(lease)
        elif n % 5 == 0:
            release_expired_writing_leases(now=NOW)
            send_if_wanted(lease)
        else:
            send(lease)
        n += 1


def slots_balance(context, *, slots):
    """Every slot is free, held by an open lease, or filled by a message."""
    context = Context.objects.get(pk=context.pk)
    n_open = context.writing_leases.filter(closed_at=None).count()
    return context.slots_left + n_open + len(writers_of(context)) == slots


def is_filled_by_three_people(context):
    """Every slot has one message of one person, and no message is without a slot."""
    people = writers_of(context)
    return len(people) == len(set(people)) == 3 and slots_of(context) == 0


class TestWriters:
    def test_fill_every_context_exactly_and_never_write_twice_for_one(self, crowd):
        dataset = make_dataset()
        contexts = [make_open_context(dataset) for _ in range(crowd.contexts)]
        writers = [make_writer(dataset=dataset) for _ in range(crowd.people)]

        together([partial(write_skip_and_walk_away, one) for one in writers])
        # A dialogue that was skipped last may be wanted still, when others had found nothing.
        together([partial(write_until_nothing_is_left, one) for one in writers])

        assert all(is_filled_by_three_people(context) for context in contexts)
        assert not WritingLease.objects.filter(closed_at=None).exists()

    def test_are_not_told_that_nothing_is_left_while_rows_are_merely_busy(self, crowd):
        for _ in range(crowd.rounds):
            context = make_context(slots_left=crowd.people)
            writers = [make_writer(dataset=context.dataset) for _ in range(crowd.people)]

            leases = together([partial(lease_next, writer) for writer in writers])

            assert None not in leases

    def test_get_one_context_however_many_tabs_they_open(self, crowd):
        dataset = make_dataset()
        for _ in range(4):
            make_open_context(dataset)

        for _ in range(crowd.rounds):
            writer = make_writer(dataset=dataset)
            leases = together([partial(lease_next, writer)] * 4)

            assert len({lease.pk for lease in leases}) == writer.leases.count() == 1
            skip(leases[0])

    def test_invited_twice_at_once_are_one_writer(self, crowd):
        dataset = make_dataset()
        for n in range(crowd.rounds):
            invite = partial(invite_writer, dataset=dataset, now=NOW, email=f"w{n}@example.org")

            assert len(set(together([invite] * 2))) == 1

        assert Writer.objects.count() == crowd.rounds

    def test_who_send_one_text_twice_at_once_have_one_message(self, crowd):
        for _ in range(crowd.rounds):
            lease = lease_next(make_writer(dataset=make_context().dataset))

            messages = together([partial(send, lease)] * 2)

            assert len({message.pk for message in messages}) == 1
            assert MessageRevision.objects.filter(message__lease=lease).count() == 1


def sweep():
    return release_expired_writing_leases(now=LATER)


class TestTheSweepOfExpiredLeases:
    def test_leaves_no_writer_with_a_lease_that_it_is_closing(self):
        context = make_context(slots_left=1)
        lease = lease_next(make_writer(dataset=context.dataset))

        again = while_uncommitted(sweep, partial(lease_next, lease.writer, LATER), has_to_wait=True)

        assert again is None
        assert slots_balance(context, slots=1)

    def test_leaves_a_dialogue_alone_whose_message_is_being_sent(self, dataset, writer):
        context = make_open_context(dataset, slots_left=1)
        lease = lease_next(writer)

        n_swept = while_uncommitted(partial(send, lease, now=LATER), sweep, has_to_wait=False)

        lease.refresh_from_db()
        assert (n_swept, lease.outcome) == (0, LeaseOutcome.SUBMITTED)
        assert slots_of(context) == 0

    def test_that_comes_first_is_waited_for_and_the_slot_taken_again(self, dataset, writer):
        context = make_open_context(dataset, slots_left=1)
        lease = lease_next(writer)

        message = while_uncommitted(sweep, partial(send, lease, now=LATER), has_to_wait=True)

        assert message == Message.objects.get()
        assert slots_of(context) == 0


def freeze(dataset):
    return freeze_dataset(dataset=dataset, by=None, now=NOW)


class TestTwoTabs:
    def test_of_a_newcomer_open_one_trial_dialogue(self, crowd):
        dataset = make_dataset(vetting=make_vetting(crowd.rounds))
        for _ in range(crowd.rounds):
            writer = make_writer(dataset=dataset, state=WriterState.VETTING, admitted_at=None)

            first, second = together([partial(lease_next, writer)] * 2)

            assert first == second
            assert writer.leases.count() == 1

    def test_of_a_writer_get_past_no_bound(self, dataset, writer, crowd):
        for _ in range(3):
            make_open_context(dataset)
            send(lease_next(writer))
        for _ in range(4):
            make_context(dataset=dataset, stratum=ADVERSARIAL)

        def send_whatever_comes():
            while (lease := lease_next(writer)) is not None:
                send(lease)

        together([send_whatever_comes] * 4)

        hostile = WritingLease.objects.filter(context__stratum=ADVERSARIAL)
        assert [one.outcome for one in hostile] == [LeaseOutcome.SUBMITTED]


class TestFreezing:
    def test_is_waited_for_by_whoever_asks_for_a_dialogue(self, dataset, writer):
        context = make_open_context(dataset)

        with pytest.raises(DatasetFrozenError):
            while_uncommitted(
                partial(freeze, dataset), partial(lease_next, writer), has_to_wait=True
            )

        assert not WritingLease.objects.exists()
        assert slots_of(context) == 3

    def test_waits_for_a_dialogue_that_is_being_handed_out_and_takes_it_back(self, dataset, writer):
        context = make_open_context(dataset)

        n_given_back = while_uncommitted(
            partial(lease_next, writer), partial(freeze, dataset), has_to_wait=True
        )

        assert n_given_back == 1
        assert not WritingLease.objects.filter(closed_at=None).exists()
        assert slots_of(context) == 3


def answer_profile(writer):
    return save_profile(writer=writer, background=Background.PEER, has_own_system=False, now=NOW)


def let_newcomers_in(dataset):
    return use_vetting(dataset=dataset, now=NOW, is_on=False)


class TestATrialThatIsSwitchedOff:
    @pytest.mark.parametrize(
        ("state", "moves_on"),
        [
            (WriterState.PROFILING, answer_profile),
            (WriterState.PAUSED, partial(resume_writer, now=NOW, by=None)),
        ],
        ids=["profile", "pause"],
    )
    @pytest.mark.parametrize("is_first", [True, False])
    def test_keeps_nobody_on_trial_who_comes_to_it_at_once(self, state, moves_on, is_first):
        dataset = make_dataset(vetting=make_vetting(1))
        background = "" if state == WriterState.PROFILING else Background.PEER
        writer = make_writer(
            dataset=dataset,
            state=state,
            admitted_at=None,
            background=background,
            may_resume=state == WriterState.PAUSED,
        )

        def move_on():
            return moves_on(writer=writer)

        acts = [move_on, partial(let_newcomers_in, dataset)]
        while_uncommitted(*(acts if is_first else reversed(acts)), has_to_wait=True)

        assert Writer.objects.get().state == WriterState.ACTIVE


def test_senders_at_once_send_each_mail_once(monkeypatch):
    monkeypatch.setattr(emailing, "BATCH", 3)
    addresses = [f"{number}@example.org" for number in range(6)]
    for address in addresses:
        make_mail(writer=make_writer(email=address))

    n_sent = together([partial(send_writer_mails, now=NOW)] * 2)

    assert n_sent == [3, 3]
    assert sorted(sent.to[0] for sent in mail.outbox) == addresses
    assert set(WriterMail.objects.values_list("attempts", "sent_at")) == {(1, NOW)}


def rows_of(contexts, *authors):
    """Every author for every dialogue, each text in other words."""
    pairs = [(context, author) for context in contexts for author in authors]
    return [
        WrittenRow(position=n, context=context.key, text=f"{TEXT} {n}", author=author)
        for n, (context, author) in enumerate(pairs, start=2)
    ]


def import_rows(dataset, rows):
    return import_messages(dataset=dataset, rows=rows, now=NOW)


class TestAnImport:
    def test_and_writers_fill_every_dialogue_exactly(self, crowd):
        dataset = make_dataset()
        contexts = [make_open_context(dataset) for _ in range(crowd.contexts)]
        writers = [make_writer(dataset=dataset) for _ in range(max(3, crowd.people // 2))]
        files = [rows_of(contexts, "Ada", "Bo"), list(reversed(rows_of(contexts, "Cy", "Di")))]

        together(
            [partial(import_rows, dataset, rows) for rows in files]
            + [partial(write_until_nothing_is_left, writer) for writer in writers]
        )
        # A dialogue whose slots an import held last may look taken to a writer who asked meanwhile.
        together([partial(write_until_nothing_is_left, writer) for writer in writers])

        assert all(is_filled_by_three_people(context) for context in contexts)

    def test_of_one_file_twice_at_once_is_one_import(self, crowd):
        for _ in range(crowd.rounds):
            dataset = make_dataset()
            rows = rows_of([make_open_context(dataset) for _ in range(4)], "Ada", "Bo")

            reports = together([partial(import_rows, dataset, rows)] * 3)

            assert sorted(report.n_stored for report in reports) == [0, 0, 8]
            assert sorted(report.n_known for report in reports) == [0, 8, 8]
            assert Writer.objects.filter(dataset=dataset).count() == 2

    def test_waits_for_a_writer_who_takes_the_last_slot_and_is_told(self):
        dataset = make_dataset()
        context = make_context(dataset=dataset, slots_left=1)
        writer = make_writer(dataset=dataset)

        report = while_uncommitted(
            partial(lease_next, writer),
            partial(import_rows, dataset, rows_of([context], "Ada")),
            has_to_wait=True,
        )

        assert (report.n_stored, report.n_refused) == (0, 1)
        assert Context.objects.get(pk=context.pk).slots_left == 0
