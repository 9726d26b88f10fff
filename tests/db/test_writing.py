"""How people write completions: invitation, one context at a time, and what is kept."""

import datetime as dt
import hashlib
import itertools
import uuid

import pytest

from completions import services, wording
from completions.choices import LeaseOutcome, SystemKind, WriterState
from completions.models import Completion, Context, LogEntry, System, Writer, WritingLease
from tests.factories import (
    HOUR,
    NOW,
    make_context,
    make_dataset,
    make_dialogue,
    make_writer,
)
from tests.factories_written_once import make_user

pytestmark = pytest.mark.django_db

SECOND = dt.timedelta(seconds=1)
TEXT = "That sounds lonely. What would a good evening look like?"


def lease_next(writer, now=NOW):
    return services.lease_next_context(writer=writer, now=now)


def submit(lease, text=TEXT, *, is_own_words=True, writer=None, now=NOW):
    return services.submit_completion(
        token=lease.token,
        writer=writer or lease.writer,
        text=text,
        is_own_words=is_own_words,
        now=now,
    )


def skip(lease, reason="upsetting", now=NOW):
    services.skip_context(token=lease.token, writer=lease.writer, reason=reason, now=now)


def save_draft(lease, text="I can hear how", writer=None):
    services.save_draft(token=lease.token, writer=writer or lease.writer, text=text)


def draft_of(lease):
    return WritingLease.objects.get(pk=lease.pk).draft


def make_open_context(dataset, **fields):
    return make_context(dialogue=make_dialogue(dataset=dataset), **fields)


def set_state(writer, state):
    Writer.objects.filter(pk=writer.pk).update(state=state)


def slots_of(context):
    return Context.objects.get(pk=context.pk).slots_left


@pytest.fixture
def dataset():
    return make_dataset()


@pytest.fixture
def writer(dataset):
    return make_writer(dataset=dataset)


@pytest.fixture
def context(dataset):
    return make_open_context(dataset, slots_left=3)


class TestInviteWriter:
    def test_creates_a_writer_with_a_pseudonym_and_says_so_in_the_log(self, dataset):
        by = make_user()

        writer = services.invite_writer(dataset=dataset, now=NOW, email="Ada@Example.org ", by=by)

        writer.refresh_from_db()
        assert (writer.state, writer.invited_at) == (WriterState.INVITED, NOW)
        assert writer.email == "ada@example.org"
        entry = LogEntry.objects.get()
        assert (entry.action, entry.by, entry.at) == ("writer.invited", by, NOW)
        assert entry.subject == f"writer {writer.code}"

    def test_returns_the_writer_whom_an_address_has_already(self, dataset):
        writer = services.invite_writer(dataset=dataset, now=NOW, email="ada@example.org")

        again = services.invite_writer(dataset=dataset, now=NOW, email="ADA@example.org")

        assert again == writer
        assert LogEntry.objects.count() == 1

    def test_creates_a_writer_each_time_without_an_address(self, dataset):
        first = services.invite_writer(dataset=dataset, now=NOW)

        assert services.invite_writer(dataset=dataset, now=NOW) != first

    def test_invites_one_person_to_several_datasets(self, dataset):
        first = services.invite_writer(dataset=dataset, now=NOW, email="ada@example.org")
        other = services.invite_writer(dataset=make_dataset(), now=NOW, email="ada@example.org")

        assert first != other


class TestAcceptInvitation:
    def accept(self, writer, now=NOW):
        return services.accept_invitation(
            writer=writer, consent_version="2", consent_text="You may stop.", now=now
        )

    def test_stores_the_consent_and_makes_the_writer_active(self, dataset):
        writer = make_writer(dataset=dataset, state=WriterState.INVITED)

        self.accept(writer)

        writer.refresh_from_db()
        consent = writer.consents.get()
        assert writer.state == WriterState.ACTIVE
        assert (consent.version, consent.given_at) == ("2", NOW)
        assert consent.text_hash == hashlib.sha256(b"You may stop.").hexdigest()

    def test_changes_nothing_when_repeated(self, dataset):
        writer = make_writer(dataset=dataset, state=WriterState.INVITED)
        self.accept(writer)

        assert self.accept(writer, NOW + HOUR).state == WriterState.ACTIVE

        assert writer.consents.get().given_at == NOW

    @pytest.mark.parametrize("state", [WriterState.PAUSED, WriterState.LEFT, WriterState.WITHDRAWN])
    def test_refuses_a_writer_who_may_not_write_any_more(self, dataset, state):
        writer = make_writer(dataset=dataset, state=state)

        with pytest.raises(services.WriterNotActiveError):
            self.accept(writer)

        writer.refresh_from_db()
        assert writer.state == state
        assert not writer.consents.exists()


