"""How a session ends: breaks and stops, the codes, and the ends before a beginning."""

import re

import pytest
from django.test import Client

from annotation.choices import RaterState
from annotation.models import Consent, Judgment, Lease, Rater
from annotation.raters.visit_time import IMAGINED
from annotation.session import http
from tests.annotation.session.steps import CODES, PROLIFIC, code_on, judge
from tests.helpers.factories import NOW
from tests.helpers.factories_written_once import make_exclusion
from tests.helpers.visits import (
    ANSWERS,
    HTMX,
    consent_fields,
    enrol,
    open_study,
    read_forms,
    study_content,
    url,
)

pytestmark = pytest.mark.django_db


class TestPauses:
    def test_help_is_open_to_everyone_and_leads_a_rater_back_to_the_pair(self, client, study):
        to_visitor = client.get(url(study, "help"))
        enrol(client, study)
        to_rater = client.get(url(study, "help"))

        assert to_visitor.status_code == to_rater.status_code == 200
        assert url(study, "judge") not in to_visitor.content.decode()
        assert url(study, "judge") in to_rater.content.decode()

    @pytest.mark.parametrize("name", ["take_break", "stop", "withdraw", "done"])
    def test_nobody_reads_of_0_answers(self, client, study, name):
        enrol(client, study, PROLIFIC_PID="p", STUDY_ID="s", SESSION_ID="x")
        client.get(url(study, "judge"))
        if name == "done":
            client.post(url(study, "stop"))

        page = client.get(url(study, name)).content.decode()

        assert not re.search(r"\b0 (answers|of)\b|Keep my answers", page)
        assert ("The code below tells your platform so." in page) is (name == "done")

    def test_break_says_what_is_saved_and_keeps_the_pair(self, client, study, rater):
        judge(client, study)
        client.get(url(study, "judge"))

        page = client.get(url(study, "take_break"))

        assert "1 answer is saved" in page.content.decode()
        assert Lease.objects.get(closed_at=None).paused_at is None

    def test_stop_asks_once(self, client, study, rater):
        client.get(url(study, "stop"))

        rater.refresh_from_db()
        assert rater.state == RaterState.ACTIVE


class TestEnd:
    def test_stopping_gives_the_studys_code_and_says_what_it_was_about(self, client):
        crowd = study_content()["crowd"] | {"return_url": "https://platform.example/?cc={code}"}
        crowd["codes"] |= {"partial": "C0DE-7"}
        study = open_study(content=study_content(crowd=crowd))
        enrol(client, study, pid="77")
        judge(client, study)

        answer = client.post(url(study, "stop"))
        page = client.get(answer["Location"])

        assert answer.status_code == 303
        assert code_on(page) == "C0DE-7"
        assert "https://platform.example/?cc=C0DE-7" in page.content.decode()
        assert study.content["debrief"].strip().split("\n")[0] in page.content.decode()

    def test_who_answered_nothing_did_not_complete_the_session(self, client, study, rater):
        client.post(url(study, "stop"))

        page = client.get(url(study, "done"))

        assert "before the first answer" in page.content.decode()
        assert code_on(page) is None

    def test_last_htmx_answer_leads_to_the_last_page(self, client):
        study = open_study(session_length=1)
        enrol(client, study)
        client.get(url(study, "judge"))
        token = Lease.objects.get().token

        answer = client.post(url(study, "submit", token), ANSWERS["preference"], headers=HTMX)

        assert answer["HX-Redirect"] == url(study, "judge")
        assert code_on(client.get(answer["HX-Redirect"]))

    def test_nothing_left_offers_to_finish_and_to_come_back(self, client, study, rater):
        judge(client, study, times=2)

        page = client.get(url(study, "judge"))

        assert page.status_code == 200
        assert "There is nothing more for you at the moment" in page.content.decode()
        assert read_forms(page)[0].action == url(study, "finish")
        assert "/resume/" in page.content.decode()
        assert code_on(page) is None

    def test_done_before_the_end_leads_back_to_the_pairs(self, client, study, rater):
        assert client.get(url(study, "done"))["Location"] == url(study, "judge")

    @pytest.mark.parametrize("name", ["judge", "last", "done"])
    def test_stopped_rater_sees_one_last_page(self, client, study, rater, name):
        judge(client, study)
        client.post(url(study, "stop"))

        page = client.get(url(study, name), follow=True)

        assert page.status_code == 200
        assert "You stopped after 1 of 40." in page.content.decode()
        assert Lease.objects.filter(closed_at=None).count() == 0

    @pytest.mark.parametrize("name", ["judge", "last", "done", "stop", "take_break"])
    def test_excluded_rater_sees_one_last_page(self, client, study, rater, name):
        judge(client, study)
        make_exclusion(rater=rater)

        page = client.get(url(study, name), follow=True).content.decode()

        assert "Your 1 answer is saved." in page
        assert 'id="answer"' not in page
        assert "exclu" not in page.casefold()


