"""Rationales are scanned for personal data before a release, and a person decides on it."""

import datetime as dt
from io import StringIO

import pytest
from django.core.management import call_command
from hypothesis import given
from hypothesis import strategies as st

from access.models import LogEntry
from annotation import tasks
from annotation.choices import TextOutcome, TextState
from annotation.models import Judgment, RationaleDecision, RationaleScan
from annotation.raters.services import withdrawing
from annotation.rationales import passages, queries
from annotation.rationales.passages import Passage
from annotation.rationales.services import scanning
from annotation.rationales.services.scanning import TextWords
from tests.helpers.factories import (
    NOW,
    make_comparison,
    make_judgment,
    make_llm_judgment,
    make_study,
)
from tests.helpers.factories_of_calls import make_scan
from tests.helpers.factories_written_once import make_user

pytestmark = pytest.mark.django_db
MAIL = "Write to ann@example.com about it."


def scan(study=None, now=NOW):
    return scanning.scan_rationales(clock=lambda: now, study=study)


def judged(study, text):
    return make_judgment(comparison=make_comparison(study=study), rationale=text)


@pytest.fixture
def judgment(study):
    judgment = judged(study, MAIL)
    scan()
    return judgment


def decide(judgment, outcome, *, study=None, by=None, **words):
    return scanning.decide_rationale(
        study=study or judgment.comparison.study,
        judgment=judgment.pk,
        words=TextWords(outcome, **words),
        by=by,
        now=NOW,
    )


def texts(study):
    return dict(queries.texts_for_release(study))


def state_of(judgment):
    return RationaleScan.objects.get(judgment=judgment).state


class TestScanning:
    def test_says_what_was_found_where_in_which_text(self, study):
        judgment = judged(study, MAIL)

        assert scan() == 1

        found = RationaleScan.objects.get()
        assert found.judgment == judgment
        assert found.passages == [["mail", 9, 24]]
        assert (found.state, found.text_hash) == (TextState.WAITING, passages.digest(MAIL))

    def test_reads_what_people_and_judges_said_once_and_no_empty_text(self, study):
        judged(study, "")
        judged(make_study(), MAIL)
        said = {judged(study, MAIL).pk, judged(study, "A is warmer.").pk}
        said.add(make_llm_judgment(comparison=make_comparison(study=study), rationale="B.").pk)

        assert (scan(study), scan(study)) == (3, 0)

        assert set(RationaleScan.objects.values_list("judgment", flat=True)) == said
        assert scan() == 1

    def test_goes_on_where_a_turn_ended(self, study, monkeypatch):
        monkeypatch.setattr(scanning, "BATCH", 2)
        for n in range(5):
            judged(study, f"Reason number {n}.")
        times = iter([NOW, NOW, NOW + dt.timedelta(hours=1)])

        assert scanning.scan_rationales(clock=lambda: next(times)) == 2
        assert scan() == 3

    def test_stores_nothing_of_a_text_that_was_erased_once_its_batch_was_chosen(self, judgment):
        pair = make_comparison(study=judgment.comparison.study, shown_first_as_a=1)
        later = make_judgment(comparison=pair, rationale="Write to bob@example.com as well.")
        looks = iter([lambda: None, lambda: withdrawing.withdraw_rater(rater=later.rater, now=NOW)])

        def clock():  # it is looked at when a turn begins, and when a batch is stored
            next(looks, lambda: None)()
            return NOW

        scanning.scan_rationales(clock=clock)

        assert not RationaleScan.objects.filter(judgment=later).exists()
        assert RationaleScan.objects.get().judgment == judgment

    def test_the_task_and_the_command_do_it_for_one_and_for_all(self, study):
        judged(study, MAIL)
        tasks.scan_rationales()
        out = StringIO()

        call_command("rationales", "scan", "--study", study.slug, stdout=out, stderr=StringIO())

        assert "1 rationales: 0 clean" in out.getvalue()
        assert "1 wait for a person" in out.getvalue()


