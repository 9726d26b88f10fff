"""Newcomers write for trial dialogues, and an admin lets them in or does not."""

import pytest
from django.core.management import CommandError

from access.models import LogEntry
from completions.choices import LeaseOutcome, MailKind, MessageState, WriterState
from completions.contexts.screening.rules import disqualifying
from completions.dialogues import authoring
from completions.dialogues.normaliser import plain
from completions.models import (
    AdmissionDecision,
    Context,
    Dataset,
    Message,
    WriterMail,
    WritingLease,
)
from completions.writers import queries, vetting
from completions.writers.services.leaving import pause_writer, resume_writer
from completions.writers.services.sending import TrialOverError
from completions.writers.services.vetting import (
    NotOnTrialError,
    RefusalNoteMissingError,
    TrialNotDoneError,
    admit_writer,
    load_vetting_dialogues,
    refuse_writer,
    use_vetting,
)
from completions.writers.vetting import VettingError
from tests.completions.writers.desk import SENT, make_newcomer, run_writers
from tests.helpers.factories import HOUR, NOW, make_dataset, make_writer, make_writing_lease
from tests.helpers.factories_of_people import make_revision, make_sent
from tests.helpers.factories_written_once import make_user
from tests.helpers.written import TEXT, draft_of, send

pytestmark = pytest.mark.django_db

SHIPPED = vetting.load_vetting_set()
DIALOGUES = [pytest.param(dialogue, id=dialogue.key) for dialogue in SHIPPED.talks]

MINIMAL = """
name = "own"
version = "1"
[[talks]]
key = "one"
turns = [
  { role = "seeker", text = "I'm sad." },
  { role = "supporter", text = "What is it?" },
  { role = "seeker", text = "The rain." },
]
"""


@pytest.fixture
def writer():
    """A newcomer, before three dialogues of the trial."""
    return make_newcomer(email="ada@example.org", background="PEER")


def dialogues(writer):
    return queries.vetting_dialogues(writer)


def lease_dialogue(writer, context, **fields):
    return make_writing_lease(writer=writer, context=context, is_trial=True, **SENT | fields)


def write(writer, context, text="That sounds like a long week."):
    return make_sent(text, lease=lease_dialogue(writer, context), state=MessageState.TRIAL)


def skip(writer, context):
    lease_dialogue(writer, context, outcome=LeaseOutcome.SKIPPED, skip_reason="close")


def begin(writer):
    return lease_dialogue(writer, dialogues(writer)[0], closed_at=None, outcome="")


def finish_trial(writer):
    for context in dialogues(writer):
        write(writer, context)


def admit(writer, note=""):
    return admit_writer(writer=writer, note=note, by=None, now=NOW)


def refuse(writer, note="Too short."):
    return refuse_writer(writer=writer, note=note, by=None, now=NOW)


class TestLoadingTheDialogues:
    def test_stores_them_once_apart_and_wants_no_completion(self):
        dataset = load_vetting_dialogues(now=NOW)

        assert load_vetting_dialogues(now=NOW + HOUR) == dataset
        assert (dataset.is_for_checks, dataset.is_authored) == (True, True)
        shown = dataset.contexts.values_list("slots_left", "dialogue__source_id")
        assert sorted(shown) == [(0, "flat-share"), (0, "night-shifts"), (0, "swimming-club")]
        assert Context.objects.count() == 3

    def test_takes_no_dataset_of_somebody_else(self):
        make_dataset(slug="vetting-heart-1")

        with pytest.raises(authoring.DatasetTakenError):
            load_vetting_dialogues(now=NOW)
        with pytest.raises(CommandError, match='"vetting-heart-1" is a dataset of its own'):
            run_writers("vetting", "on", dataset=make_dataset().slug)


