"""Messages that people wrote elsewhere come in with the checks of those written here."""

from functools import partial

import pytest
from django.apps import apps
from django.db import IntegrityError

from access.models import LogEntry
from completions.choices import (
    LeaseOutcome,
    MessageState,
    MessageVerdict,
    Review,
    SystemKind,
    WriterState,
)
from completions.files.refusals import InputFileError, Reason, Refused, refused
from completions.files.rows import OutcomeChangedError, batches
from completions.models import (
    Completion,
    Context,
    Dataset,
    Message,
    MessageDecision,
    MessageRevision,
    Writer,
    WritingLease,
)
from completions.writers.importing import WrittenRow
from completions.writers.services import import_rows as import_rows_module
from completions.writers.services import importing
from completions.writers.services.importing import import_messages, try_messages
from completions.writers.services.leasing import DatasetFrozenError
from tests.helpers.factories import (
    HOUR,
    NOW,
    make_context,
    make_dataset,
    make_writer,
    make_writing_lease,
)
from tests.helpers.written import slots_of

pytestmark = pytest.mark.django_db

WORDS = (
    "That sounds lonely. What would a good evening look like?",
    "Moving is hard. Who did you talk to today, if anybody?",
    "I wonder what your sister would say if she had an hour for you.",
)


def row(context, text=WORDS[0], *, author="Ada", line=2, **fields):
    key = context if isinstance(context, str) else context.key
    return WrittenRow(position=line, context=key, text=text, author=author, **fields)


def import_rows(dataset, *rows, **fields):
    return import_messages(dataset=dataset, rows=rows, now=NOW, **fields)


def dry_run(dataset, *rows, **fields):
    return try_messages(dataset=dataset, rows=rows, now=NOW, **fields)


def reasons(report):
    return [found.reason for found in report.refused]


def everything():
    """Every row of every table."""
    return {
        model._meta.label: list(model._base_manager.order_by("pk").values())
        for model in apps.get_models()
    }


class TestAMessage:
    def test_waits_for_review_in_a_closed_claim_as_if_it_were_sent_here(self, dataset, context):
        written_at = NOW - 3 * HOUR

        report = import_rows(
            dataset,
            row(context, f" {WORDS[0]}\n", written_at=written_at),
            row(context, WORDS[1], author="Bo", line=3),
        )

        revision, undated = MessageRevision.objects.order_by("pk")
        assert revision.message.state == MessageState.WAITING
        assert (revision.number, revision.text) == (1, WORDS[0])
        assert (revision.is_declared, revision.written_at) == (False, written_at)
        assert undated.written_at == NOW
        assert (report.n_read, report.n_stored, report.n_waiting, report.refused) == (2, 2, 2, [])
        closed = WritingLease.objects.filter(context=context).values_list("outcome", "closed_at")
        assert list(closed) == [(LeaseOutcome.SUBMITTED, NOW)] * 2
        assert slots_of(context) == 1

    def test_is_logged_by_figures_alone(self, dataset, context, admin_user):
        import_rows(dataset, row(context), by=admin_user)

        entry = LogEntry.objects.get(action="messages.imported")
        assert (entry.by, entry.subject) == (admin_user, "dataset talks")
        assert entry.after["stored"] == 1
        assert "Ada" not in str(entry.after)


def test_a_simulated_author_is_known_by_the_name_and_stands_apart_from_people(dataset, context):
    import_rows(
        dataset,
        row(context, author="Simulated writer 01"),
        row(context, WORDS[1], author="Ada", line=3),
        are_accepted=True,
    )

    simulated, ada = (Writer.objects.get(is_simulated=value) for value in (True, False))
    of_program, of_ada = (one.completions.get().system for one in (simulated, ada))
    assert simulated.imported_as == "Simulated writer 01"
    assert (of_program.slug, of_program.is_simulated) == ("simulated-human", True)
    assert "Simulated" in of_program.name
    assert (of_ada.slug, of_ada.is_simulated) == ("human", False)


class TestAnAuthor:
    def test_becomes_a_writer_without_link_under_a_fresh_pseudonym(self, dataset, context):
        report = import_rows(dataset, row(context, author="Ada Lovelace", background="PEER"))

        writer = Writer.objects.get()
        assert (writer.state, writer.imported_as) == (WriterState.ELSEWHERE, "Ada Lovelace")
        assert (writer.background, writer.email, writer.admitted_at) == ("PEER", "", None)
        assert "ADA" not in writer.code.upper()
        assert report.n_new_authors == 1

    def test_is_the_same_writer_in_the_next_file_which_may_tell_a_background_first(
        self, dataset, context
    ):
        import_rows(dataset, row(context))

        report = import_rows(
            dataset, row(make_context(dataset=dataset), WORDS[1], background="CLINICIAN")
        )

        writer = Writer.objects.get()
        assert report.n_new_authors == 0
        assert (writer.background, writer.leases.count()) == ("CLINICIAN", 2)

    def test_is_another_in_another_dataset(self, dataset, context):
        other = make_dataset()

        import_rows(dataset, row(context))
        import_rows(other, row(make_context(dataset=other)))

        assert Writer.objects.count() == 2

    def test_who_withdrew_is_not_known_by_name_any_more(self, dataset, context):
        make_writer(dataset=dataset, state=WriterState.WITHDRAWN, imported_as="Ada")

        with pytest.raises(IntegrityError):
            import_rows(dataset, row(context))
        Writer.objects.update(imported_as="")  # as withdrawing does

        assert import_rows(dataset, row(context)).n_new_authors == 1


