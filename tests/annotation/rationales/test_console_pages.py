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
from tests.helpers.factories import NOW, make_assistant, make_comparison, make_judgment
from tests.helpers.factories_of_calls import (
    BOOK,
    make_coded,
    make_person,
    make_rationale_call,
    make_theme_check_item,
    make_theme_labelling,
)
from tests.helpers.factories_written_once import make_member
from tests.helpers.pages import text

pytestmark = pytest.mark.django_db
WARM, OTHER, THIRD = BOOK.keys[:3]


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


def draw(person, coder):
    sample = {"assistant": coder.slug, "n": "2", "seed": "1"}
    return of(person).post(address("draw"), sample, follow=True)


@pytest.fixture
def check(study, coder):
    """A sample of both reasons."""
    return labelling.draw_theme_sample(study=study, assistant=coder, seed="1", now=NOW)


def found(check, person, *themes):
    """Store what a person found in the reasons, from the first on."""
    for item, keys in zip(check.items.order_by("position"), themes, strict=True):
        make_theme_labelling(item=item, labeller=person, themes=keys)


class TestDrawing:
    def test_takes_what_the_model_has_read_and_is_logged(self, coder, ada):
        assert "Two people can label it now." in text(draw(ada, coder))

        check = ThemeCheck.objects.get()
        assert {one.judgment.rationale for one in check.items.all()} == set(
            Judgment.objects.values_list("rationale", flat=True)
        )
        entry = LogEntry.objects.get(action="themes.sampled")
        assert (entry.by, entry.after["items"], entry.after["of"]) == (ada, 2, 2)

    def test_is_done_once_for_each_seed(self, study, coder, check):
        again, other = (
            labelling.draw_theme_sample(study=study, assistant=coder, seed=seed, now=NOW)
            for seed in "12"
        )

        assert again == check != other

    def test_waits_until_every_reason_is_read(self, study, coder, ada):
        comparison = make_comparison(study=study)
        judgment = make_judgment(comparison=comparison, rationale="Kind.")
        make_rationale_call(judgment=judgment, assistant=coder, state=CallState.PENDING)

        answer = draw(ada, coder)

        assert answer.status_code == 422
        assert "reasons still wait for Coder." in text(answer)
        assert not ThemeCheck.objects.exists()

    def test_takes_no_reason_that_was_deleted(self, study, coder):
        first = Judgment.objects.first()
        QuerySet(Judgment).filter(pk=first.pk).update(rationale="")

        check = labelling.draw_theme_sample(study=study, assistant=coder, seed="1", now=NOW)

        assert check.items.count() == 1

    def test_needs_a_model_that_has_read_something(self, study):
        with pytest.raises(NotLabelledYetError, match="has read no reason"):
            labelling.draw_theme_sample(study=study, assistant=make_assistant(), seed="1", now=NOW)


class TestLabelling:
    def test_shows_a_reason_with_every_theme_and_nothing_of_who_wrote_it(self, check, ada):
        answer = of(ada).get(address("label", check.pk, 1))
        shown = text(answer)

        assert "It names the loss" in shown
        assert answer.content.decode().count('name="found"') == len(BOOK.themes)
        assert Judgment.objects.first().rater.code not in shown
        assert "The conversation" not in shown  # the model reads the reason alone, too

    def test_is_stored_and_leads_to_the_next_reason(self, check, ada):
        answer = of(ada).post(address("store", check.pk, 1), {"found": [WARM]})

        assert answer["Location"] == address("label", check.pk, 2)
        assert ThemeLabelling.objects.get().themes == [WARM]

    def test_of_two_people_that_agree_settles_the_sample_with_scores(self, coder, check, ada, ben):
        for person in (ada, ben):
            found(check, person, [WARM], [WARM, OTHER])
        for judgment in Judgment.objects.all():  # by another codebook, which does not count
            make_coded(judgment, coder, THIRD, codebook="heart-2")

        scores = spot_check_queries.scores_of(check, spot_check_queries.ledger_of(check))
        by_key = {one.strategy: one for one in scores.labels}
        assert (by_key[WARM].f1, by_key[OTHER].f1) == (1.0, 0.0)
        assert {one.strategy: one.n_model for one in scores.labels if one.n_model} == {WARM: 2}
        assert scores.macro_f1 == pytest.approx(0.5)
        assert scores.kappa == 1.0
        page = text(of(ada).get(address("overview")))
        assert "Macro-F1 0.500" in page
        assert "Kappa between the two people: 1.00" in page

    def test_that_differs_is_settled_by_anybody(self, check, ada, ben):
        found(check, ada, [WARM], [])
        found(check, ben, [WARM, THIRD], [])
        cleo = of(make_member("cleo"))
        shown = text(cleo.get(address("settle", check.pk, 1)))
        assert "found by the second" in shown

        settled = address("store-settled", check.pk, 1)
        answer = cleo.post(settled, {"found": [THIRD]}, follow=True)

        assert "Everything is settled." in text(answer)
        row = ThemeLabelling.objects.get(is_adjudication=True)
        assert row.themes == [key for key in BOOK.keys if key in (WARM, THIRD)]

    def test_is_hidden_from_others_until_both_are_through(self, check, ada, ben):
        found(check, ada, [WARM], [WARM])

        assert "Macro-F1" not in text(of(ben).get(address("overview")))
        owner = of(make_member("olive"))
        for table in ("rationalecall", "themelabel", "themelabelling"):
            page = owner.get(reverse(f"admin:annotation_{table}_changelist"))
            assert page.context["cl"].result_count == 0
        found(check, ben, [WARM], [WARM])
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

    def test_names_words_to_remove_that_are_not_there(self, manager, study, judgments):
        fields = {"outcome": "MASKED", "also": "warmer\ncolder"}

        answer = manager.post(one(study, judgments[1]), fields)

        assert answer.status_code == 422
        assert "These words are not in the text: colder." in answer.content.decode()

    def test_removes_more_words_and_keeps_the_reason(self, manager, study, judgments):
        words = {"outcome": "MASKED", "also": "warmer\n\n", "reason": "a nickname"}
        manager.post(one(study, judgments[1]), words)

        page = manager.get(one(study, judgments[1])).content.decode()

        assert "A is [words removed]." in page
        assert "a nickname" in page

    def test_does_not_exist_for_what_was_not_scanned(self, manager, study):
        unread = make_judgment(comparison=make_comparison(study=study), rationale=MAIL)

        assert manager.post(one(study, unread), {"outcome": "MASKED"}).status_code == 404
