"""What a writer types, sends and changes, and what happens to a text that cannot be taken."""

import uuid
from urllib.parse import urlencode

import pytest
from django.http import QueryDict

from completions.choices import LeaseOutcome, MessageState, WriterState
from completions.dialogues import wording
from completions.models import Completion, Context, Dataset, Message
from completions.writers.forms import typed
from completions.writers.services.leasing import (
    ContextTakenError,
    DatasetFrozenError,
    WriterNotActiveError,
    WritingLeaseNotFoundError,
    release_expired_writing_leases,
)
from completions.writers.services.sending import (
    DraftOutdatedError,
    LookAgainError,
    MessageClosedError,
    OwnWordsMissingError,
    Typed,
)
from tests.completions.writers.desk import SENT
from tests.helpers.factories import HOUR, NOW, digest, make_dataset, make_writer, make_writing_lease
from tests.helpers.factories_of_people import make_accepted, make_sent
from tests.helpers.written import (
    TEXT,
    draft_of,
    lease_next,
    make_open_context,
    save_draft,
    send,
    set_state,
    skip,
    slots_of,
)

pytestmark = pytest.mark.django_db

REACH = "Do write to me at ada@example.org whenever it gets dark."
BETTER = "That sounds lonely, and so quiet. Who would you call if you could?"
FAR_TOO_LONG = "x" * (wording.MAX_CHARACTERS + 1)


@pytest.fixture
def lease(writer, context):
    """A lease that the writer holds."""
    return lease_next(writer)


@pytest.fixture
def sent(lease):
    """A lease under which a message was sent."""
    send(lease)
    lease.refresh_from_db()
    return lease


def sweep():
    release_expired_writing_leases(now=NOW + 2 * HOUR)


def freeze(dataset):
    Dataset.objects.filter(pk=dataset.pk).update(frozen_at=NOW)


def texts(message):
    return list(message.revisions.order_by("number").values_list("text", flat=True))


class TestWhatIsPosted:
    @pytest.mark.parametrize(
        ("text", "kept"),
        [("one\r\ntwo", "one\ntwo"), ("one\0two", "onetwo"), (" spaced ", " spaced ")],
        ids=["line ends of a browser", "what no database takes", "spaces as typed"],
    )
    def test_is_a_text_as_it_was_typed(self, text, kept):
        assert typed(QueryDict(urlencode({"text": text}))) == Typed(kept)

    @pytest.mark.parametrize(
        ("typing_ms", "pastes", "pasted_characters", "kept"),
        [
            ("4200", "1", "88", (4200, 1, 88)),
            ("-5", "1.5", "\u0663", (0, 0, 0)),
            ("9" * 12, "99999", "9" * 4000, (2**31 - 1, 2**15 - 1, 0)),
        ],
        ids=["plain", "no plain numbers", "absurd"],
    )
    def test_has_signals_that_are_bounded(self, typing_ms, pastes, pasted_characters, kept):
        signals = {"typing_ms": typing_ms, "pastes": pastes, "pasted_characters": pasted_characters}

        assert typed(QueryDict(urlencode(signals))) == Typed("", *kept)


class TestADraft:
    def test_is_what_was_typed_last_however_long(self, lease):
        save_draft(lease, "I can")
        save_draft(lease, FAR_TOO_LONG)

        assert draft_of(lease) == FAR_TOO_LONG

    def test_never_counts_back_what_was_typed_and_pasted(self, lease):
        save_draft(lease, typing_ms=5_000, pastes=2, pasted_characters=90)

        save_draft(lease, "From another device.", typing_ms=700, pastes=3)

        lease.refresh_from_db()
        assert (lease.typing_ms, lease.pastes, lease.pasted_characters) == (5_000, 3, 90)

    def test_is_kept_when_the_lease_was_given_back(self, lease):
        sweep()

        save_draft(lease)

        assert draft_of(lease) == "I can hear how"

    def test_that_is_older_than_what_was_sent_is_refused(self, sent):
        with pytest.raises(DraftOutdatedError):
            save_draft(sent, "typed in an old tab", seen=0)

        assert draft_of(sent) == ""

    def test_of_a_new_version_is_kept_until_it_is_what_was_sent(self, sent):
        save_draft(sent, f"{TEXT} And then?", seen=1)
        begun = draft_of(sent)
        save_draft(sent, f"{TEXT} ", seen=1)

        assert (begun, draft_of(sent)) == (f"{TEXT} And then?", "")


