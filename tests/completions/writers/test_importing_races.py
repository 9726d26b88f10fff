"""An import while writers claim and send at the same moment, in real threads."""

from functools import partial

import pytest

from completions.models import Context, Message, Writer
from completions.writers import services
from completions.writers.importing import WrittenRow
from tests.helpers.factories import NOW, make_context, make_dataset, make_dialogue, make_writer
from tests.helpers.threads import together, while_uncommitted
from tests.helpers.written import lease_next, send

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("shared_database"),
]

SLOTS = 3
TEXT = "That sounds lonely. What would a good evening look like?"


def make_contexts(dataset, n):
    return [
        make_context(dialogue=make_dialogue(dataset=dataset), slots_left=SLOTS) for _ in range(n)
    ]


def rows_of(contexts, *authors):
    """Every author for every dialogue, each text in other words."""
    pairs = [(context, author) for context in contexts for author in authors]
    return [
        WrittenRow(position=n, context=context.key, text=f"{TEXT} {n}", author=author)
        for n, (context, author) in enumerate(pairs, start=2)
    ]


def import_rows(dataset, rows):
    return services.import_messages(dataset=dataset, rows=rows, now=NOW)


def write_until_nothing_is_left(writer):
    while (lease := lease_next(writer)) is not None:
        send(lease)


def slots_are_filled_once(context):
    """Every slot has one message of one person, and no message is without a slot."""
    context = Context.objects.get(pk=context.pk)
    people = list(Message.objects.filter(lease__context=context).values_list("lease__writer"))
    return len(people) == len(set(people)) == SLOTS and context.slots_left == 0


class TestAnImport:
    def test_and_writers_fill_every_dialogue_exactly(self, crowd):
        dataset = make_dataset()
        contexts = make_contexts(dataset, crowd.contexts)
        writers = [make_writer(dataset=dataset) for _ in range(max(SLOTS, crowd.people // 2))]
        files = [rows_of(contexts, "Ada", "Bo"), list(reversed(rows_of(contexts, "Cy", "Di")))]

        together(
            [partial(import_rows, dataset, rows) for rows in files]
            + [partial(write_until_nothing_is_left, writer) for writer in writers]
        )
        # A dialogue whose slots an import held last may look taken to a writer who asked meanwhile.
        together([partial(write_until_nothing_is_left, writer) for writer in writers])

        assert all(slots_are_filled_once(context) for context in contexts)

    def test_of_one_file_twice_at_once_is_one_import(self, crowd):
        for _ in range(crowd.rounds):
            dataset = make_dataset()
            rows = rows_of(make_contexts(dataset, 4), "Ada", "Bo")

            reports = together([partial(import_rows, dataset, rows)] * 3)

            assert sorted(report.n_stored for report in reports) == [0, 0, 8]
            assert sorted(report.n_known for report in reports) == [0, 8, 8]
            assert Writer.objects.filter(dataset=dataset).count() == 2

    def test_waits_for_a_writer_who_takes_the_last_slot_and_is_told(self):
        dataset = make_dataset()
        context = make_context(dialogue=make_dialogue(dataset=dataset), slots_left=1)
        writer = make_writer(dataset=dataset)

        report = while_uncommitted(
            partial(lease_next, writer),
            partial(import_rows, dataset, rows_of([context], "Ada")),
            has_to_wait=True,
        )

        assert (report.n_stored, report.n_refused) == (0, 1)
        assert Context.objects.get(pk=context.pk).slots_left == 0