class TestLeaseNextContext:
    def test_claims_a_slot_for_two_hours(self, writer, context):
        lease = lease_next(writer)

        assert (lease.context, lease.writer) == (context, writer)
        assert (lease.issued_at, lease.expires_at) == (NOW, NOW + 2 * HOUR)
        assert slots_of(context) == 2

    def test_returns_the_open_lease_again_and_claims_nothing_more(self, writer, dataset):
        contexts = [make_open_context(dataset) for _ in range(2)]
        lease = lease_next(writer)

        again = lease_next(writer, NOW + HOUR)

        assert (again, again.expires_at) == (lease, lease.expires_at)
        assert sum(slots_of(one) for one in contexts) == 5

    def test_prolongs_a_lease_that_ran_out_and_was_not_given_back(self, writer, context):
        lease = lease_next(writer)

        assert lease_next(writer, NOW + 2 * HOUR) == lease

        lease.refresh_from_db()
        assert lease.expires_at == NOW + 4 * HOUR

    def test_gives_contexts_with_the_most_completions_missing_first(self, writer, dataset):
        make_open_context(dataset, slots_left=1)
        emptiest = make_open_context(dataset, slots_left=3)
        make_open_context(dataset, slots_left=2)

        assert lease_next(writer).context == emptiest

    @pytest.mark.parametrize("close", [submit, skip], ids=["written for", "skipped"])
    def test_never_gives_a_context_again_once_it_is(self, writer, context, close):
        close(lease_next(writer))

        assert lease_next(writer) is None

    def test_never_gives_a_context_again_once_the_lease_expired(self, writer, context):
        lease_next(writer)
        services.release_expired_writing_leases(now=NOW + 2 * HOUR)

        assert lease_next(writer, NOW + 2 * HOUR) is None
        assert slots_of(context) == 3

    def test_finds_nothing_in_full_contexts_or_other_datasets(self, writer, dataset):
        make_open_context(dataset, slots_left=0)
        make_open_context(make_dataset())

        assert lease_next(writer) is None

    @pytest.mark.parametrize("state", sorted(set(WriterState) - {WriterState.ACTIVE}))
    def test_refuses_a_writer_who_is(self, writer, context, state):
        set_state(writer, state)

        with pytest.raises(services.WriterNotActiveError):
            lease_next(writer)

        assert slots_of(context) == 3

    def test_fills_every_context_with_three_completions_by_three_people(self, dataset):
        contexts = [make_open_context(dataset, slots_left=3) for _ in range(3)]
        writers = [make_writer(dataset=dataset) for _ in range(5)]

        for writer in itertools.chain(*[writers] * 3):
            if (lease := lease_next(writer)) is not None:
                submit(lease)

        for context in contexts:
            people = list(context.completions.values_list("writer", flat=True))
            assert len(people) == len(set(people)) == 3
            assert slots_of(context) == 0

    def test_takes_the_same_number_of_queries_however_many_contexts(
        self, writer, dataset, django_assert_num_queries
    ):
        for _ in range(8):
            make_open_context(dataset)

        # Savepoint and its release; lock the writer; look for an open lease; lock a context;
        # take its slot; store the lease.
        with django_assert_num_queries(7):
            lease_next(writer)


class TestSaveDraft:
    def test_keeps_what_is_typed_so_far(self, writer, context):
        lease = lease_next(writer)

        save_draft(lease, "I can")
        save_draft(lease, "I can hear how")

        assert draft_of(lease) == "I can hear how"

    def test_cuts_what_no_completion_could_hold(self, writer, context):
        lease = lease_next(writer)

        save_draft(lease, "x" * (wording.MAX_CHARACTERS + 1))

        assert len(draft_of(lease)) == wording.MAX_CHARACTERS

    def test_leaves_a_submitted_text_alone(self, writer, context):
        lease = lease_next(writer)
        submit(lease)

        save_draft(lease, "typed in an old tab")

        assert draft_of(lease) == TEXT

    def test_keeps_a_draft_of_a_lease_that_was_given_back(self, writer, context):
        lease = lease_next(writer)
        services.release_expired_writing_leases(now=NOW + 2 * HOUR)

        save_draft(lease)

        assert draft_of(lease) == "I can hear how"

    def test_refuses_a_token_that_nobody_has(self, writer):
        with pytest.raises(services.WritingLeaseNotFoundError):
            services.save_draft(token=uuid.uuid4(), writer=writer, text="I can")

    def test_refuses_the_token_of_another_writer(self, writer, context, dataset):
        lease = lease_next(writer)

        with pytest.raises(services.WritingLeaseNotFoundError):
            save_draft(lease, writer=make_writer(dataset=dataset))

        assert draft_of(lease) == ""

    def test_stores_nothing_of_a_writer_who_has_withdrawn(self, writer, context):
        lease = lease_next(writer)
        set_state(writer, WriterState.WITHDRAWN)

        with pytest.raises(services.WritingLeaseNotFoundError):
            save_draft(lease)

        assert draft_of(lease) == ""


