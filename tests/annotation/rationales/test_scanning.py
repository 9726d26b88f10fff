"""Rationales are scanned before a release, and what is found waits for a person."""

import datetime as dt
from io import StringIO

import pytest
from django.core.management import call_command

from access.models import LogEntry
from annotation import tasks
from annotation.choices import TextOutcome, TextState
from annotation.models import Judgment, RationaleDecision, RationaleScan
from annotation.raters import services as rater_services
from annotation.rationales import passages, queries
from annotation.rationales import services as rationales_services
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
MASKED = "Write to [mail address removed] about it."


def scan(study=None, now=NOW):
    return rationales_services.scan_rationales(clock=lambda: now, study=study)


@pytest.fixture
def study():
    return make_study()


def judged(study, text):
    return make_judgment(comparison=make_comparison(study=study), rationale=text)


def decide(judgment, outcome, **words):
    return rationales_services.decide_rationale(
        study=judgment.comparison.study,
        judgment=judgment.pk,
        words=TextWords(outcome, **words),
        by=words.pop("by", None),
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

    def test_twice_reads_nothing_again(self, study):
        judged(study, MAIL)
        judged(study, "A is warmer.")

        assert (scan(), scan()) == (2, 0)

    def test_reads_what_judges_said_and_no_empty_text(self, study):
        judged(study, "")
        said = make_llm_judgment(rationale="B listens.")

        assert scan() == 1
        assert RationaleScan.objects.get().judgment == said

    def test_goes_on_where_a_turn_ended(self, study, monkeypatch):
        monkeypatch.setattr(scanning, "BATCH", 2)
        for n in range(5):
            judged(study, f"Reason number {n}.")
        times = iter([NOW, NOW, NOW + dt.timedelta(hours=1)])

        assert rationales_services.scan_rationales(clock=lambda: next(times)) == 2
        assert scan() == 3

    def test_of_one_study_leaves_the_others(self, study):
        judged(study, MAIL)
        judged(make_study(), MAIL)

        assert scan(study) == 1

    def test_the_task_and_the_command_do_it_for_one_and_for_all(self, study):
        judged(study, MAIL)
        tasks.scan_rationales()
        out = StringIO()

        call_command("rationales", "scan", "--study", study.slug, stdout=out, stderr=StringIO())

        assert "1 rationales: 0 clean" in out.getvalue()
        assert "1 wait for a person" in out.getvalue()


class TestNewRules:
    @pytest.fixture
    def _new_rules(self, monkeypatch):
        monkeypatch.setattr(passages, "version", lambda: "passages-2")

    @pytest.fixture
    def judgment(self, study):
        judgment = judged(study, MAIL)
        scan()
        return judgment

    @pytest.mark.usefixtures("judgment", "_new_rules")
    def test_read_everything_again(self):
        assert scan() == 1
        assert RationaleScan.objects.get().rules == "passages-2"

    def test_that_find_no_more_leave_what_was_decided(self, judgment, request):
        decide(judgment, TextOutcome.RELEASED)
        request.getfixturevalue("_new_rules")

        scan()

        assert state_of(judgment) == TextState.RELEASED

    def test_that_find_more_ask_a_person_again(self, judgment, monkeypatch, request):
        decide(judgment, TextOutcome.RELEASED)
        request.getfixturevalue("_new_rules")
        monkeypatch.setattr(passages, "find", lambda _: (passages.Passage("mail", 0, 30),))

        scan()

        assert state_of(judgment) == TextState.WAITING

    def test_that_find_nothing_do_not_release_what_was_withheld(
        self, judgment, monkeypatch, request
    ):
        decide(judgment, TextOutcome.WITHHELD)
        request.getfixturevalue("_new_rules")
        monkeypatch.setattr(passages, "find", lambda _: ())

        scan()

        assert state_of(judgment) == TextState.WITHHELD

    def test_keep_texts_from_a_release_until_they_have_read_them(self, study, monkeypatch):
        judged(study, "A is warmer.")
        scan()
        monkeypatch.setattr(passages, "version", lambda: "passages-2")

        assert texts(study) == {}
        assert queries.counts(study).unscanned == 1


class TestDeciding:
    @pytest.fixture
    def judgment(self, study):
        judgment = judged(study, MAIL)
        scan()
        return judgment

    @pytest.mark.parametrize(
        ("outcome", "text"),
        [
            (TextOutcome.RELEASED, MAIL),
            (TextOutcome.MASKED, MASKED),
            (TextOutcome.WITHHELD, None),
        ],
    )
    def test_decides_what_is_released(self, judgment, study, outcome, text):
        decide(judgment, outcome)

        assert texts(study).get(judgment.pk) == text
        assert state_of(judgment) == outcome

    def test_logs_who_and_what_without_the_text(self, judgment, study):
        rationales_services.decide_rationale(
            study=study,
            judgment=judgment.pk,
            words=TextWords(TextOutcome.MASKED, "an address"),
            by=(user := make_user()),
            now=NOW,
        )

        entry = LogEntry.objects.get(action="rationale.masked")
        assert (entry.by, entry.after) == (user, {"state": "MASKED", "found": ["mail"]})
        assert "ann" not in f"{entry.subject}{entry.before}{entry.after}"
        assert RationaleDecision.objects.get().reason == "an address"

    def test_removes_what_a_person_marked_besides(self, judgment, study):
        decide(judgment, TextOutcome.MASKED, also=("about it",))

        assert texts(study) == {judgment.pk: "Write to [mail address removed] [words removed]."}

    def test_may_be_taken_back_and_keeps_both_words(self, judgment):
        decide(judgment, TextOutcome.RELEASED)
        decide(judgment, TextOutcome.WITHHELD)

        assert state_of(judgment) == TextState.WITHHELD
        assert RationaleDecision.objects.count() == 2

    def test_removes_nothing_where_nothing_is_marked(self, study):
        judgment = judged(study, "A is warmer.")
        scan()

        with pytest.raises(rationales_services.NothingToMaskError):
            decide(judgment, TextOutcome.MASKED, also=("absent",))
        assert RationaleDecision.objects.count() == 0

    def test_is_about_the_texts_of_its_study(self, judgment):
        with pytest.raises(RationaleScan.DoesNotExist):
            rationales_services.decide_rationale(
                study=make_study(),
                judgment=judgment.pk,
                words=TextWords(TextOutcome.RELEASED),
                by=None,
                now=NOW,
            )


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

    rater_services.withdraw_rater(rater=judgment.rater, now=NOW)

    assert Judgment.objects.get().rationale == ""
    assert RationaleScan.objects.count() == 0
    decision = RationaleDecision.objects.get()
    assert (decision.reason, decision.passages) == ("", [])