class TestNewRules:
    @pytest.mark.parametrize(
        ("outcome", "finding", "state"),
        [
            (None, (9, 24), TextState.WAITING),
            (TextOutcome.RELEASED, (9, 24), TextState.RELEASED),
            (TextOutcome.RELEASED, (0, 30), TextState.WAITING),
            (TextOutcome.WITHHELD, None, TextState.WITHHELD),
        ],
        ids=[
            *("of what waits it waits on", "no more: what was decided stays"),
            *("more: a person is asked again", "nothing: what was withheld is not released"),
        ],
    )
    def test_read_everything_again_and_find(self, judgment, monkeypatch, outcome, finding, state):
        if outcome:
            decide(judgment, outcome)
        found = (passages.Passage("mail", *finding),) if finding else ()
        monkeypatch.setattr(passages, "version", lambda: "passages-2")
        monkeypatch.setattr(passages, "find", lambda _: found)

        assert scan() == 1

        assert RationaleScan.objects.get().rules == "passages-2"
        assert state_of(judgment) == state

    def test_keep_texts_from_a_release_until_they_have_read_them(self, study, monkeypatch):
        judged(study, "A is warmer.")
        scan()
        monkeypatch.setattr(passages, "version", lambda: "passages-2")

        assert texts(study) == {}
        assert queries.counts(study).unscanned == 1


class TestDeciding:
    @pytest.mark.parametrize(
        ("outcome", "also", "text"),
        [
            (TextOutcome.RELEASED, (), MAIL),
            (TextOutcome.MASKED, (), "Write to [mail address removed] about it."),
            (TextOutcome.MASKED, ("about it",), "Write to [mail address removed] [words removed]."),
            (TextOutcome.WITHHELD, (), None),
        ],
        ids=["released", "masked", "masked with what a person marked", "withheld"],
    )
    def test_decides_what_is_released(self, judgment, study, outcome, also, text):
        decide(judgment, outcome, also=also)

        assert texts(study).get(judgment.pk) == text
        assert state_of(judgment) == outcome

    def test_logs_who_and_what_without_the_text(self, judgment):
        user = make_user()

        decide(judgment, TextOutcome.MASKED, by=user, reason="an address")

        entry = LogEntry.objects.get(action="rationale.masked")
        assert (entry.by, entry.after) == (user, {"state": "MASKED", "found": ["mail"]})
        assert "ann" not in f"{entry.subject}{entry.before}{entry.after}"
        assert RationaleDecision.objects.get().reason == "an address"

    def test_may_be_taken_back_and_keeps_both_words(self, judgment):
        decide(judgment, TextOutcome.RELEASED)
        decide(judgment, TextOutcome.WITHHELD)

        assert state_of(judgment) == TextState.WITHHELD
        assert RationaleDecision.objects.count() == 2

    def test_removes_nothing_where_nothing_is_marked(self, study):
        judgment = judged(study, "A is warmer.")
        scan()

        with pytest.raises(scanning.NothingToMaskError, match="Nothing is marked"):
            decide(judgment, TextOutcome.MASKED)
        assert RationaleDecision.objects.count() == 0

    @pytest.mark.parametrize("outcome", TextOutcome)
    def test_refuses_marked_words_that_are_not_there_whatever_was_found(self, judgment, outcome):
        with pytest.raises(scanning.NothingToMaskError, match=": Anne, abou"):
            decide(judgment, outcome, also=("Write to", "Anne", "abou"))

        assert state_of(judgment) == TextState.WAITING
        assert RationaleDecision.objects.count() == 0

    def test_is_about_the_texts_of_its_study(self, judgment):
        with pytest.raises(RationaleScan.DoesNotExist):
            decide(judgment, TextOutcome.RELEASED, study=make_study())


class TestTextsForRelease:
    def test_are_those_in_which_nothing_was_found_and_those_decided(self, study):
        clean, waits, unread = (
            judged(study, text) for text in ("A is warmer.", MAIL, "B is read later.")
        )
        scan()
        RationaleScan.objects.filter(judgment=unread).delete()

        found = queries.texts_for_release(study)

        assert dict(found) == {clean.pk: "A is warmer."}
        assert found.of([clean.pk, waits.pk]) == {clean.pk: "A is warmer."}
        counts = found.counts
        assert (counts.clean, counts.waiting, counts.unscanned) == (1, 1, 1)
        assert (counts.n_going, counts.total) == (1, 3)

    def test_come_a_batch_at_a_time_in_one_query(self, study, django_assert_num_queries):
        for n in range(5):
            judged(study, f"Reason number {n}.")
        scan()

        with django_assert_num_queries(1):
            keys = [pk for pk, _text in queries.texts_for_release(study)]
        assert keys == sorted(keys)
        assert len(keys) == 5

    def test_leave_out_a_text_that_is_not_the_one_that_was_read(self, study):
        make_scan(judgment=judged(study, "A is warmer."), text_hash="0" * 64)

        assert texts(study) == {}


