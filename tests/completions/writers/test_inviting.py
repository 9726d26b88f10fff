"""Whom a pool invites, and how the link reaches them."""

import pytest

from access.models import LogEntry
from completions.choices import MailKind, WriterState
from completions.models import WriterMail
from completions.writers import services
from tests.helpers.factories import NOW, make_dataset, make_writer
from tests.helpers.factories_of_people import make_mail
from tests.helpers.factories_written_once import make_user

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

    def test_queues_the_mail_with_the_link(self, dataset):
        writer = services.invite_writer(dataset=dataset, now=NOW, email="ada@example.org")

        mail = WriterMail.objects.get()
        assert (mail.writer, mail.kind, mail.queued_at) == (writer, MailKind.INVITED, NOW)

    def test_returns_the_writer_whom_an_address_has_already(self, dataset):
        writer = services.invite_writer(dataset=dataset, now=NOW, email="ada@example.org")

        again = services.invite_writer(dataset=dataset, now=NOW, email="ADA@example.org")

        assert again == writer
        assert LogEntry.objects.count() == 1
        assert WriterMail.objects.count() == 1

    def test_creates_a_writer_each_time_without_an_address(self, dataset):
        first = services.invite_writer(dataset=dataset, now=NOW)

        assert services.invite_writer(dataset=dataset, now=NOW) != first
        assert not WriterMail.objects.exists()

    def test_invites_one_person_to_several_datasets(self, dataset):
        first = services.invite_writer(dataset=dataset, now=NOW, email="ada@example.org")
        other = services.invite_writer(dataset=make_dataset(), now=NOW, email="ada@example.org")

        assert first != other


class TestInviteWriters:
    def test_tells_new_people_from_those_of_the_pool(self, dataset):
        there = make_writer(dataset=dataset, email="ada@example.org")

        done = services.invite_writers(
            dataset=dataset, emails=["ADA@example.org", "kim@example.org"], now=NOW
        )

        assert done.known == (there,)
        assert [writer.email for writer in done.invited] == ["kim@example.org"]

    def test_invites_an_address_that_is_listed_twice_once(self, dataset):
        emails = ["kim@example.org", "Kim@example.org"]

        done = services.invite_writers(dataset=dataset, emails=emails, now=NOW)

        assert len(done.invited) == 1
        assert WriterMail.objects.count() == 1


def invited(**fields):
    return make_writer(**{"state": WriterState.INVITED, "email": "ada@example.org"} | fields)


class TestInviteAgain:
    def test_has_the_same_link_sent_once_more_and_the_log_says_so(self):
        by, writer = make_user(), invited()

        services.invite_again(writer=writer, now=NOW, by=by)

        writer.refresh_from_db()
        assert writer.link_version == 1
        assert WriterMail.objects.get().kind == MailKind.INVITED
        assert LogEntry.objects.get(action="writer.invited_again").by == by

    def test_is_content_with_a_mail_that_waits(self):
        writer = invited()
        make_mail(writer=writer)

        services.invite_again(writer=writer, now=NOW)

        assert WriterMail.objects.count() == 1

    def test_queues_another_once_the_last_one_went(self):
        writer = invited()
        make_mail(writer=writer, claimed_at=NOW, sent_at=NOW)

        services.invite_again(writer=writer, now=NOW)

        assert WriterMail.objects.filter(sent_at=None).count() == 1

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

        with pytest.raises(services.CannotBeInvitedError, match=words):
            services.invite_again(writer=writer, now=NOW)

        assert not WriterMail.objects.exists()
        assert not LogEntry.objects.exists()


class TestRenewLink:
    def test_raises_the_version_sends_the_new_link_and_logs_both_versions(self):
        by, writer = make_user(), invited()

        services.renew_link(writer=writer, now=NOW, by=by)

        writer.refresh_from_db()
        entry = LogEntry.objects.get()
        assert writer.link_version == 2
        assert WriterMail.objects.get().kind == MailKind.INVITED
        assert (entry.action, entry.by) == ("writer.link_renewed", by)
        assert (entry.before, entry.after) == ({"link": 1}, {"link": 2})

    def test_works_without_an_address(self):
        writer = invited(email="")

        assert services.renew_link(writer=writer, now=NOW).link_version == 2

    def test_sends_nothing_to_somebody_who_has_left(self):
        services.renew_link(writer=invited(state=WriterState.LEFT), now=NOW)

        assert not WriterMail.objects.exists()

    @pytest.mark.parametrize("state", [WriterState.WITHDRAWN, WriterState.ELSEWHERE])
    def test_refuses_who_has_no_link(self, state):
        writer = invited(state=state, email="")

        with pytest.raises(services.CannotBeInvitedError, match="no link"):
            services.renew_link(writer=writer, now=NOW)

        writer.refresh_from_db()
        assert writer.link_version == 1
