"""The console's pages on personal data in reasons: the queue, one text, and what is decided."""

import pytest
from django.test import Client
from django.urls import reverse

from access.choices import Role
from annotation.choices import TextState
from annotation.models import RationaleScan
from annotation.rationales.services import scanning
from tests.helpers.factories import NOW, make_comparison, make_judgment, make_study
from tests.helpers.factories_written_once import make_member

pytestmark = pytest.mark.django_db
MAIL = "Write to ann@example.com about it."


@pytest.fixture
def study():
    return make_study()


@pytest.fixture
def judgments(study):
    made = [
        make_judgment(comparison=make_comparison(study=study), rationale=text)
        for text in (MAIL, "A is warmer.", f"No. {MAIL}")
    ]
    scanning.scan_rationales(clock=lambda: NOW)
    return made


def client_of(role):
    client = Client()
    client.force_login(make_member(role=role))
    return client


@pytest.fixture
def manager():
    return client_of(Role.MANAGER)


def queue(study):
    return reverse("console:personal_data", args=[study.slug])


def one(study, judgment):
    return reverse("console:personal_text", args=[study.slug, judgment.pk])


class TestQueue:
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
        self, manager, study, judgments, django_assert_max_num_queries
    ):
        manager.post(one(study, judgments[0]), {"outcome": "WITHHELD"})

        with django_assert_max_num_queries(15):
            page = manager.get(queue(study), {"state": "WITHHELD"}).content.decode()
        with django_assert_max_num_queries(15):
            manager.get(one(study, judgments[0]))

        assert '<a href="?state=WITHHELD">1</a>' in page
        assert one(study, judgments[0]) in page
        assert manager.get(queue(study), {"state": "CLEAN"}).status_code == 404


class TestOneText:
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
        other = make_study()

        assert manager.get(one(other, judgments[0])).status_code == 404
        assert manager.post(one(other, judgments[0]), {"outcome": "MASKED"}).status_code == 404


class TestAccess:
    def test_an_analyst_reads_and_decides_nothing(self, study, judgments):
        analyst = client_of(Role.ANALYST)

        assert analyst.get(one(study, judgments[0])).status_code == 200
        assert analyst.post(one(study, judgments[0]), {"outcome": "MASKED"}).status_code == 403
        waiting = RationaleScan.objects.filter(state=TextState.WAITING)
        assert waiting.count() == 2

    def test_strangers_are_led_to_the_sign_in(self, client, study, judgments):
        assert client.get(queue(study)).status_code == 302
        assert client.get(one(study, judgments[0])).status_code == 302
