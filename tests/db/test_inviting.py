"""How a person becomes a writer."""

import hashlib

import pytest

from completions import services
from completions.choices import WriterState
from completions.models import LogEntry
from tests.factories import HOUR, NOW, make_dataset, make_writer
from tests.factories_written_once import make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def dataset():
    return make_dataset()


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