class TestUsingVetting:
    def test_gives_newcomers_the_dialogues_that_ship_and_is_logged_once(self):
        dataset = make_dataset()

        for _ in range(2):
            dataset = use_vetting(dataset=dataset, now=NOW)

        assert dataset.vetting == Dataset.objects.get(slug="vetting-heart-1")
        assert len(dialogues(make_writer(dataset=dataset))) == 3
        assert LogEntry.objects.filter(action="vetting.switched_on").count() == 1

    def test_no_more_lets_everybody_in_who_is_on_trial(self, writer):
        use_vetting(dataset=writer.dataset, now=NOW, is_on=False)

        writer.refresh_from_db()
        assert (writer.state, writer.admitted_at) == (WriterState.ACTIVE, NOW)
        assert WriterMail.objects.get().kind == MailKind.ADMITTED
        assert Dataset.objects.get(pk=writer.dataset_id).vetting is None

    def test_no_more_during_a_pause_takes_it_back_when_the_pause_ends(self, writer):
        begin(writer)
        pause_writer(writer=writer, now=NOW)
        use_vetting(dataset=writer.dataset, now=NOW, is_on=False)

        assert resume_writer(writer=writer, now=NOW).state == WriterState.ACTIVE

        assert WritingLease.objects.get().outcome == LeaseOutcome.RELEASED

    def test_no_more_takes_the_open_dialogue_back_and_nothing_that_is_then_sent_for_it(
        self, writer
    ):
        lease = begin(writer)

        use_vetting(dataset=writer.dataset, now=NOW, is_on=False)

        assert WritingLease.objects.get().outcome == LeaseOutcome.RELEASED
        with pytest.raises(TrialOverError):
            send(lease)
        assert not Message.objects.exists()
        assert draft_of(lease) == TEXT


def test_the_command_switches_the_trial_on_and_off(dataset):
    on, _ = run_writers("vetting", "on")
    assert "talks: newcomers write for 3 trial conversations first" in on
    assert Dataset.objects.filter(pk=dataset.pk, vetting__slug="vetting-heart-1").exists()

    off, _ = run_writers("vetting", "off")
    assert "talks: newcomers are let in at once" in off
    assert Dataset.objects.get(pk=dataset.pk).vetting is None


class TestTheTrial:
    def test_counts_what_is_done_and_left(self, writer):
        first, second, _third = dialogues(writer)
        write(writer, first)
        skip(writer, second)

        trial = queries.trial_of(writer)

        assert (trial.n_dialogues, trial.n_done, trial.n_left) == (3, 2, 1)
        assert [text.is_skipped for text in trial.texts] == [False, True]
        assert trial.missing

    @pytest.mark.parametrize(
        ("closed", "counts"),
        [
            ({"closed_at": None, "outcome": ""}, (0, 0)),
            ({"outcome": LeaseOutcome.RELEASED}, (1, 1)),
        ],
        ids=["only begun", "taken back"],
    )
    def test_waits_for_what_is_begun_and_not_for_what_was_taken_back(self, writer, closed, counts):
        lease_dialogue(writer, dialogues(writer)[0], **closed)

        trial = queries.trial_of(writer)

        assert (trial.n_done, sum(text.is_skipped for text in trial.texts)) == counts

    def test_shows_dialogues_in_their_order_with_every_version(
        self, writer, django_assert_max_num_queries
    ):
        for context in reversed(dialogues(writer)):
            make_revision(message=write(writer, context, text=f"For {context.key}"), text="Better.")

        with django_assert_max_num_queries(4):
            texts = queries.trial_of(writer).texts

        said = [[revision.text for revision in text.revisions] for text in texts]
        assert said == [[f"For {context.key}", "Better."] for context in dialogues(writer)]
        assert texts[0].dialogue.latest.text == dialogues(writer)[0].turns[-1]["text"]


class TestAdmittingWriter:
    def test_makes_them_active_once_and_leaves_a_mail(self, writer):
        boss = make_user()
        finish_trial(writer)

        admit_writer(writer=writer, note=" Warm. ", by=boss, now=NOW)
        with pytest.raises(NotOnTrialError):
            admit(writer)

        writer.refresh_from_db()
        assert (writer.state, writer.admitted_at) == (WriterState.ACTIVE, NOW)
        decision = AdmissionDecision.objects.get()
        assert (decision.is_admitted, decision.note, decision.decided_by) == (True, "Warm.", boss)
        assert LogEntry.objects.get().action == "writer.admitted"
        mail = WriterMail.objects.get()
        assert (mail.kind, mail.note) == (MailKind.ADMITTED, "Warm.")

    @pytest.mark.parametrize(
        ("do", "n", "why"), [(write, 1, "left to write"), (skip, 3, "nothing to read")]
    )
    def test_needs_every_dialogue_done_and_something_to_read(self, writer, do, n, why):
        for context in dialogues(writer)[:n]:
            do(writer, context)

        with pytest.raises(TrialNotDoneError, match=why):
            admit(writer)