class TestALeaseThatIsNotTheWriters:
    @pytest.mark.parametrize("act", [save_draft, send, skip])
    def test_is_not_found_by_a_token_that_nobody_has(self, lease, act):
        lease.token = uuid.uuid4()

        with pytest.raises(WritingLeaseNotFoundError):
            act(lease)

        assert not Message.objects.exists()

    @pytest.mark.parametrize("act", [save_draft, send])
    @pytest.mark.parametrize("is_withdrawn", [False, True], ids=["another", "who has withdrawn"])
    def test_is_not_found_and_nothing_is_kept_by(self, lease, dataset, act, is_withdrawn):
        writer = lease.writer if is_withdrawn else make_writer(dataset=dataset)
        if is_withdrawn:
            set_state(writer, WriterState.WITHDRAWN)

        with pytest.raises(WritingLeaseNotFoundError):
            act(lease, writer=writer)

        assert draft_of(lease) == ""
        assert not Message.objects.exists()


class TestSendMessage:
    def test_stores_the_first_version_of_a_message_that_waits_and_closes_the_lease(
        self, lease, context
    ):
        message = send(lease, f"\n {TEXT} ", now=NOW + HOUR)

        message.refresh_from_db()
        assert (message.state, message.completion) == (MessageState.WAITING, None)
        assert message.sent_at == message.changed_at == NOW + HOUR
        (version,) = message.revisions.all()
        assert (version.number, version.text, version.is_declared) == (1, TEXT, True)
        assert version.content_hash == digest(TEXT)
        assert "leaks-" in version.rules
        assert not Completion.objects.exists()
        lease.refresh_from_db()
        assert (lease.outcome, lease.closed_at) == (LeaseOutcome.SUBMITTED, NOW + HOUR)
        assert lease.draft == ""
        assert slots_of(context) == 2

    def test_keeps_how_the_text_came_about(self, lease):
        save_draft(lease, typing_ms=9_000, pastes=1)

        version = send(lease, typing_ms=8_000, pasted_characters=40).revisions.get()

        figures = (version.typing_ms, version.pastes, version.pasted_characters)
        assert figures == (9_000, 1, 40)

    @pytest.mark.parametrize(
        "close",
        [lambda _lease: None, lambda _lease: sweep(), skip],
        ids=["open", "swept", "skipped"],
    )
    def test_accepts_a_text_after_its_time_while_the_slot_is_free(self, lease, context, close):
        close(lease)

        send(lease, now=NOW + 5 * HOUR)

        lease.refresh_from_db()
        assert (lease.outcome, lease.skip_reason) == (LeaseOutcome.SUBMITTED, "")
        assert slots_of(context) == 2

    def test_takes_the_same_number_of_queries_whatever_came_before(
        self, writer, dataset, context, django_assert_num_queries
    ):
        send(lease_next(make_writer(dataset=dataset)))
        lease = lease_next(writer)

        # Keep the draft: savepoint and its release; lock the writer and the lease; store the draft.
        # Read the lease with its dialogue; what the text is compared with: own, others', models'.
        # Then: savepoint and its release; lock the writer, the lease, the message; read the
        # dataset; look for a version; store the message and its first version; empty the draft;
        # close the lease.
        with django_assert_num_queries(20):
            send(lease)


class TestARefusedText:
    @pytest.mark.parametrize(
        ("text", "is_own_words", "error"),
        [
            ("", True, wording.UnusableTextError),
            ("word " * 151, True, wording.UnusableTextError),
            (TEXT, False, OwnWordsMissingError),
            (REACH, True, LookAgainError),
        ],
        ids=["empty", "too long", "not declared", "to be looked at again"],
    )
    def test_stays_the_draft_of_an_open_lease(self, lease, text, is_own_words, error):
        with pytest.raises(error):
            send(lease, text, is_own_words=is_own_words)

        lease.refresh_from_db()
        assert (lease.draft, lease.closed_at) == (text, None)
        assert not Message.objects.exists()

    def test_comes_when_others_have_filled_the_context(self, lease, context):
        sweep()
        Context.objects.update(slots_left=0)

        with pytest.raises(ContextTakenError):
            send(lease, now=NOW + 3 * HOUR)

        lease.refresh_from_db()
        assert (lease.draft, lease.outcome) == (TEXT, LeaseOutcome.EXPIRED)
        assert slots_of(context) == 0
        assert not Message.objects.exists()

    @pytest.mark.parametrize(
        ("settle", "error"),
        [
            (lambda lease: freeze(lease.context.dataset), DatasetFrozenError),
            (lambda lease: set_state(lease.writer, WriterState.PAUSED), WriterNotActiveError),
            (lambda lease: set_state(lease.writer, WriterState.LEFT), WriterNotActiveError),
        ],
        ids=["the texts are final", "the writer is on pause", "the writer has left"],
    )
    def test_comes_while(self, lease, settle, error):
        settle(lease)

        with pytest.raises(error):
            send(lease)

        assert draft_of(lease) == TEXT
        assert not Message.objects.exists()


