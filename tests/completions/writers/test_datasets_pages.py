"""The console's list of datasets with the people who write for them."""

import pytest
from django.urls import reverse

from completions.choices import LeaseOutcome, Review, WriterState
from completions.models import Context
from tests.helpers.factories import (
    NOW,
    make_context,
    make_dataset,
    make_dialogue,
    make_writer,
    make_writing_lease,
)
from tests.helpers.factories_of_people import make_accepted, make_message
from tests.helpers.factories_written_once import make_member
from tests.helpers.pages import assert_turned_away

pytestmark = pytest.mark.django_db

DATASETS = reverse("writing:datasets")
SENT = {"closed_at": NOW, "outcome": LeaseOutcome.SUBMITTED}


@pytest.fixture
def staff(client):
    client.force_login(make_member("ada"))
    return client


def rows(answer):
    return {row.slug: row for row in answer.context["datasets"]}


class TestTheListOfDatasets:
    def test_counts_people_messages_and_what_is_wanted(self, staff):
        dialogues = make_dataset(slug="talks", completions_per_context=3)
        make_writer(dataset=dialogues, state=WriterState.PAUSED)
        ada = make_writer(dataset=dialogues)
        first, second, dropped = (
            make_context(dialogue=make_dialogue(dataset=dialogues)) for _ in "abc"
        )
        make_accepted(lease=make_writing_lease(writer=ada, context=first, **SENT))
        make_message(lease=make_writing_lease(writer=ada, context=second, **SENT))
        Context.objects.filter(pk=dropped.pk).update(review=Review.DROPPED)

        row = rows(staff.get(DATASETS))["talks"]

        assert (row.n_writers, row.n_waiting, row.n_accepted, row.n_wanted) == (1, 1, 1, 6)

    def test_asks_as_often_for_many_as_for_one(self, staff, django_assert_max_num_queries):
        for number in range(4):
            make_writer(dataset=make_dataset(slug=f"talks-{number}"))

        with django_assert_max_num_queries(7):
            page = staff.get(DATASETS)

        assert len(rows(page)) == 4

    def test_leaves_out_dialogues_of_checks(self, staff):
        make_dataset(slug="trial", is_for_checks=True)

        assert rows(staff.get(DATASETS)) == {}

    def test_says_which_are_frozen(self, staff):
        make_dataset(slug="talks", frozen_at=NOW)

        assert "frozen" in staff.get(DATASETS).content.decode()

    def test_is_for_members(self, client):
        answer = client.get(DATASETS)

        assert_turned_away(answer)