class TestARow:
    @pytest.mark.parametrize(
        ("make", "reason"),
        [
            (lambda own: row("no-such-key"), Reason.UNKNOWN_CONTEXT),
            (lambda own: row(make_context()), Reason.OTHER_DATASET),
            (
                lambda own: row(make_context(dataset=own, review=Review.DROPPED)),
                Reason.DROPPED_CONTEXT,
            ),
            (lambda own: row(make_context(dataset=own, slots_left=0)), Reason.FULL_CONTEXT),
            (lambda own: row(make_context(dataset=own), "Poor you."), Reason.UNUSABLE_TEXT),
            (lambda own: row(make_context(dataset=own), written_at=NOW + HOUR), Reason.FUTURE),
        ],
        ids=lambda value: value.name if isinstance(value, Reason) else "",
    )
    def test_is_refused_with_its_line_and_the_others_are_stored(
        self, dataset, context, make, reason
    ):
        report = import_rows(dataset, make(dataset), row(context, line=3))

        assert [(one.position, one.reason) for one in report.refused] == [(2, reason)]
        assert report.by_reason == {reason.value: 1}
        assert (report.n_read, report.n_stored, Message.objects.count()) == (2, 1, 1)

    def test_that_could_not_be_read_is_passed_on(self, dataset, context):
        bad = refused(7, "text", Reason.BAD_FIELD, "is missing")

        report = import_rows(dataset, row(context), bad)

        assert report.refused == [bad]
        assert report.n_read == 2

    def test_that_finds_its_dialogue_full_because_of_the_row_before_is_refused(self, dataset):
        context = make_context(dataset=dataset, slots_left=1)

        report = import_rows(dataset, row(context), row(context, WORDS[1], author="Bo", line=3))

        assert reasons(report) == [Reason.FULL_CONTEXT]
        assert slots_of(context) == 0
        assert not Writer.objects.filter(imported_as="Bo").exists()

    def test_of_an_author_with_another_text_for_the_dialogue_is_refused(self, dataset, context):
        import_rows(dataset, row(context))

        report = import_rows(dataset, row(context, WORDS[1]))

        assert reasons(report) == [Reason.HAD_CONTEXT]

    def test_of_an_author_who_skipped_the_dialogue_is_refused(self, dataset, context):
        author = make_writer(
            dataset=dataset, state=WriterState.ELSEWHERE, imported_as="Ada", admitted_at=None
        )
        make_writing_lease(
            context=context, writer=author, closed_at=NOW, outcome=LeaseOutcome.SKIPPED
        )

        assert reasons(import_rows(dataset, row(context))) == [Reason.HAD_CONTEXT]

    def test_that_says_another_background_of_its_author_is_refused(self, dataset, context):
        second = row(make_context(dataset=dataset), WORDS[1], background="PEER", line=3)

        report = import_rows(dataset, row(context, background="CROWD"), second)

        assert reasons(report) == [Reason.OTHER_BACKGROUND]
        assert Writer.objects.get().background == "CROWD"


@pytest.mark.parametrize("slots_left", [3, 2], ids=["with room", "full by now"])
def test_the_same_file_again_adds_nothing_and_says_so(dataset, slots_left):
    context = make_context(dataset=dataset, slots_left=slots_left)
    rows = [row(context), row(context, WORDS[1], author="Bo", line=3)]
    import_rows(dataset, *rows)
    before = everything()

    report = import_rows(dataset, *rows)

    assert everything() == before
    assert (report.n_known, report.n_stored, report.refused) == (2, 0, [])


@pytest.mark.parametrize("are_accepted", [False, True])
def test_a_dry_run_writes_nothing_and_tells_what_would_happen(dataset, context, are_accepted):
    import_rows(dataset, row(context))
    rows = [
        row(context),
        row(context, WORDS[1], author="Bo", line=3, background="PEER"),
        row(context, "As an AI, I hear you well.", author="Cy", line=4),
        row(context, WORDS[2], author="Di", line=5),
        row("no-such-key", author="Bo", line=6),
    ]
    before = everything()

    told = dry_run(dataset, *rows, are_accepted=are_accepted)

    assert everything() == before
    assert told == import_rows(dataset, *rows, are_accepted=are_accepted)
    assert (told.n_stored, told.n_known, told.n_refused) == (2, 1, 2)