class TestSubmitCompletion:
    def test_stores_the_text_as_a_completion_of_the_human_supporters(self, writer, context):
        completion = submit(lease_next(writer), f"\n {TEXT} ", now=NOW + HOUR)

        completion.refresh_from_db()
        assert (completion.context, completion.writer) == (context, writer)
        assert (completion.text, completion.created_at) == (TEXT, NOW + HOUR)
        assert completion.content_hash == hashlib.sha256(TEXT.encode()).hexdigest()
        assert completion.system.kind == SystemKind.HUMAN

    def test_closes_the_lease_and_keeps_the_slot(self, writer, context):
        lease = lease_next(writer)

        submit(lease, now=NOW + HOUR)

        lease.refresh_from_db()
        assert (lease.outcome, lease.closed_at) == (LeaseOutcome.SUBMITTED, NOW + HOUR)
        assert slots_of(context) == 2

    def test_files_all_people_under_one_system(self, dataset, context):
        for _ in range(2):
            submit(lease_next(make_writer(dataset=dataset)))

        assert System.objects.get(kind=SystemKind.HUMAN).completions.count() == 2

    @pytest.mark.parametrize("text", [TEXT, "Something else entirely, in another tab."])
    def test_returns_the_completion_already_stored_when_repeated(self, writer, context, text):
        lease = lease_next(writer)
        completion = submit(lease)

        again = submit(lease, text, now=NOW + HOUR)

        assert (again, again.text) == (completion, TEXT)
        assert Completion.objects.count() == 1
        assert slots_of(context) == 2

    def test_accepts_a_text_after_its_time_as_long_as_nobody_took_the_slot_back(
        self, writer, context
    ):
        assert submit(lease_next(writer), now=NOW + 5 * HOUR).pk

    def test_takes_a_slot_again_when_the_lease_was_given_back(self, writer, context):
        lease = lease_next(writer)
        services.release_expired_writing_leases(now=NOW + 2 * HOUR)

        submit(lease, now=NOW + 3 * HOUR)

        lease.refresh_from_db()
        assert lease.outcome == LeaseOutcome.SUBMITTED
        assert slots_of(context) == 2

    def test_counts_when_the_context_was_skipped_in_another_tab(self, writer, context):
        lease = lease_next(writer)
        skip(lease)

        submit(lease)

        lease.refresh_from_db()
        assert (lease.outcome, lease.skip_reason) == (LeaseOutcome.SUBMITTED, "")
        assert slots_of(context) == 2

    def test_takes_the_same_number_of_queries_whatever_came_before(
        self, writer, dataset, context, django_assert_num_queries
    ):
        submit(lease_next(make_writer(dataset=dataset)))
        lease = lease_next(writer)

        # Keep the draft: savepoint and its release, lock the lease, store the draft. Then:
        # savepoint and its release; lock the writer; lock the lease; look for a completion; find
        # the human system; store the completion; close the lease.
        with django_assert_num_queries(12):
            submit(lease)


