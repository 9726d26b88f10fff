"""Whom a pool invites, how they become writers, and what an admin sets for all of them."""

import pytest
from django.core.management import CommandError

from access.models import LogEntry
from completions.choices import Background, MailKind, MessageState, WriterState
from completions.models import WriterConsent, WriterMail
from completions.writers import emails, guidelines
from completions.writers.services import inviting
from completions.writers.services.inviting import (
    CannotBeInvitedError,
    accept_invitation,
    decline_invitation,
    invite_again,
    invite_writer,
    invite_writers,
    renew_link,
)
from completions.writers.services.leasing import WriterNotActiveError
from completions.writers.services.pool import MessagesTakenError, PoolSettings, configure_pool
from tests.completions.writers.desk import SENT, run_writers
from tests.helpers.factories import HOUR, NOW, digest, make_dataset, make_writer, make_writing_lease
from tests.helpers.factories_of_people import make_accepted, make_mail, make_message, make_vetting
from tests.helpers.factories_written_once import make_user
from tests.helpers.written import make_open_context, slots_of

pytestmark = pytest.mark.django_db


class TestInviteWriter:
    def test_creates_a_writer_logs_it_and_queues_the_mail_with_the_link(self, dataset):
        by = make_user()

        writer = invite_writer(dataset=dataset, now=NOW, email="Ada@Example.org ", by=by)

        writer.refresh_from_db()
        invited = (writer.state, writer.invited_at, writer.email)
        assert invited == (WriterState.INVITED, NOW, "ada@example.org")
        entry = LogEntry.objects.get()
        assert (entry.action, entry.by, entry.at) == ("writer.invited", by, NOW)
        assert entry.subject == f"writer {writer.code}"
        mail = WriterMail.objects.get()
        assert (mail.writer, mail.kind, mail.queued_at) == (writer, MailKind.INVITED, NOW)

    def test_returns_the_writer_whom_an_address_has_already_in_the_dataset(self, dataset):
        def invite(where, email):
            return invite_writer(dataset=where, now=NOW, email=email)

        first = invite(dataset, "ada@example.org")
        again = invite(dataset, "ADA@example.org")
        elsewhere = invite(make_dataset(), "ada@example.org")

        assert first == again != elsewhere
        assert LogEntry.objects.count() == WriterMail.objects.count() == 2

    @pytest.mark.parametrize("email", ["", "ada@example.org"])
    def test_invites_nobody_to_a_frozen_dataset(self, email):
        frozen = make_dataset(frozen_at=NOW)

        with pytest.raises(CannotBeInvitedError, match="frozen"):
            invite_writer(dataset=frozen, now=NOW, email=email)

        assert not WriterMail.objects.exists()

    def test_creates_a_writer_each_time_without_an_address(self, dataset):
        first = invite_writer(dataset=dataset, now=NOW)

        assert invite_writer(dataset=dataset, now=NOW) != first
        assert not WriterMail.objects.exists()

    def test_takes_many_each_once_and_tells_new_people_from_those_of_the_pool(self, dataset):
        there = make_writer(dataset=dataset, email="ada@example.org")
        emails = ["ADA@example.org", "kim@example.org", "Kim@example.org"]

        new, known = invite_writers(dataset=dataset, emails=emails, now=NOW)

        assert known == [there]
        assert [writer.email for writer in new] == ["kim@example.org"]
        assert WriterMail.objects.count() == 1


class TestInvitingByCommand:
    def test_takes_addresses_and_files_of_them_each_once_and_tells_what_is_none(
        self, dataset, tmp_path, settings
    ):
        settings.EMAIL_BACKEND = emails.NO_SERVER
        file = tmp_path / "people.txt"
        file.write_bytes(b"kim@example.org\r\n\nADA@example.org\nkim@nowhere\n")

        said, remarks = run_writers("invite", "ada@example.org", str(file))

        assert said.startswith("Invited 2; 0 in the pool already, 1 not an address")
        assert "kim@nowhere: is no e-mail address; not invited" in remarks
        assert "No mail is set up" in remarks
        there = dataset.writers.order_by("email").values_list("email", flat=True)
        assert list(there) == ["ada@example.org", "kim@example.org"]
        assert WriterMail.objects.count() == 2

    @pytest.mark.parametrize(
        ("options", "start", "n_invited"),
        [
            (["--dry-run"], "Dry run: would invite 1; 1 in the pool already", 0),
            ([], "Invited 1; 1 in the pool already", 1),
        ],
    )
    def test_leaves_the_pool_as_it_is_and_only_counts_on_a_dry_run(
        self, dataset, options, start, n_invited
    ):
        make_writer(dataset=dataset, email="ada@example.org")

        said, remarks = run_writers("invite", "ada@example.org", "kim@example.org", *options)

        assert said.startswith(start)
        assert "No mail is set up" not in remarks
        assert dataset.writers.count() == 1 + n_invited
        assert WriterMail.objects.count() == n_invited

    @pytest.mark.parametrize("who", ["kim@nowhere", "no-such-file.txt"])
    def test_refuses_what_holds_no_address(self, dataset, who):
        with pytest.raises(CommandError) as refusal:
            run_writers("invite", who)

        assert refusal.value.returncode == 2
        assert not dataset.writers.exists()


