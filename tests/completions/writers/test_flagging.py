"""What rules ask a writer about and tell a reviewer of, what is like another text, and by whom."""

import json
from functools import cache

import numpy as np
import pytest

from access.models import LogEntry
from completions.choices import Background, MessageState, MessageVerdict, SystemKind
from completions.writers.near_duplicates import ComparedWords, most_like
from completions.writers.presubmit_checks import look
from completions.writers.services.flagging import flags_of, rules
from completions.writers.services.review_decisions import reveal_author
from tests.completions.writers.desk import SENT
from tests.helpers.datasets import shared_file
from tests.helpers.factories import (
    HOUR,
    NOW,
    make_completion,
    make_context,
    make_dialogue,
    make_system,
    make_writer,
    make_writing_lease,
)
from tests.helpers.factories_of_people import (
    make_accepted,
    make_message_decision,
    make_revision,
    make_sent,
)
from tests.helpers.factories_written_once import make_user

database = pytest.mark.django_db

LONG = "Nine years is a long time to tend a garden, and now the gate is locked for good."
ORIGINAL = "Grief has no timetable, you know, and nobody can tell you when to be done with it."
PLAIN = "What would you want him to know about the mornings since he moved out?"


@pytest.fixture
def context(dataset):
    turns = [
        {"role": "seeker", "text": "He is gone and I cannot sleep."},
        {"role": "supporter", "text": ORIGINAL},
    ]
    return make_context(dialogue=make_dialogue(dataset=dataset, turns=turns))


def sent_for(context, text=LONG, **fields):
    """A message for a context, of a new writer if of no other."""
    return make_sent(text, lease=make_writing_lease(context=context, **SENT, **fields))


@pytest.fixture
def flags(context, writer):
    def look(text, without=None):
        return flags_of(text=text, writer=writer, context=context, without=without)

    return look


@database
def test_a_plain_text_has_no_flags(flags):
    assert flags(PLAIN) == []


@database
class TestANearDuplicate:
    @pytest.mark.parametrize("is_revised", [False, True], ids=["as it is", "before it was revised"])
    def test_of_another_text_of_the_writer(self, context, writer, flags, is_revised):
        other = make_context(dataset=context.dataset)
        earlier = sent_for(other, writer=writer)
        if is_revised:
            make_revision(message=earlier, text=PLAIN)

        (flag,) = flags(f"{LONG} I am here.")

        assert (flag["kind"], flag["of"]) == ("near-duplicate", "own")
        assert flag["matched"] == LONG.removesuffix(".")
        assert (flag["message"], flag["contained"]) == (earlier.pk, 1.0)

    @pytest.mark.parametrize("what", ["message", "completion"])
    def test_of_what_another_person_or_a_model_wrote_for_the_dialogue(self, context, flags, what):
        make = sent_for if what == "message" else make_completion
        other = make(context=context, text=LONG)

        (flag,) = flags(LONG)

        assert (flag["of"], flag[what]) == ("another", other.pk)

    def test_of_the_reply_in_the_source_is_not_one_of_the_original_system_too(self, context, flags):
        original = make_system(kind=SystemKind.ORIGINAL)
        make_completion(context=context, system=original, text=ORIGINAL)

        (flag,) = flags(ORIGINAL)

        assert (flag["of"], flag["turn"]) == ("original", 1)

    def test_is_none_of_what_another_wrote_for_another_dialogue(self, flags):
        make_sent(LONG)

        assert flags(LONG) == []

    def test_is_none_of_its_own_older_version(self, context, writer, flags):
        message = sent_for(context, writer=writer)

        assert flags(f"{LONG} I am here.", without=message) == []


@database
@pytest.mark.parametrize(
    ("text", "kind", "reason", "matched"),
    [
        ("As an AI language model I hear you.", "leak", "self-identification", "As an AI"),
        ("Do write to ada@example.org tonight.", "second-look", "personal-data", "ada@example.org"),
    ],
    ids=["the source", "what the writer was asked about"],
)
def test_what_gives_somebody_away_is_flagged(flags, text, kind, reason, matched):
    (flag,) = flags(text)

    assert (flag["kind"], flag["reason"]) == (kind, reason)
    assert flag["matched"].startswith(matched)
    assert flag["start"] == text.index(matched)


def test_the_rules_are_named_within_their_column():
    assert {rule.split("-")[0] for rule in rules().split()} >= {"likeness", "leaks", "screening"}
    assert len(rules()) <= 120


