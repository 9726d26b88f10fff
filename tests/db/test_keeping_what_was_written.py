"""The migration that gives messages to the completions that people wrote before there were any."""

from importlib import import_module

import pytest
from django.apps import apps

from completions.choices import LeaseOutcome, MessageState, WriterState
from completions.models import Message, Writer
from tests.factories import NOW, make_completion, make_writer, make_writing_lease
from tests.factories_of_writing import TEXT, human_system

pytestmark = pytest.mark.django_db
migration = import_module("completions.migrations.0005_keep_what_was_written")


def test_what_a_writer_sent_is_an_accepted_message_with_one_version():
    lease = make_writing_lease(closed_at=NOW, outcome=LeaseOutcome.SUBMITTED)
    written = make_completion(
        context=lease.context, writer=lease.writer, system=human_system(), text=TEXT
    )

    migration.keep_messages(apps, None)

    message = Message.objects.get()
    assert (message.lease, message.completion) == (lease, written)
    assert message.state == MessageState.ACCEPTED
    assert [one.text for one in message.revisions.all()] == [TEXT]


def test_what_a_model_wrote_and_what_is_in_hand_get_none():
    make_completion()
    make_writing_lease()

    migration.keep_messages(apps, None)

    assert not Message.objects.exists()


@pytest.mark.parametrize("state", [WriterState.PAUSED, WriterState.LEFT])
def test_whoever_agreed_before_is_admitted(state):
    writer = make_writer(state=state, admitted_at=None)
    invited = make_writer(state=WriterState.INVITED, admitted_at=None)

    migration.admit_writers(apps, None)

    admitted = dict(Writer.objects.values_list("pk", "admitted_at"))
    assert admitted == {writer.pk: writer.invited_at, invited.pk: None}
