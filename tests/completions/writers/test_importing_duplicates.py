"""Rows of a file are compared with what is stored and with the rows before them."""

import pytest

from completions.models import Context, MessageRevision
from completions.writers import services
from completions.writers.services.importing.drafting import MOST_NEAR, MOST_PLACES, Shelf
from tests.completions.writers.test_importing import import_rows, make_open, row
from tests.helpers.factories import NOW, make_completion, make_context, make_dataset, make_dialogue
from tests.helpers.factories_of_people import make_sent

pytestmark = pytest.mark.django_db

TEXT = "Moving to a new town is hard, and evenings alone are long. Who do you miss most of all?"
NEARLY = "Moving to a new town is hard, and evenings alone are long. Whom do you miss the most?"
OTHER = "I wonder what your sister would say if she had an hour for you."


@pytest.fixture
def dataset():
    return make_dataset(slug="talks")


@pytest.fixture
def context(dataset):
    return make_open(dataset)


def flags(author):
    """What the newest message of an author is flagged with, by what it is like."""
    sent = MessageRevision.objects.filter(message__lease__writer__imported_as=author)
    return [
        (flag["of"], flag.get("message") or flag.get("completion") or flag.get("turn"))
        for flag in sent.order_by("-pk")[0].flags
        if flag["kind"] == "near-duplicate"
    ]


def message_of(author):
    sent = MessageRevision.objects.filter(message__lease__writer__imported_as=author)
    return sent.order_by("pk")[0].message_id


class TestANearDuplicate:
    def test_of_the_authors_row_before_names_the_message_that_it_became(self, dataset, context):
        report = import_rows(dataset, row(context, TEXT), row(make_open(dataset), NEARLY, line=3))

        assert flags("Ada") == [("own", message_of("Ada"))]
        assert report.n_flagged == 1

    def test_of_the_authors_text_of_an_earlier_file_is_flagged(self, dataset, context):
        import_rows(dataset, row(context, TEXT))

        import_rows(dataset, row(make_open(dataset), NEARLY))

        assert flags("Ada") == [("own", message_of("Ada"))]

    def test_of_another_author_for_the_same_dialogue_is_flagged(self, dataset, context):
        import_rows(dataset, row(context, TEXT), row(context, NEARLY, author="Bo", line=3))

        assert flags("Ada") == []
        assert flags("Bo") == [("another", message_of("Ada"))]

    def test_of_a_message_that_was_sent_here_is_flagged(self, dataset, context):
        sent = make_sent(TEXT)
        here = Context.objects.get(pk=sent.lease.context_id)

        services.import_messages(dataset=here.dataset, rows=[row(here, NEARLY)], now=NOW)

        assert flags("Ada") == [("another", sent.pk)]

    def test_of_a_models_completion_is_flagged(self, dataset, context):
        completion = make_completion(context=context, text=TEXT)

        import_rows(dataset, row(context, NEARLY))

        assert flags("Ada") == [("another", completion.pk)]

    def test_of_what_the_dialogue_goes_on_with_is_flagged(self, dataset):
        turns = [
            {"role": "seeker", "text": "I moved."},
            {"role": "supporter", "text": TEXT},
        ]
        context = make_context(dialogue=make_dialogue(dataset=dataset, turns=turns), turn_index=0)

        import_rows(dataset, row(context, NEARLY))

        assert flags("Ada") == [("original", 1)]

    def test_of_a_row_that_was_not_stored_is_no_flag(self, dataset, context):
        full = make_open(dataset, slots_left=0)

        report = import_rows(dataset, row(full, TEXT), row(context, NEARLY, line=3))

        assert flags("Ada") == []
        assert report.n_flagged == 0

    def test_of_another_author_for_another_dialogue_is_no_flag(self, dataset, context):
        import_rows(
            dataset, row(context, TEXT), row(make_open(dataset), NEARLY, author="Bo", line=3)
        )

        assert flags("Bo") == []

    def test_is_not_accepted_unread(self, dataset, context):
        rows = [row(context, TEXT), row(context, NEARLY, author="Bo", line=3)]

        report = import_rows(dataset, *rows, are_accepted=True)

        assert (report.n_accepted, report.n_waiting) == (1, 1)


class TestTheShelf:
    def test_yields_what_is_alike_and_leaves_the_rest(self):
        shelf = Shelf()
        for number, text in enumerate([OTHER, TEXT]):
            shelf.add(("row", number), text)

        assert [source for source, _ in shelf.near(NEARLY)] == [("row", 1)]

    def test_yields_the_same_few_words_too(self):
        shelf = Shelf()
        shelf.add(("row", 1), "I am here for you tonight.")

        assert [source for source, _ in shelf.near("I am here for YOU tonight!")] == [("row", 1)]

    def test_yields_few_however_many_there_are(self):
        shelf = Shelf()
        for number in range(3 * MOST_PLACES):
            shelf.add(("row", number), f"{TEXT} This is number {number} of many.")

        near = [source for source, _ in shelf.near(NEARLY)]

        assert 0 < len(near) <= MOST_NEAR