class TestARefusedCompletion:
    def is_kept_as_a_draft(self, lease, text):
        return draft_of(lease) == text and not Completion.objects.exists()

    @pytest.mark.parametrize(
        "text", ["Oh no", "word " * 151], ids=["far too short", "far too long"]
    )
    def test_is_unusable(self, writer, context, text):
        lease = lease_next(writer)

        with pytest.raises(wording.UnusableTextError):
            submit(lease, text)

        lease.refresh_from_db()
        assert self.is_kept_as_a_draft(lease, text)
        assert lease.closed_at is None

    def test_was_not_declared_to_be_in_own_words(self, writer, context):
        lease = lease_next(writer)

        with pytest.raises(services.OwnWordsMissingError):
            submit(lease, is_own_words=False)

        lease.refresh_from_db()
        assert self.is_kept_as_a_draft(lease, TEXT)
        assert lease.closed_at is None

    def test_comes_when_others_have_filled_the_context(self, writer, context):
        lease = lease_next(writer)
        services.release_expired_writing_leases(now=NOW + 2 * HOUR)
        Context.objects.update(slots_left=0)

        with pytest.raises(services.ContextTakenError):
            submit(lease, now=NOW + 3 * HOUR)

        lease.refresh_from_db()
        assert self.is_kept_as_a_draft(lease, TEXT)
        assert lease.outcome == LeaseOutcome.EXPIRED
        assert slots_of(context) == 0

    @pytest.mark.parametrize("state", [WriterState.PAUSED, WriterState.LEFT])
    def test_comes_from_a_writer_who_may_not_write_any_more(self, writer, context, state):
        lease = lease_next(writer)
        set_state(writer, state)

        with pytest.raises(services.WriterNotActiveError):
            submit(lease)

        assert self.is_kept_as_a_draft(lease, TEXT)

    def test_comes_from_a_writer_who_has_withdrawn_and_is_not_kept_at_all(self, writer, context):
        lease = lease_next(writer)
        set_state(writer, WriterState.WITHDRAWN)

        with pytest.raises(services.WritingLeaseNotFoundError):
            submit(lease)

        assert self.is_kept_as_a_draft(lease, "")

    def test_has_a_token_that_nobody_has(self, writer, context):
        lease = lease_next(writer)
        lease.token = uuid.uuid4()

        with pytest.raises(services.WritingLeaseNotFoundError):
            submit(lease)

        assert self.is_kept_as_a_draft(lease, "")

    def test_has_the_token_of_another_writer(self, writer, context, dataset):
        lease = lease_next(writer)

        with pytest.raises(services.WritingLeaseNotFoundError):
            submit(lease, writer=make_writer(dataset=dataset))

        assert self.is_kept_as_a_draft(lease, "")


class TestSkipContext:
    def test_gives_the_slot_back_and_keeps_the_reason(self, writer, context):
        lease = lease_next(writer)

        skip(lease, "too close to home", now=NOW + SECOND)

        lease.refresh_from_db()
        assert (lease.outcome, lease.skip_reason) == (LeaseOutcome.SKIPPED, "too close to home")
        assert lease.closed_at == NOW + SECOND
        assert slots_of(context) == 3

    def test_keeps_the_draft(self, writer, context):
        lease = lease_next(writer)
        save_draft(lease)

        skip(lease)

        assert draft_of(lease) == "I can hear how"

    def test_changes_nothing_when_repeated(self, writer, context):
        lease = lease_next(writer)
        skip(lease, "upsetting")

        skip(lease, "unclear", now=NOW + SECOND)

        lease.refresh_from_db()
        assert (lease.skip_reason, lease.closed_at) == ("upsetting", NOW)
        assert slots_of(context) == 3

    def test_changes_nothing_when_the_text_was_sent_in_another_tab(self, writer, context):
        lease = lease_next(writer)
        submit(lease)

        skip(lease)

        lease.refresh_from_db()
        assert lease.outcome == LeaseOutcome.SUBMITTED
        assert slots_of(context) == 2

    def test_refuses_a_token_that_nobody_has(self, writer):
        with pytest.raises(services.WritingLeaseNotFoundError):
            services.skip_context(token=uuid.uuid4(), writer=writer, reason="unclear", now=NOW)


class TestReleaseExpiredWritingLeases:
    def test_closes_what_ran_out_and_nothing_else(self, dataset, context):
        late, open_, sent = (lease_next(make_writer(dataset=dataset)) for _ in range(3))
        WritingLease.objects.filter(pk=open_.pk).update(expires_at=NOW + 2 * HOUR + SECOND)
        submit(sent)

        assert services.release_expired_writing_leases(now=NOW + 2 * HOUR) == 1

        outcomes = [WritingLease.objects.get(pk=one.pk).outcome for one in (late, open_, sent)]
        assert outcomes == [LeaseOutcome.EXPIRED, "", LeaseOutcome.SUBMITTED]
        assert slots_of(context) == 1

    def test_keeps_the_draft(self, writer, context):
        lease = lease_next(writer)
        save_draft(lease)

        services.release_expired_writing_leases(now=NOW + 2 * HOUR)

        assert draft_of(lease) == "I can hear how"

    def test_finds_nothing_more_when_repeated(self, writer, context):
        lease_next(writer)
        services.release_expired_writing_leases(now=NOW + 2 * HOUR)

        assert services.release_expired_writing_leases(now=NOW + 2 * HOUR) == 0
        assert slots_of(context) == 3