class TestListingByCommand:
    def test_shows_state_and_counts_and_neither_address_nor_link(self, dataset):
        empty, _ = run_writers("list")
        ada = make_writer(dataset=dataset, code="Wada", email="ada@example.org")
        make_accepted(lease=make_writing_lease(writer=ada, **SENT))
        make_message(lease=make_writing_lease(writer=ada, **SENT), state=MessageState.WAITING)
        make_message(lease=make_writing_lease(writer=ada, **SENT), state=MessageState.TRIAL)
        make_writer(dataset=dataset, code="Wkim", state=WriterState.INVITED)

        said, _ = run_writers("list")
        invited, _ = run_writers("list", "--state", "invited")

        heads = "code  state    sent  accepted  waiting  returned"
        active = "Wada  ACTIVE      2         1        1         0"
        kim = "Wkim  INVITED     0         0        0         0"
        assert empty.strip() == "code  state  sent  accepted  waiting  returned"
        assert said.split("\n") == [heads, active, kim, ""]
        assert invited.split("\n") == [heads, kim, ""]

    def test_prints_links_when_they_are_asked_for_to_whom_they_lead_in(self, dataset):
        ada = make_writer(dataset=dataset, code="Wada")
        make_writer(dataset=dataset, code="Wgone", state=WriterState.WITHDRAWN)

        said, _ = run_writers("list", "--links")

        _heads, first, second, _end = said.split("\n")
        assert first.endswith(f"0  {emails.personal_link(ada)}")
        assert second.endswith("0")


def invited(**fields):
    usual = {"state": WriterState.INVITED, "email": "ada@example.org", "admitted_at": None}
    return make_writer(**usual | fields)


class TestInviteAgain:
    def test_has_the_same_link_sent_once_more_and_the_log_says_so(self):
        by, writer = make_user(), invited()

        invite_again(writer=writer, now=NOW, by=by)

        writer.refresh_from_db()
        assert writer.link_version == 1
        assert WriterMail.objects.get().kind == MailKind.INVITED
        assert LogEntry.objects.get(action="writer.invited_again").by == by

    @pytest.mark.parametrize("went", [{}, {"claimed_at": NOW, "sent_at": NOW}])
    def test_is_content_with_a_mail_that_waits_and_queues_another_once_it_went(self, went):
        writer = invited()
        make_mail(writer=writer, **went)

        invite_again(writer=writer, now=NOW)

        assert WriterMail.objects.filter(sent_at=None).count() == 1
        assert WriterMail.objects.count() == 1 + bool(went)

    @pytest.mark.parametrize(
        ("fields", "words"),
        [
            ({"email": ""}, "no address"),
            ({"state": WriterState.DECLINED, "email": ""}, "no longer in the pool"),
            ({"state": WriterState.LEFT}, "no longer in the pool"),
            ({"state": WriterState.WITHDRAWN, "email": ""}, "no longer in the pool"),
        ],
    )
    def test_refuses_somebody_who_cannot_be_reached_or_has_gone(self, fields, words):
        writer = invited(**fields)

        with pytest.raises(CannotBeInvitedError, match=words):
            invite_again(writer=writer, now=NOW)

        assert not WriterMail.objects.exists()
        assert not LogEntry.objects.exists()


class TestRenewLink:
    def test_raises_the_version_sends_the_new_link_and_logs_both_versions(self):
        by, writer = make_user(), invited()

        renew_link(writer=writer, now=NOW, by=by)

        writer.refresh_from_db()
        entry = LogEntry.objects.get()
        assert writer.link_version == 2
        assert WriterMail.objects.get().kind == MailKind.INVITED
        assert (entry.action, entry.by) == ("writer.link_renewed", by)
        assert (entry.before, entry.after) == ({"link": 1}, {"link": 2})

    @pytest.mark.parametrize("fields", [{"email": ""}, {"state": WriterState.LEFT}])
    def test_sends_nothing_to_somebody_without_an_address_or_who_has_left(self, fields):
        assert renew_link(writer=invited(**fields), now=NOW).link_version == 2
        assert not WriterMail.objects.exists()

    @pytest.mark.parametrize("state", [WriterState.WITHDRAWN, WriterState.ELSEWHERE])
    def test_refuses_who_has_no_link(self, state):
        writer = invited(state=state, email="")

        with pytest.raises(CannotBeInvitedError, match="no link"):
            renew_link(writer=writer, now=NOW)

        writer.refresh_from_db()
        assert writer.link_version == 1


GONE = ["PAUSED", "REFUSED", "LEFT", "WITHDRAWN", "ELSEWHERE"]


def accept(writer, now=NOW):
    return accept_invitation(writer=writer, now=now)


def decline(writer):
    decline_invitation(writer=writer)


def save_profile(writer, *, background=Background.PEER, has_own_system=False):
    inviting.save_profile(
        writer=writer, background=background, has_own_system=has_own_system, now=NOW
    )
    writer.refresh_from_db()
    return writer