def test_erasing_a_text_takes_what_was_found_with_it(study):
    pair = make_comparison(study=study, slots_left=4, shown_first_as_a=1, shown_first_as_b=1)
    judgment = make_judgment(comparison=pair, rationale=MAIL)
    scan()
    decide(judgment, TextOutcome.MASKED, reason="names Ann")
    assert judgment.rater is not None

    withdrawing.withdraw_rater(rater=judgment.rater, now=NOW)

    assert Judgment.objects.get().rationale == ""
    assert RationaleScan.objects.count() == 0
    decision = RationaleDecision.objects.get()
    assert (decision.reason, decision.passages) == ("", [])


FOUND = [
    ("mail", "Write to ann@example.com, please.", "ann@example.com"),
    ("rater id", "I am 5f3b1c9d8e7a6b5c4d3e2f1a on Prolific.", "5f3b1c9d8e7a6b5c4d3e2f1a"),
    ("rater id", "As AX2B3C4D5E6F7 I would say so.", "AX2B3C4D5E6F7"),
    ("rater id", "As R2B3C4D5E6F I would say so.", "R2B3C4D5E6F"),
]


@pytest.mark.parametrize(("kind", "text", "wanted"), FOUND)
def test_finds(kind, text, wanted):
    (found,) = passages.find(text)

    assert (found.kind, text[found.start : found.end]) == (kind, wanted)


@pytest.mark.parametrize(
    "text", ["", "A is warmer; B lectures.", "AFFECTIONATELY", "RESPONDENTS", "1 of 5 is too low"]
)
def test_finds_nothing_in(text):
    assert passages.find(text) == ()


def test_puts_the_kind_for_what_is_removed():
    text = "My name is Ann Lee. Mail ann@example.com!"

    masked = passages.masked(text, passages.find(text))

    assert masked == "[name removed]. Mail [mail address removed]!"


@pytest.mark.parametrize(
    ("text", "words", "masked"),
    [
        ("Tom said so. Tomorrow TOM will not.", ["tom", " "], "* said so. Tomorrow * will not."),
        ("Ask Ann\nLee, not Annlee.", ["Ann Lee"], "Ask *, not Annlee."),
        ("Atom tom tom.", ["tom tom"], "Atom *."),
        ("See me@home, @ann_b or (Ann).", ["@ann_b", "(Ann)", "@home"], "See me*, * or *."),
        ("我觉得张伟说得对。", ["张伟"], "我觉得*说得对。"),
        ("Room 12 of 123.", ["12"], "Room * of 123."),
    ],
    ids=["case", "white space", "overlap", "signs", "no spaces", "digits"],
)
def test_finds_words_that_a_person_marked_as_they_stand_in_the_text(text, words, masked):
    pieces = passages.pieces(text, passages.find_words(text, words))

    assert "".join("*" if kind else piece for kind, piece in pieces) == masked


def test_joins_what_overlaps_and_knows_what_covers_what():
    one, two, three = Passage("a", 0, 5), Passage("b", 3, 8), Passage("c", 8, 9)
    known = [Passage("mail", 3, 20)]

    assert passages.joined([three, two, one]) == (Passage("a", 0, 8), three)
    assert passages.covers(known, [Passage("account", 5, 20)])
    assert passages.covers(known, [])
    assert not passages.covers(known, [Passage("mail", 3, 21)])


def test_the_version_tells_the_rules_and_their_number():
    assert passages.version().startswith("passages-1 screening-")


spans = st.lists(
    st.tuples(st.integers(0, 40), st.integers(1, 10)).map(lambda it: Passage("x", it[0], sum(it)))
)


@given(text=st.text(min_size=50), found=spans)
def test_the_pieces_make_up_the_text_and_no_marked_character_is_left(text, found):
    pieces = list(passages.pieces(text, found))

    assert "".join(piece for _kind, piece in pieces) == text
    kept = "".join(piece for kind, piece in pieces if kind is None)
    marked = {place for one in found for place in range(one.start, one.end)}
    assert kept == "".join(one for place, one in enumerate(text) if place not in marked)