class TestLookingAgain:
    def test_is_asked_for_with_the_words_and_may_end_in_sending_all_the_same(self, lease):
        with pytest.raises(LookAgainError) as asked:
            send(lease, REACH)
        version = send(lease, REACH, has_looked_again=True).revisions.get()

        assert [one.matched for one in asked.value.findings] == ["ada@example.org"]
        assert version.has_looked_again
        assert [flag["matched"] for flag in version.flags] == ["ada@example.org"]

    def test_is_said_of_those_alone_who_were_asked(self, lease):
        assert not send(lease, has_looked_again=True).revisions.get().has_looked_again


class TestANewVersion:
    def test_is_kept_beside_the_one_before_and_takes_no_slot(self, sent, context):
        closed = (sent.closed_at, sent.outcome)

        message = send(sent, BETTER, now=NOW + HOUR)

        message.refresh_from_db()
        sent.refresh_from_db()
        assert texts(message) == [TEXT, BETTER]
        assert (message.sent_at, message.changed_at) == (NOW, NOW + HOUR)
        assert (sent.draft, sent.closed_at, sent.outcome) == ("", *closed)
        assert slots_of(context) == 2

    def test_of_a_message_that_came_back_waits_for_review_again(self, sent):
        Message.objects.update(state=MessageState.RETURNED)

        message = send(sent, BETTER)

        message.refresh_from_db()
        assert message.state == MessageState.WAITING

    def test_of_an_accepted_message_leaves_the_completion_as_it_is(self):
        message = make_accepted()

        send(message.lease, BETTER)

        message.refresh_from_db()
        assert message.state == MessageState.WAITING
        assert message.completion is not None
        assert message.completion.text == TEXT

    def test_with_nothing_changed_is_none(self, sent):
        Message.objects.update(state=MessageState.RETURNED)

        message = send(sent, f" {TEXT}\n", now=NOW + HOUR)

        assert texts(message) == [TEXT]
        assert (message.state, message.changed_at) == (MessageState.RETURNED, NOW)

    def test_of_a_trial_message_is_one_while_the_trial_lasts(self):
        message = make_trial_message(WriterState.VETTING)

        assert send(message.lease, BETTER).state == MessageState.TRIAL
        assert texts(message) == [TEXT, BETTER]


def make_trial_message(writer_state):
    lease = make_writing_lease(
        context=make_open_context(make_dataset(is_for_checks=True), slots_left=0),
        writer=make_writer(state=writer_state),
        is_trial=True,
        **SENT,
    )
    return make_sent(lease=lease, state=MessageState.TRIAL)


def make_frozen():
    message = make_sent()
    freeze(message.lease.context.dataset)
    return message


def make_compared(**fields):
    message = make_accepted()
    Completion.objects.update(fixed_at=NOW)
    Message.objects.update(**fields)
    return message


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: make_sent(state=MessageState.REJECTED), MessageClosedError),
        (lambda: make_sent(state=MessageState.LAPSED), MessageClosedError),
        (make_compared, MessageClosedError),
        (lambda: make_compared(state=MessageState.WAITING), MessageClosedError),
        (lambda: make_trial_message(WriterState.ACTIVE), MessageClosedError),
        (make_frozen, DatasetFrozenError),
    ],
    ids=["rejected", "lapsed", "compared", "compared in an older version", "trial over", "frozen"],
)
def test_a_message_that_is_settled_stays_as_it_is_and_the_new_text_a_draft(make, error):
    message = make()

    with pytest.raises(error):
        send(message.lease, BETTER)

    assert texts(message) == [TEXT]
    assert draft_of(message.lease) == BETTER