class TestAcceptInvitation:
    @pytest.mark.parametrize("state", [WriterState.INVITED, WriterState.DECLINED])
    def test_stores_the_consent_once_and_goes_on_to_the_profile(self, state):
        writer = invited(state=state)

        for now in (NOW, NOW + HOUR):
            accept(writer, now)

        writer.refresh_from_db()
        consent = writer.consents.get()
        assert (writer.state, writer.admitted_at) == (WriterState.PROFILING, None)
        assert (consent.version, consent.given_at) == (guidelines.VERSION, NOW)
        assert consent.text_hash == digest(guidelines.consent_text())

    @pytest.mark.parametrize("state", [WriterState.VETTING, WriterState.ACTIVE])
    def test_does_not_ask_again_who_has_gone_further(self, state):
        writer = make_writer(state=state)

        assert accept(writer).state == state
        assert not WriterConsent.objects.exists()


def test_declining_forgets_the_address_and_stores_nothing_else():
    writer = invited()

    for _ in range(2):
        decline(writer)

    writer.refresh_from_db()
    assert (writer.state, writer.email) == (WriterState.DECLINED, "")
    assert not WriterConsent.objects.exists()
    assert not LogEntry.objects.exists()


class TestSaveProfile:
    def make_agreed(self, **dataset):
        return invited(state=WriterState.PROFILING, dataset=make_dataset(**dataset))

    def test_leads_on_to_the_trial(self):
        writer = save_profile(self.make_agreed(vetting=make_vetting()))

        assert (writer.state, writer.admitted_at) == (WriterState.VETTING, None)
        assert writer.background == Background.PEER

    def test_lets_in_where_there_is_no_trial_and_keeps_the_first_answer(self):
        writer = save_profile(self.make_agreed())

        again = save_profile(writer, background=Background.CROWD)

        assert (again.state, again.admitted_at) == (WriterState.ACTIVE, NOW)
        assert again.background == Background.PEER

    @pytest.mark.parametrize("is_offered", [True, False])
    def test_gives_a_system_of_ones_own_where_it_is_offered(self, is_offered):
        writer = self.make_agreed(offers_own_systems=is_offered)

        assert save_profile(writer, has_own_system=True).has_own_system is is_offered


@pytest.mark.parametrize(
    ("act", "state"),
    [
        *((accept, state) for state in GONE),
        *((decline, state) for state in (WriterState.PROFILING, WriterState.ACTIVE, *GONE)),
        *((save_profile, state) for state in (WriterState.INVITED, WriterState.DECLINED, *GONE)),
    ],
)
def test_a_step_that_is_not_open_to_a_person_changes_nothing(act, state):
    writer = make_writer(state=state, email="ada@example.org")

    with pytest.raises(WriterNotActiveError):
        act(writer)

    writer.refresh_from_db()
    assert (writer.state, writer.email, writer.background) == (state, "ada@example.org", "")
    assert not writer.consents.exists()


def set_messages(dataset, n):
    settings = PoolSettings(n, 25, offers_own_systems=False)
    return configure_pool(dataset=dataset, settings=settings, now=NOW)


class TestConfigurePool:
    def test_stores_the_settings_and_what_was_before(self):
        dataset, by = make_dataset(most_adversarial=25), make_user()

        settings = PoolSettings(5, 40, offers_own_systems=True, host={"lab": "L"})
        configure_pool(dataset=dataset, settings=settings, now=NOW, by=by)

        dataset.refresh_from_db()
        assert (dataset.most_adversarial, dataset.offers_own_systems) == (40, True)
        entry = LogEntry.objects.get()
        assert (entry.action, entry.by, entry.at) == ("pool.configured", by, NOW)
        assert entry.subject == f"dataset {dataset.slug}"
        names = ("completions_per_context", "most_adversarial", "offers_own_systems", "host")
        assert entry.before == dict(zip(names, (3, 25, False, {}), strict=True))
        assert entry.after == dict(zip(names, (5, 40, True, {"lab": "L"}), strict=True))

    def test_logs_nothing_where_nothing_changes(self):
        dataset = make_dataset(most_adversarial=25)

        set_messages(dataset, 3)

        assert not LogEntry.objects.exists()

    @pytest.mark.parametrize(("n", "left"), [(5, (4, 5)), (2, (1, 2)), (1, (0, 1))])
    def test_frees_slots_of_every_dialogue_or_takes_them_back(self, n, left):
        dataset = make_dataset()
        begun, fresh = (make_open_context(dataset, slots_left=one) for one in (2, 3))
        other = make_open_context(make_dataset(), slots_left=3)

        set_messages(dataset, n)

        assert (slots_of(begun), slots_of(fresh), slots_of(other)) == (*left, 3)

    def test_refuses_fewer_messages_than_were_written_and_changes_nothing(self):
        dataset = make_dataset()
        full, fresh = (make_open_context(dataset, slots_left=one) for one in (0, 3))

        with pytest.raises(MessagesTakenError) as refused:
            set_messages(dataset, 2)

        dataset.refresh_from_db()
        assert refused.value.n_dialogues == 1
        assert (dataset.completions_per_context, slots_of(full), slots_of(fresh)) == (3, 0, 3)
