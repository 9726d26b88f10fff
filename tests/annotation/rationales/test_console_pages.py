"""The console's pages on reasons: themes that people check, and personal data to decide on."""

import pytest
from django.db.models import QuerySet
from django.test import Client
from django.urls import reverse

from access.choices import Role
from access.models import LogEntry
from annotation.models import Judgment, RationaleRun, ThemeCheck, ThemeLabelling
from annotation.rationales.services import labelling, scanning
from completions.choices import CallState
from completions.strategies import spot_check_queries
from completions.strategies.services.spot_checking import NotLabelledYetError
from tests.helpers.factories import NOW, make_assistant, make_comparison, make_judgment, make_study
from tests.helpers.factories_of_calls import (
    BOOK,
    make_coded,
    make_person,
    make_rationale_call,
    make_theme_check_item,
)
from tests.helpers.factories_written_once import make_member
from tests.helpers.pages import text

pytestmark = pytest.mark.django_db
WARM, OTHER, THIRD = BOOK.keys[:3]
SAMPLE = {"n": "2", "seed": "1"}


@pytest.fixture
def coder(study):
    """A model that found the first theme in both reasons of the study."""
    coder = make_assistant(slug="coder", name="Coder")
    for n in range(2):
        comparison = make_comparison(study=study)
        judgment = make_judgment(comparison=comparison, rationale=f"It names the loss, {n}.")
        make_coded(judgment, coder, WARM)
    return coder


@pytest.fixture
def ada():
    return make_person("ada")


@pytest.fixture
def ben():
    return make_person("ben")


def of(person):
    client = Client()
    client.force_login(person)
    return client


def address(name, *parts):
    return reverse(f"console:theme_{name}", args=["talks", *parts])


def draw(person, coder, **changes):
    return of(person).post(
        address("draw"), {"assistant": coder.slug, **SAMPLE, **changes}, follow=True
    )


def label(person, number, *found, name="store"):
    check = ThemeCheck.objects.get()
    return of(person).post(address(name, check.pk, number), {"found": found}, follow=True)


class TestDrawing:
    def test_takes_what_the_model_has_read_once_for_each_seed_and_is_logged(self, coder, ada):
        assert "Two people can label it now." in text(draw(ada, coder))

        check = ThemeCheck.objects.get()
        assert {one.judgment.rationale for one in check.items.all()} == set(
            Judgment.objects.values_list("rationale", flat=True)
        )
        entry = LogEntry.objects.get(action="themes.sampled")
        assert (entry.by, entry.after["items"], entry.after["of"]) == (ada, 2, 2)
        draw(ada, coder)
        assert ThemeCheck.objects.get() == check
        draw(ada, coder, seed="2")
        assert ThemeCheck.objects.count() == 2

    def test_waits_until_every_reason_is_read(self, study, coder, ada):
        comparison = make_comparison(study=study)
        judgment = make_judgment(comparison=comparison, rationale="Kind.")
        make_rationale_call(judgment=judgment, assistant=coder, state=CallState.PENDING)

        answer = draw(ada, coder)

        assert answer.status_code == 422
        assert "reasons still wait for Coder." in text(answer)
        assert not ThemeCheck.objects.exists()

    def test_takes_no_reason_that_was_deleted(self, study, coder, ada):
        first = Judgment.objects.first()
        QuerySet(Judgment).filter(pk=first.pk).update(rationale="")

        draw(ada, coder)

        assert ThemeCheck.objects.get().items.count() == 1

    def test_needs_a_model_that_has_read_something(self, study):
        with pytest.raises(NotLabelledYetError, match="has read no reason"):
            labelling.draw_theme_sample(study=study, assistant=make_assistant(), seed="1", now=NOW)


class TestLabelling:
    def test_shows_a_reason_with_every_theme_and_nothing_of_who_wrote_it(self, study, coder, ada):
        draw(ada, coder)
        answer = of(ada).get(address("label", ThemeCheck.objects.get().pk, 1))
        shown = text(answer)

        assert "It names the loss" in shown
        assert answer.content.decode().count('name="found"') == len(BOOK.themes)
        assert Judgment.objects.first().rater.code not in shown
        assert "The conversation" not in shown  # the model reads the reason alone, too

    def test_of_two_people_that_agree_settles_the_sample_with_scores(self, coder, ada, ben):
        draw(ada, coder)
        for person in (ada, ben):
            label(person, 1, WARM)
            label(person, 2, WARM, OTHER)
        for judgment in Judgment.objects.all():  # by another codebook, which does not count
            make_coded(judgment, coder, THIRD, codebook="heart-2")

        check = ThemeCheck.objects.get()
        scores = spot_check_queries.scores_of(check, spot_check_queries.ledger_of(check))
        by_key = {one.strategy: one for one in scores.labels}
        assert (by_key[WARM].f1, by_key[OTHER].f1) == (1.0, 0.0)
        assert {one.strategy: one.n_model for one in scores.labels if one.n_model} == {WARM: 2}
        assert scores.macro_f1 == pytest.approx(0.5)
        assert scores.kappa == 1.0
        page = text(of(ada).get(address("overview")))
        assert "Macro-F1 0.500" in page
        assert "Kappa between the two people: 1.00" in page

    def test_that_differs_is_settled_by_anybody(self, study, coder, ada, ben):
        draw(ada, coder)
        for person, found in ((ada, [WARM]), (ben, [WARM, THIRD])):
            label(person, 1, *found)
            label(person, 2)
        check = ThemeCheck.objects.get()
        shown = text(of(ada).get(address("settle", check.pk, 1)))
        assert "found by the second" in shown

        answer = label(make_member("cleo"), 1, THIRD, name="store-settled")

        assert "Everything is settled." in text(answer)
        row = ThemeLabelling.objects.get(is_adjudication=True)
        assert row.themes == [key for key in BOOK.keys if key in (WARM, THIRD)]

    def test_is_hidden_from_others_until_both_are_through(self, study, coder, ada, ben):
        draw(ada, coder)
        label(ada, 1, WARM)

        assert "Macro-F1" not in text(of(ben).get(address("overview")))
        owner = of(make_member("olive"))
        for table in ("rationalecall", "themelabel", "themelabelling"):
            page = owner.get(reverse(f"admin:annotation_{table}_changelist"))
            assert page.context["cl"].result_count == 0
        for person in (ada, ben):
            for number in (1, 2):
                label(person, number, WARM)
        page = owner.get(reverse("admin:annotation_themelabelling_changelist"))
        assert page.context["cl"].result_count == 4

    def test_of_a_reason_that_is_gone_is_not_found(self, ada):
        check = make_theme_check_item(judgment=make_judgment(rationale="")).spot_check

        page = reverse("console:theme_label", args=[check.study.slug, check.pk, 1])
        assert of(ada).get(page).status_code == 404