@database
@pytest.mark.parametrize("n_texts", [1, 4])
def test_takes_three_queries_however_many_texts(
    context, writer, flags, n_texts, django_assert_num_queries
):
    for n in range(n_texts):
        other = make_context(dataset=context.dataset)
        sent_for(other, f"{LONG} {n}", writer=writer)
        sent_for(context, f"{LONG} {n}")

    with django_assert_num_queries(3):  # own texts; messages and completions of the context
        flags(PLAIN)


def reveal(message, **fields):
    return reveal_author(message=message, **{"by": None, "now": NOW} | fields)


def lease_of(writer):
    return make_writing_lease(writer=writer, **SENT)


@database
class TestTheAuthor:
    def test_is_told_by_pseudonym_and_background_with_what_became_of_their_messages(self):
        writer = make_writer(code="W77", background=Background.PEER)
        make_accepted(lease=lease_of(writer))
        make_sent(lease=lease_of(writer), state=MessageState.REJECTED)
        make_sent(lease=lease_of(writer), state=MessageState.TRIAL)
        make_accepted()
        twice = make_sent(lease=lease_of(writer))
        for revision in (twice.revisions.get(), make_revision(message=twice, text="Once more.")):
            make_message_decision(
                revision=revision, verdict=MessageVerdict.RETURNED, note="Shorter."
            )

        author = reveal(twice)

        assert (author.code, author.get_background_display()) == ("W77", "Peer supporter")
        assert author.is_simulated is False
        assert (author.n_sent, author.n_accepted) == (3, 1)
        assert (author.n_returned, author.n_rejected) == (1, 1)

    def test_of_an_imported_message_has_no_background(self):
        assert reveal(make_sent()).get_background_display() == ""

    def test_is_not_named_in_the_log_which_keeps_who_asked_about_which_message_and_when(self):
        message, by = make_sent(), make_user()

        for now in (NOW, NOW + HOUR):
            reveal(message, by=by, now=now)

        entries = LogEntry.objects.order_by("pk").values_list("action", "subject", "by", "at")
        asked = ("message.author_shown", f"message {message.pk}", by.pk)
        assert list(entries) == [(*asked, NOW), (*asked, NOW + HOUR)]
        assert list(LogEntry.objects.values_list("before", "after")) == [({}, {})] * 2


def questions(text, language="en"):
    return [(one.rule, one.matched) for one in look(text, language=language)]


class TestBeforeAMessageGoesOut:
    @pytest.mark.parametrize(
        ("text", "rule", "matched"),
        [
            ("Call me on +44 20 7946 0958 tonight.", "personal-data", "+44 20 7946 0958"),
            ("Nobody wants you to end your life.", "self-harm", "end your life"),
            ("You sound bipolar to me, honestly.", "clinical", "bipolar"),
            ("As an AI language model, I hear you.", "source", "As an AI language model"),
            ("I'm sorry, but I can't assist with that.", "source", "I'm sorry, but I can't assist"),
        ],
    )
    def test_quotes_the_words_at_fault(self, text, rule, matched):
        assert questions(text) == [(rule, matched)]

    @pytest.mark.parametrize(
        "text",
        [
            "That sounds lonely. What would a good evening look like?",
            "It makes sense that you are anxious. Would talking to your doctor help?",
            "Losing Rosa after nine years must hurt. What do you miss most?",
            "You could ring a help line, for instance 116 123, when the nights are long.",
            "",
        ],
    )
    def test_lets_plain_support_and_nothing_at_all_pass(self, text):
        assert questions(text) == []

    def test_tells_words_once_and_personal_data_first(self):
        text = "Take your medication. Write to ada@example.org. Take your medication."

        assert questions(text) == [("personal-data", "ada@example.org"), ("clinical", "medication")]

    def test_says_where_the_words_begin(self):
        text = "Write to ada@example.org, to ada@example.org."

        (found,) = look(text, language="en")

        assert text[found.start :].startswith("ada@example.org, to")

    def test_searches_other_languages_for_personal_data_alone(self):
        assert questions("Schreib an ada@example.org.", "de") == [
            ("personal-data", "ada@example.org")
        ]
        assert questions("You sound bipolar to me, honestly.", "de") == []


