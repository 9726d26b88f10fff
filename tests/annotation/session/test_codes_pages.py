"""The ends before a beginning: declined, full, another platform, a simulation."""

import re

import pytest

from annotation.models import Consent, Lease, Rater
from annotation.raters.visit_time import IMAGINED
from annotation.session import http
from tests.helpers.factories import NOW
from tests.helpers.visits import consent_fields, enrol, open_study, read_forms, study_content, url

pytestmark = pytest.mark.django_db
PROLIFIC = {"PROLIFIC_PID": "p-17", "STUDY_ID": "s-1", "SESSION_ID": "x-1"}
CODES = {
    "complete": "C-DONE",
    "screened_out": "C-OUT",
    "no_consent": "C-NO",
    "full": "C-FULL",
}


def make_crowd(**changes):
    crowd = study_content()["crowd"]
    return crowd | {"codes": CODES, "return_url": "https://platform.example/?cc={code}"} | changes


def open_crowd_study(**changes):
    return open_study(content=study_content(crowd=make_crowd(**changes)))


@pytest.fixture
def study():
    return open_crowd_study()


def code_on(page):
    found = re.search(r'<code id="completion-code">(.+?)</code>', page.content.decode())
    return found and found[1]


def decline(client, study, **parameters):
    fields = consent_fields(client, study, **parameters)
    return client.post(url(study, "consent"), fields | {"choice": "decline"})


class TestDeclining:
    def test_gives_the_code_for_it_and_the_way_back(self, client, study):
        page = decline(client, study, **PROLIFIC)

        assert page.status_code == 200
        assert code_on(page) == "C-NO"
        assert 'href="https://platform.example/?cc=C-NO"' in page.content.decode()
        assert not Rater.objects.exists()
        assert not Consent.objects.exists()
        assert http.COOKIE not in client.cookies

    def test_sends_a_guest_nowhere(self, client, study):
        assert "platform.example" not in decline(client, study).content.decode()

    def test_may_be_thought_over(self, client, study):
        decline(client, study, **PROLIFIC)

        assert enrol(client, study, **PROLIFIC).external_id == "p-17"


class TestFullStudy:
    def test_new_visitor_is_told_before_they_read_the_consent(self, client, study):
        study.comparisons.update(slots_left=0)

        page = client.get(url(study, "entry"), PROLIFIC)

        assert page.status_code == 409
        assert code_on(page) == "C-FULL"
        assert not read_forms(page)
        assert "Nothing about you was stored." in page.content.decode()

    def test_who_agrees_a_moment_too_late_is_told_and_not_stored(self, client, study):
        fields = consent_fields(client, study, **PROLIFIC) | {"choice": "agree"}
        study.comparisons.update(slots_left=0)

        page = client.post(url(study, "consent"), fields)

        assert (page.status_code, code_on(page)) == (409, "C-FULL")
        assert not Rater.objects.exists()

    def test_enrolled_rater_without_a_pair_may_finish_with_that_code(self, client, study):
        enrol(client, study, **PROLIFIC)
        study.comparisons.update(slots_left=0)
        page = client.get(url(study, "judge"))
        assert "There is nothing for you at the moment." in page.content.decode()
        assert code_on(page) is None

        page = client.post(read_forms(page)[0].action, follow=True)

        assert code_on(page) == "C-FULL"
        assert url(study, "judge") not in page.content.decode()

    def test_known_person_who_is_to_bind_a_new_browser_is_let_in(self, client, study):
        rater = enrol(client, study, **PROLIFIC)
        study.comparisons.update(slots_left=0)
        Rater.objects.update(bound_by="")
        client.cookies.clear()

        assert enrol(client, study, **PROLIFIC) == rater

    def test_getting_a_pair_after_all_is_better_than_finishing(self, client, study):
        enrol(client, study, **PROLIFIC)

        page = client.post(url(study, "finish"), follow=True)

        assert page.status_code == 200
        assert Lease.objects.filter(closed_at=None).exists()


class TestPlatform:
    @pytest.mark.parametrize("parameters", [{}, {"pid": "77"}])
    def test_study_of_one_platform_takes_nobody_else(self, client, parameters):
        study = open_crowd_study(platform="prolific")

        page = client.get(url(study, "entry"), parameters)

        assert page.status_code == 400
        assert "open the study from your platform" in page.content.decode()

    def test_study_of_one_platform_takes_its_people(self, client):
        study = open_crowd_study(platform="connect")
        arrival = {"participantId": "c-1", "assignmentId": "a-1", "projectId": "j-1"}

        rater = enrol(client, study, **arrival)

        assert (rater.platform, rater.external_id) == ("CONNECT", "c-1")
        submission = rater.submissions.get()
        assert (submission.session_id, submission.ids) == ("a-1", {"projectId": "j-1"})


class TestSimulation:
    @pytest.fixture
    def shadow(self):
        return open_study(title="Simulated raters", is_simulated=True)

    def test_person_cannot_take_part_in_it(self, client, shadow):
        page = client.get(url(shadow, "entry"))

        assert page.status_code == 409
        assert "This is a simulation" in page.content.decode()

    def test_program_enters_it_and_is_marked(self, client, shadow):
        page = client.get(url(shadow, "entry"), **{IMAGINED: NOW})
        fields = read_forms(page)[0].fields | {"choice": "agree"}
        client.post(url(shadow, "consent"), fields, **{IMAGINED: NOW})

        rater = Rater.objects.get()
        assert rater.is_simulated
        assert rater.entered_at == rater.consents.get().given_at == NOW

    def test_program_cannot_enter_a_study_of_people(self, client, study):
        assert client.get(url(study, "entry"), **{IMAGINED: NOW}).status_code == 409