class TestWithoutScripts:
    @pytest.mark.parametrize("kind", ["preference", "rubric"])
    def test_forms_alone_lead_from_the_link_to_the_code(self, kind):
        study = open_study(kind, n_pairs=2)
        client = Client(enforce_csrf_checks=True)

        def send(page, fields, *, at=0):
            form = read_forms(page)[at]
            return client.post(form.action, form.fields | fields, follow=True)

        page = send(client.get(url(study, "entry"), {"pid": "77"}), {"choice": "agree"})
        page = send(page, ANSWERS[kind])
        start = re.search(r'class="button" href="(.+?)"', page.content.decode())
        assert start
        page = client.get(start[1])
        for _ in range(2):
            page = send(page, ANSWERS[kind])
        page = send(page, {})

        assert code_on(page)
        assert Judgment.objects.filter(rater=Rater.objects.get()).count() == 2


@pytest.fixture
def paid_study():
    """Return a study with a code for each way to end, and an address to go back to."""
    way_back = {"codes": CODES, "return_url": "https://platform.example/?cc={code}"}
    return open_study(content=study_content(crowd=study_content()["crowd"] | way_back))


def decline(client, study, **parameters):
    fields = consent_fields(client, study, **parameters)
    return client.post(url(study, "consent"), fields | {"choice": "decline"})


class TestDeclining:
    def test_gives_the_code_for_it_and_may_be_thought_over(self, client, paid_study):
        page = decline(client, paid_study, **PROLIFIC)

        assert page.status_code == 200
        assert "nothing about you was stored" in page.content.decode()
        assert code_on(page) == "C-NO"
        assert 'href="https://platform.example/?cc=C-NO"' in page.content.decode()
        assert not Rater.objects.exists()
        assert not Consent.objects.exists()
        assert http.COOKIE not in client.cookies
        assert enrol(client, paid_study, **PROLIFIC).external_id == "p-17"

    def test_sends_a_guest_nowhere(self, client, paid_study):
        assert "platform.example" not in decline(client, paid_study).content.decode()


class TestFullStudy:
    def test_new_visitor_is_told_before_they_read_the_consent(self, client, paid_study):
        paid_study.comparisons.update(slots_left=0)

        page = client.get(url(paid_study, "entry"), PROLIFIC)

        assert page.status_code == 409
        assert code_on(page) == "C-FULL"
        assert not read_forms(page)
        assert "Nothing about you was stored." in page.content.decode()

    def test_who_agrees_a_moment_too_late_is_told_and_not_stored(self, client, paid_study):
        fields = consent_fields(client, paid_study, **PROLIFIC) | {"choice": "agree"}
        paid_study.comparisons.update(slots_left=0)

        page = client.post(url(paid_study, "consent"), fields)

        assert (page.status_code, code_on(page)) == (409, "C-FULL")
        assert not Rater.objects.exists()

    def test_enrolled_rater_without_a_pair_may_finish_with_that_code(self, client, paid_study):
        enrol(client, paid_study, **PROLIFIC)
        paid_study.comparisons.update(slots_left=0)
        page = client.get(url(paid_study, "judge"))
        assert "There is nothing for you at the moment." in page.content.decode()
        assert code_on(page) is None

        page = client.post(read_forms(page)[0].action, follow=True)

        assert code_on(page) == "C-FULL"
        assert url(paid_study, "judge") not in page.content.decode()


class TestSimulation:
    def test_person_cannot_take_part_in_it(self, client):
        shadow = open_study(title="Simulated raters", is_simulated=True)

        page = client.get(url(shadow, "entry"))

        assert page.status_code == 409
        assert "This is a simulation" in page.content.decode()

    def test_program_enters_it_alone_and_is_marked(self, client):
        shadow = open_study(title="Simulated raters", is_simulated=True)

        page = client.get(url(shadow, "entry"), **{IMAGINED: NOW})
        fields = read_forms(page)[0].fields | {"choice": "agree"}
        client.post(url(shadow, "consent"), fields, **{IMAGINED: NOW})

        rater = Rater.objects.get()
        assert rater.is_simulated
        assert rater.entered_at == rater.consents.get().given_at == NOW
        assert client.get(url(open_study(), "entry"), **{IMAGINED: NOW}).status_code == 409
