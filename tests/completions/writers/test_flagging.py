"""What a reviewer is told about a message that was sent."""

import pytest

from completions.choices import LeaseOutcome, SystemKind
from completions.writers.services.flagging import flags_of, rules
from tests.helpers.factories import (
    NOW,
    make_completion,
    make_context,
    make_dialogue,
    make_system,
    make_writer,
    make_writing_lease,
)
from tests.helpers.factories_of_people import make_revision, make_sent

pytestmark = pytest.mark.django_db

LONG = "Nine years is a long time to tend a garden, and now the gate is locked for good."
ORIGINAL = "Grief has no timetable, you know, and nobody can tell you when to be done with it."
PLAIN = "What would you want him to know about the mornings since he moved out?"


@pytest.fixture
def context():
    turns = [
        {"role": "seeker", "text": "He is gone and I cannot sleep."},
        {"role": "supporter", "text": ORIGINAL},
    ]
    return make_context(dialogue=make_dialogue(turns=turns))


@pytest.fixture
def writer(context):
    return make_writer(dataset=context.dataset)


def sent_for(context, text=LONG, **fields):
    """A message for a context, of a new writer if of no other."""
    lease = make_writing_lease(
        context=context, closed_at=NOW, outcome=LeaseOutcome.SUBMITTED, **fields
    )
    return make_sent(text, lease=lease)


@pytest.fixture
def flags(context, writer):
    def look(text, without=None):
        return flags_of(text=text, writer=writer, context=context, without=without)

    return look


def test_a_plain_text_has_no_flags(flags):
    assert flags(PLAIN) == []


class TestANearDuplicate:
    def found(self, flags):
        (flag,) = flags
        return flag["kind"], flag["of"], flag["matched"]

    def test_of_another_text_of_the_writer(self, context, writer, flags):
        other = make_context(dialogue=make_dialogue(dataset=context.dataset))
        earlier = sent_for(other, writer=writer)

        (flag,) = flags(f"{LONG} I am here.")

        assert self.found([flag]) == ("near-duplicate", "own", LONG.removesuffix("."))
        assert (flag["message"], flag["contained"]) == (earlier.pk, 1.0)

    def test_of_an_older_version_of_such_a_text(self, context, writer, flags):
        other = make_context(dialogue=make_dialogue(dataset=context.dataset))
        earlier = sent_for(other, writer=writer)
        make_revision(message=earlier, text=PLAIN)

        assert self.found(flags(LONG))[:2] == ("near-duplicate", "own")

    def test_of_what_another_person_wrote_for_the_dialogue(self, context, flags):
        other = sent_for(context)

        (flag,) = flags(LONG)

        assert (flag["of"], flag["message"]) == ("another", other.pk)

    def test_of_what_a_model_wrote_for_the_dialogue(self, context, flags):
        completion = make_completion(context=context, system=make_system(), text=LONG)

        (flag,) = flags(LONG)

        assert (flag["of"], flag["completion"]) == ("another", completion.pk)

    def test_of_the_reply_in_the_source(self, context, flags):
        (flag,) = flags(ORIGINAL)

        assert (flag["of"], flag["turn"]) == ("original", 1)

    def test_is_none_of_what_another_wrote_for_another_dialogue(self, flags):
        make_sent(LONG)

        assert flags(LONG) == []

    def test_is_none_of_its_own_older_version(self, context, writer, flags):
        message = sent_for(context, writer=writer)

        assert flags(f"{LONG} I am here.", without=message) == []

    def test_does_not_name_the_original_reply_as_another_system(self, context, flags):
        original = make_system(kind=SystemKind.ORIGINAL)
        make_completion(context=context, system=original, text=ORIGINAL)

        assert {flag["of"] for flag in flags(ORIGINAL)} == {"original"}


def test_what_gives_the_source_away_is_flagged(flags):
    (flag,) = flags("As an AI language model I hear you.")

    assert (flag["kind"], flag["reason"]) == ("leak", "self-identification")
    assert flag["start"] == 0


def test_what_the_writer_was_asked_about_is_flagged(flags):
    (flag,) = flags("Do write to me at ada@example.org tonight.")

    assert (flag["kind"], flag["reason"]) == ("second-look", "personal-data")
    assert flag["matched"] == "ada@example.org"


def test_the_rules_are_named_within_their_column():
    assert {rule.split("-")[0] for rule in rules().split()} >= {"likeness", "leaks", "screening"}
    assert len(rules()) <= 120


def test_a_writer_without_a_row_is_compared_with_others(context):
    sent_for(context)

    found = flags_of(text=LONG, writer=type(make_writer())(), context=context, without=None)

    assert [flag["of"] for flag in found] == ["another"]


@pytest.mark.parametrize("n_texts", [1, 4])
def test_takes_three_queries_however_many_texts(
    context, writer, flags, n_texts, django_assert_num_queries
):
    for n in range(n_texts):
        other = make_context(dialogue=make_dialogue(dataset=context.dataset))
        sent_for(other, f"{LONG} {n}", writer=writer)
        sent_for(context, f"{LONG} {n}")

    with django_assert_num_queries(3):  # own texts; messages and completions of the context
        flags(PLAIN)
