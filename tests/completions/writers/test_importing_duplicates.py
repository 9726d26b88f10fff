"""Rows of a file are compared with what is stored and with the rows before them."""

import pytest

from completions.models import MessageRevision
from completions.writers.services.import_rows import MOST_NEAR, MOST_PLACES, Shelf
from tests.completions.writers.test_importing import import_rows, make_open, row
from tests.helpers.factories import make_completion, make_context, make_dialogue
from tests.helpers.factories_of_people import make_sent

pytestmark = pytest.mark.django_db

TEXT = "Moving to a new town is hard, and evenings alone are long. Who do you miss most of all?"
NEARLY = "Moving to a new town is hard, and evenings alone are long. Whom do you miss the most?"
OTHER = "I wonder what your sister would say if she had an hour for you."


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
    @pytest.mark.parametrize("are_in_one_file", [True, False])
    def test_of_the_authors_text_before_names_the_message_that_it_became(
        self, dataset, context, are_in_one_file
    ):
        rows = [row(context, TEXT), row(make_open(dataset), NEARLY, line=3)]

        if are_in_one_file:
            assert import_rows(dataset, *rows).n_flagged == 1
        else:
            for one in rows:
                import_rows(dataset, one)

        assert flags("Ada") == [("own", message_of("Ada"))]

    def test_of_another_author_for_the_same_dialogue_is_flagged_and_not_accepted_unread(
        self, dataset, context
    ):
        rows = [row(context, TEXT), row(context, NEARLY, author="Bo", line=3)]

        report = import_rows(dataset, *rows, are_accepted=True)

        assert flags("Ada") == []
        assert flags("Bo") == [("another", message_of("Ada"))]
        assert (report.n_accepted, report.n_waiting) == (1, 1)

    def test_of_a_message_that_was_sent_here_is_flagged(self):
        sent = make_sent(TEXT)
        here = sent.lease.context

        import_rows(here.dataset, row(here, NEARLY))

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


class TestTheShelf:
    @pytest.mark.parametrize(
        ("texts", "asked"),
        [
            ([OTHER, TEXT], NEARLY),
            ([OTHER, "I am here for you tonight."], "I am here for YOU tonight!"),
        ],
        ids=["alike", "the same few words"],
    )
    def test_yields_what_is_alike_and_leaves_the_rest(self, texts, asked):
        shelf = Shelf()
        for number, text in enumerate(texts):
            shelf.add(("row", number), text)

        assert [source for source, _ in shelf.near(asked)] == [("row", 1)]

    def test_yields_few_however_many_there_are(self):
        shelf = Shelf()
        for number in range(3 * MOST_PLACES):
            shelf.add(("row", number), f"{TEXT} This is number {number} of many.")

        near = [source for source, _ in shelf.near(NEARLY)]

        assert 0 < len(near) <= MOST_NEAR