ALLOTMENT = (
    "Losing the allotment after nine years must feel like losing a room of your own. What did the "
    "mornings there give you that nothing else does?"
)
SAME_TALK = (
    "Nine years is a long time to tend something, and now the gate is locked. Would it help to say "
    "which part of those mornings you miss most?"
)
PHRASES = (
    ("I am so sorry to hear that.", "I am so sorry to hear that. Has she called since?"),
    (
        "I am sorry to hear that you lost the flat. Would you like to say more about it?",
        "I am sorry to hear that the exam went badly. Do you want to tell me how you feel?",
    ),
    (
        "That sounds really hard, and it makes sense that you feel this way about your brother.",
        "That sounds really hard. You carried the whole move alone, and nobody even asked.",
    ),
)


def is_like(one, other):
    return most_like(one, [("other", other)]) is not None


class TestATextIsLike:
    @pytest.mark.parametrize(
        "other",
        [
            ALLOTMENT,
            ALLOTMENT.upper().replace("?", " ... "),
            ALLOTMENT.replace("allotment", "garden"),
            f"Thank you for telling me. {ALLOTMENT} Take your time.",
            ALLOTMENT.partition(".")[0],
            ALLOTMENT.replace("e", "e\u0301"),
        ],
        ids=["itself", "in another dress", "but for a word", "in more", "in part", "with accents"],
    )
    def test_whichever_comes_first(self, other):
        assert is_like(ALLOTMENT, other)
        assert is_like(other, ALLOTMENT)

    def test_a_short_one_of_the_same_words(self):
        assert is_like("You could write her a letter.", "you could write her a letter")

    def test_the_one_that_has_most_of_it(self):
        half = ALLOTMENT.split(". ")[1]
        found = most_like(
            ALLOTMENT, [("half", half), ("all", f"{ALLOTMENT} Or not?"), ("none", SAME_TALK)]
        )

        assert found[:2] == ("all", 1.0)

    def test_and_says_which_words_of_it(self):
        other = f"Tell me: {ALLOTMENT.replace('Losing', 'To lose').lower()}"

        found = most_like(ALLOTMENT, [("other", other)])

        assert found[2] == ALLOTMENT.removeprefix("Losing ").removesuffix("?")


class TestATextIsNotLike:
    @pytest.mark.parametrize(("one", "other"), [(ALLOTMENT, SAME_TALK), *PHRASES])
    def test_another_that_shares_a_dialogue_or_what_everybody_says(self, one, other):
        assert not is_like(one, other)

    @pytest.mark.parametrize("other", ["", "?!", "Oh", ALLOTMENT[:20]])
    def test_next_to_nothing(self, other):
        assert not is_like(ALLOTMENT, other)
        assert not is_like(other, ALLOTMENT)

    def test_a_very_short_one_of_the_same_words(self):
        assert not is_like("I am here.", "I am here.")


@pytest.fixture(scope="module")
def turns():
    """A thousand messages of 20 to 60 words by supporters of ESConv, of different dialogues."""
    dialogues = json.loads(shared_file("esconv/ESConv.json").read_text("utf-8"))
    picked: list[str] = []
    for dialogue in dialogues:
        said = (one["content"] for one in dialogue["dialog"] if one["speaker"] == "supporter")
        picked += [text for text in said if 20 <= len(text.split()) <= 60][:1]
    return picked[:1000]


class TestOnSupportersOfEsconv:
    @pytest.fixture(autouse=True)
    def _read_once(self, monkeypatch):
        """Each of the thousand is compared with many: cut it into words once."""
        monkeypatch.setattr(ComparedWords, "of", cache(ComparedWords.of))

    @pytest.mark.parametrize(
        ("one_in", "most"), [(100, 0), pytest.param(20, 2, marks=pytest.mark.full)]
    )
    def test_hardly_any_two_people_write_alike(self, turns, one_in, most):
        asked = turns[::one_in]

        alike = [
            text for text in asked if most_like(text, [(x, x) for x in turns if x is not text])
        ]

        assert len(turns) > 900
        assert len(alike) <= most

    def test_a_text_is_known_again_with_every_eighth_word_exchanged(self, turns):
        rng = np.random.default_rng(5)
        vocabulary = np.array(" ".join(turns).split())

        known = sum(
            is_like(with_words_exchanged(text, vocabulary, rng), text) for text in turns[:200]
        )

        assert known >= 180


def with_words_exchanged(text, vocabulary, rng):
    words = text.split()
    exchanged = rng.random(len(words)) < 1 / 8
    return " ".join(np.where(exchanged, rng.choice(vocabulary, len(words)), words))