class TestMessagesThatWereAcceptedElsewhere:
    def test_become_completions_of_people_with_the_decision(self, dataset, context, admin_user):
        report = import_rows(dataset, row(context), are_accepted=True, by=admin_user)

        completion = Completion.objects.get()
        decision = MessageDecision.objects.get()
        assert (completion.text, completion.system.kind) == (WORDS[0], SystemKind.HUMAN)
        assert completion.writer == Writer.objects.get()
        assert completion.message.state == MessageState.ACCEPTED
        assert (decision.verdict, decision.decided_by) == (MessageVerdict.ACCEPTED, admin_user)
        assert (report.n_accepted, report.n_waiting) == (1, 0)

    def test_wait_for_a_reviewer_here_when_something_is_flagged(self, dataset, context):
        leaking = row(context, "As an AI, I hear you well.", author="Bo", line=3)

        report = import_rows(dataset, row(context), leaking, are_accepted=True)

        assert (report.n_accepted, report.n_waiting, report.n_flagged) == (1, 1, 1)
        assert Message.objects.get(lease__writer__imported_as="Bo").state == MessageState.WAITING
        assert Completion.objects.count() == 1


class TestNothingIsStored:
    def refuses(self, error, dataset, rows):
        before = everything()
        for act in (import_messages, try_messages):
            with pytest.raises(error):
                act(dataset=dataset, rows=rows, now=NOW)
        assert everything() == before

    def test_in_a_dataset_that_is_frozen(self, dataset, context):
        Dataset.objects.update(frozen_at=NOW)

        self.refuses(DatasetFrozenError, dataset, [row(context)])

    def test_of_a_file_that_breaks_off(self, dataset, context):
        class BreaksOff:
            def __iter__(self):
                yield row(context)
                raise InputFileError

        self.refuses(InputFileError, dataset, BreaksOff())

    def test_when_the_database_fails_at_the_very_end(self, dataset, context, monkeypatch):
        def fail(**_entry):
            raise ConnectionError

        monkeypatch.setattr(importing, "record", fail)

        self.refuses(ConnectionError, dataset, [row(context)])

    def test_when_the_outcome_is_not_the_one_that_was_shown(self, dataset, context):
        shown = dry_run(dataset, row(context))
        assert import_rows(dataset, row(context), as_shown=shown.digest) == shown
        before = everything()

        with pytest.raises(OutcomeChangedError):
            import_rows(dataset, row(context), as_shown=shown.digest)

        assert everything() == before


class TestTheReport:
    def test_is_a_table_of_the_refused_rows_with_what_to_do(self, dataset):
        report = import_rows(dataset, row("no-such-key", "Private words of Ada's own."))

        said = ("unknown context", "Compare the key with the list of contexts.")
        assert list(report.rows()) == [
            ("line", "field", "reason", "why", "what_to_do"),
            ("2", "", said[0], *said),
        ]

    def test_counts_the_most_frequent_reason_first(self):
        report = importing.MessageImportReport(
            refused=[
                Refused(n, "", reason, "so")
                for n, reason in enumerate([Reason.FUTURE, Reason.REPEATED, Reason.REPEATED])
            ]
        )

        assert list(report.by_reason.items()) == [
            (Reason.REPEATED.value, 2),
            (Reason.FUTURE.value, 1),
        ]


def test_queries_do_not_grow_with_the_rows(dataset, django_assert_max_num_queries):
    contexts = [make_context(dataset=dataset) for _ in range(4)]
    rows = [
        row(context, f"{text} {context.key}", author=f"Author {n}", line=2 + 3 * m + n)
        for m, context in enumerate(contexts)
        for n, text in enumerate(WORDS)
    ]

    with django_assert_max_num_queries(30):
        assert import_rows(dataset, *rows).n_stored == 12


def test_a_long_file_is_stored_in_batches(dataset, monkeypatch):
    monkeypatch.setattr(importing, "BATCH", 2)
    monkeypatch.setattr(import_rows_module, "batches", partial(batches, size=2))
    contexts = [make_context(dataset=dataset) for _ in range(3)]
    rows = [
        row(context, f"{WORDS[n]} {context.key}", author=f"Author {n}")
        for context in contexts
        for n in range(3)
    ]

    assert import_rows(dataset, *rows).n_stored == 9

    assert set(Context.objects.values_list("slots_left", flat=True)) == {0}
    assert Writer.objects.count() == 3
    assert set(Message.objects.values_list("sent_at", flat=True)) == {NOW}