class TestAskingAModel:
    def start(self, person):
        return of(person).post(reverse("console:find_themes", args=["talks"]), {"model": "offline"})

    def test_has_it_read_the_reasons_that_it_has_not(self, study, ada):
        make_judgment(comparison=make_comparison(study=study), rationale="It listens.")

        answer = self.start(ada)

        run = RationaleRun.objects.get()
        assert answer["Location"] == reverse("models:run", args=["rationales", run.pk])
        assert run.n_planned == 1
        runs = of(ada).get(reverse("console:judge_runs", args=["talks"]))
        assert "Rationale themes" in text(runs)

    def test_without_a_reason_to_read_starts_nothing(self, study, ada):
        answer = self.start(ada)

        assert answer.status_code == 422
        assert "Nothing was started" in text(answer)
        assert not RationaleRun.objects.exists()


def test_before_any_model_has_read_the_page_leads_to_the_runs(study, ada):
    page = of(ada).get(address("overview")).content.decode()

    assert "No model has read the reasons yet." in page
    assert reverse("console:judge_runs", args=["talks"]) in page


MAIL = "Write to ann@example.com about it."


@pytest.fixture
def judgments(study):
    made = [
        make_judgment(comparison=make_comparison(study=study), rationale=text)
        for text in (MAIL, "A is warmer.", f"No. {MAIL}")
    ]
    scanning.scan_rationales(clock=lambda: NOW)
    return made


@pytest.fixture
def manager():
    return of(make_member(role=Role.MANAGER))


def queue(study):
    return reverse("console:personal_data", args=[study.slug])


def one(study, judgment):
    return reverse("console:personal_text", args=[study.slug, judgment.pk])


class TestTheQueueOfPersonalData:
    def test_lists_what_waits_without_its_text(self, manager, study, judgments):
        page = manager.get(queue(study)).content.decode()

        assert one(study, judgments[0]) in page
        assert one(study, judgments[1]) not in page
        assert "ann@" not in page

    def test_says_what_is_not_read_yet(self, manager, study):
        make_judgment(comparison=make_comparison(study=study), rationale=MAIL)

        page = manager.get(queue(study)).content.decode()

        assert "It is read within five minutes." in page
        assert "Nothing waits for a decision." in page

    def test_every_count_leads_to_its_rows_and_there_is_no_other_state(
        self, manager, study, judgments
    ):
        manager.post(one(study, judgments[0]), {"outcome": "WITHHELD"})

        page = manager.get(queue(study), {"state": "WITHHELD"}).content.decode()

        assert '<a href="?state=WITHHELD">1</a>' in page
        assert one(study, judgments[0]) in page
        assert manager.get(queue(study), {"state": "CLEAN"}).status_code == 404


class TestOneTextWithPersonalData:
    def test_marks_the_passages_and_shows_what_would_be_released(self, manager, study, judgments):
        page = manager.get(one(study, judgments[0])).content.decode()

        assert '<mark class="against">ann@example.com<sup>mail</sup></mark>' in page
        assert "[mail address removed]" in page

    def test_a_decision_leads_to_the_next_that_waits_and_from_the_last_to_the_queue(
        self, manager, study, judgments
    ):
        answer = manager.post(one(study, judgments[2]), {"outcome": "MASKED"})
        assert answer["Location"] == one(study, judgments[0])

        answer = manager.post(one(study, judgments[0]), {"outcome": "RELEASED"})
        assert answer["Location"] == queue(study)

    def test_asks_for_a_choice_and_for_something_to_remove(self, manager, study, judgments):
        answer = manager.post(one(study, judgments[0]), {"outcome": ""})
        assert answer.status_code == 422
        assert "Choose what becomes of the text." in answer.content.decode()

        answer = manager.post(one(study, judgments[1]), {"outcome": "MASKED"})
        assert answer.status_code == 422
        assert "Nothing is marked." in answer.content.decode()

    def test_removes_more_words_and_keeps_the_reason(self, manager, study, judgments):
        words = {"outcome": "MASKED", "also": "warmer\n\n", "reason": "a nickname"}
        manager.post(one(study, judgments[1]), words)

        page = manager.get(one(study, judgments[1])).content.decode()

        assert "A is [words removed]." in page
        assert "a nickname" in page

    def test_does_not_exist_for_another_study_or_unread(self, manager, study, judgments):
        unread = make_judgment(comparison=make_comparison(study=study), rationale=MAIL)

        assert manager.get(one(make_study(), judgments[0])).status_code == 404
        assert manager.post(one(study, unread), {"outcome": "MASKED"}).status_code == 404