class TestRefusingWriter:
    def test_tells_them_why(self, writer):
        finish_trial(writer)

        refuse(writer)

        writer.refresh_from_db()
        assert (writer.state, writer.admitted_at) == (WriterState.REFUSED, None)
        assert WriterMail.objects.get().note == "Too short."
        assert LogEntry.objects.get().action == "writer.refused"

    def test_needs_a_note_and_a_newcomer(self, writer):
        with pytest.raises(RefusalNoteMissingError):
            refuse(writer, note="  ")
        with pytest.raises(NotOnTrialError):
            refuse(make_writer())

    def test_takes_back_the_dialogue_that_is_open(self, writer):
        begin(writer)

        refuse(writer)

        assert WritingLease.objects.get().outcome == LeaseOutcome.RELEASED
        assert dialogues(writer)[0].slots_left == 0


class TestShippedSet:
    def test_never_changes_once_published(self):
        assert [len(dialogue.turns) for dialogue in SHIPPED.talks] == [3, 5, 5]
        assert SHIPPED.sha256 == (
            "b1c56e2d43716aef56544cb57af8e2e909329d4f11096d908461e6036f9b178c"
        )

    @pytest.mark.parametrize("dialogue", DIALOGUES)
    def test_is_shown_as_it_is_written_and_holds_nothing_that_screening_would_remove(
        self, dialogue
    ):
        for turn in dialogue.turns:
            assert plain(turn.text) == turn.text
            assert turn.text.isascii()
            assert disqualifying(turn.text, language="en") == []


class TestOwnSet:
    def test_is_read(self):
        found = vetting.parse_vetting_set(MINIMAL, source="own.toml")

        assert (found.reference, len(found.talks)) == ("own-1", 1)

    @pytest.mark.parametrize(
        ("old", "new", "problem"),
        [
            ('name = "own"', "name = ", "not valid TOML"),
            ('version = "1"', "", "version: Field required"),
            ('key = "one"', 'key = "One!"', "talks.0.key: String should match"),
            ('key = "one"', 'key = "one"\nmood = "low"', "talks.0.mood: Extra inputs"),
            ('"supporter"', '"helper"', "talks.0.turns.1.role: Input should be"),
            ('"supporter"', '"seeker"', "talks.0: turns must alternate"),
            ('{ role = "seeker", text = "I\'m sad." },', "", "turns: Tuple should have at least 3"),
            (
                '{ role = "seeker", text = "The rain." },',
                '{ role = "seeker", text = "So." }, { role = "supporter", text = "Oh." },',
                "talks.0: the last turn must be the seeker's",
            ),
        ],
    )
    def test_is_refused_with_file_field_and_reason(self, old, new, problem):
        assert old in MINIMAL

        with pytest.raises(VettingError) as refused:
            vetting.parse_vetting_set(MINIMAL.replace(old, new), source="own.toml")

        assert str(refused.value).startswith("own.toml: ")
        assert problem in str(refused.value)

    @pytest.mark.parametrize(("key", "what"), [("one", "key"), ("two", "dialogue")])
    def test_may_not_hold_a_dialogue_twice(self, key, what):
        head, dialogue = MINIMAL.split("[[talks]]")
        twice = "[[talks]]".join([head, dialogue, dialogue.replace('"one"', f'"{key}"')])

        with pytest.raises(VettingError, match=f"every {what} may be used once"):
            vetting.parse_vetting_set(twice, source="own.toml")

    def test_that_does_not_ship_is_not_found(self):
        with pytest.raises(
            VettingError, match='no set of trial conversations "other-1"; known are heart-1'
        ):
            vetting.load_vetting_set("other-1")
