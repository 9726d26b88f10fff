"""How an invited person becomes a writer, or does not."""

import hashlib

import pytest

from access.models import LogEntry
from completions.choices import Background, WriterState
from completions.models import WriterConsent
from completions.writers import services
from tests.helpers.factories import HOUR, NOW, make_dataset, make_writer
from tests.helpers.factories_of_people import make_vetting

pytestmark = pytest.mark.django_db

GONE = [
    WriterState.PAUSED,
    WriterState.REFUSED,
    WriterState.LEFT,
    WriterState.WITHDRAWN,
    WriterState.ELSEWHERE,
]


def make_newcomer(**fields):
    return make_writer(**{"state": WriterState.INVITED, "admitted_at": None} | fields)


def accept(writer, now=NOW):
    return services.accept_invitation(
        writer=writer, consent_version="2", consent_text="You may stop.", now=now
    )


class TestAcceptInvitation:
    @pytest.mark.parametrize("state", [WriterState.INVITED, WriterState.DECLINED])
    def test_stores_the_consent_and_goes_on_to_the_profile(self, state):
        writer = make_newcomer(state=state)

        accept(writer)

        writer.refresh_from_db()
        consent = writer.consents.get()
        assert (writer.state, writer.admitted_at) == (WriterState.PROFILING, None)
        assert (consent.version, consent.given_at) == ("2", NOW)
        assert consent.text_hash == hashlib.sha256(b"You may stop.").hexdigest()

    def test_changes_nothing_when_repeated(self):
        writer = make_newcomer()
        accept(writer)

        assert accept(writer, NOW + HOUR).state == WriterState.PROFILING

        assert writer.consents.get().given_at == NOW

    @pytest.mark.parametrize("state", [WriterState.VETTING, WriterState.ACTIVE])
    def test_does_not_ask_again_who_has_gone_further(self, state):
        writer = make_writer(state=state)

        assert accept(writer).state == state
        assert not WriterConsent.objects.exists()

    @pytest.mark.parametrize("state", GONE)
    def test_refuses_who_may_not_write_any_more(self, state):
        writer = make_writer(state=state)

        with pytest.raises(services.WriterNotActiveError):
            accept(writer)

        writer.refresh_from_db()
        assert writer.state == state
        assert not writer.consents.exists()


class TestDeclineInvitation:
    def test_forgets_the_address_and_stores_nothing_else(self):
        writer = make_newcomer(email="ada@example.org")

        for _ in range(2):
            services.decline_invitation(writer=writer)

        writer.refresh_from_db()
        assert (writer.state, writer.email) == (WriterState.DECLINED, "")
        assert not WriterConsent.objects.exists()
        assert not LogEntry.objects.exists()

    @pytest.mark.parametrize("state", [WriterState.PROFILING, WriterState.ACTIVE, *GONE])
    def test_is_no_way_to_leave_after_agreeing(self, state):
        writer = make_writer(state=state, email="ada@example.org")

        with pytest.raises(services.WriterNotActiveError):
            services.decline_invitation(writer=writer)

        writer.refresh_from_db()
        assert (writer.state, writer.email) == (state, "ada@example.org")


class TestSaveProfile:
    def save(self, writer, *, background=Background.PEER, has_own_system=False):
        services.save_profile(
            writer=writer, background=background, has_own_system=has_own_system, now=NOW
        )
        writer.refresh_from_db()
        return writer

    def make_agreed(self, **dataset):
        return make_newcomer(state=WriterState.PROFILING, dataset=make_dataset(**dataset))

    def test_leads_on_to_the_trial(self):
        writer = self.save(self.make_agreed(vetting=make_vetting()))

        assert (writer.state, writer.admitted_at) == (WriterState.VETTING, None)
        assert writer.background == Background.PEER

    def test_lets_in_where_there_is_no_trial(self):
        writer = self.save(self.make_agreed())

        assert (writer.state, writer.admitted_at) == (WriterState.ACTIVE, NOW)

    @pytest.mark.parametrize("is_offered", [True, False])
    def test_gives_a_system_of_ones_own_where_it_is_offered(self, is_offered):
        writer = self.make_agreed(offers_own_systems=is_offered)

        assert self.save(writer, has_own_system=True).has_own_system is is_offered

    def test_keeps_the_first_answer(self):
        writer = self.save(self.make_agreed())

        assert self.save(writer, background=Background.CROWD).background == Background.PEER

    @pytest.mark.parametrize("state", [WriterState.INVITED, WriterState.DECLINED, *GONE])
    def test_refuses_who_has_not_agreed_or_has_gone(self, state):
        writer = make_writer(state=state)

        with pytest.raises(services.WriterNotActiveError):
            self.save(writer)

        writer.refresh_from_db()
        assert (writer.state, writer.background) == (state, "")
