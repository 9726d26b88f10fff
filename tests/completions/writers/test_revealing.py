"""A reviewer who asks is told who wrote a message, and the log keeps that they asked."""

import pytest

from access.models import LogEntry
from completions.choices import Background, LeaseOutcome, MessageState, MessageVerdict
from completions.writers import services
from tests.helpers.factories import HOUR, NOW, make_writer, make_writing_lease
from tests.helpers.factories_of_people import (
    make_accepted,
    make_message_decision,
    make_revision,
    make_sent,
)
from tests.helpers.factories_written_once import make_user

pytestmark = pytest.mark.django_db


def reveal(message, **fields):
    return services.reveal_author(message=message, **{"by": None, "now": NOW} | fields)


def lease_of(writer):
    return make_writing_lease(writer=writer, closed_at=NOW, outcome=LeaseOutcome.SUBMITTED)


class TestTheAuthor:
    def test_is_told_by_pseudonym_and_background(self):
        writer = make_writer(code="W77", background=Background.PEER)

        author = reveal(make_sent(lease=lease_of(writer)))

        assert (author.code, author.background) == ("W77", "Peer supporter")
        assert author.is_simulated is False

    def test_of_an_imported_message_has_no_background(self):
        assert reveal(make_sent()).background == ""

    def test_comes_with_what_became_of_all_their_messages(self):
        writer = make_writer()
        make_accepted(lease=lease_of(writer))
        make_sent(lease=lease_of(writer), state=MessageState.REJECTED)
        make_sent(lease=lease_of(writer), state=MessageState.TRIAL)
        make_accepted()
        twice = make_sent(lease=lease_of(writer))
        for revision in (
            twice.revisions.get(),
            make_revision(message=twice, text="Once more, so."),
        ):
            make_message_decision(
                revision=revision, verdict=MessageVerdict.RETURNED, note="Shorter."
            )

        author = reveal(twice)

        assert (author.n_sent, author.n_accepted) == (3, 1)
        assert (author.n_returned, author.n_rejected) == (1, 1)


class TestTheLog:
    def test_keeps_who_asked_about_which_message_and_when(self):
        message, by = make_sent(), make_user()

        for now in (NOW, NOW + HOUR):
            reveal(message, by=by, now=now)

        assert list(
            LogEntry.objects.order_by("pk").values_list("action", "subject", "by", "at")
        ) == [
            ("message.author_shown", f"message {message.pk}", by.pk, at) for at in (NOW, NOW + HOUR)
        ]

    def test_does_not_name_the_author(self):
        message = make_sent()

        reveal(message)

        entry = LogEntry.objects.get()
        assert (entry.before, entry.after) == ({}, {})
