"""Coming in: the entry link, consent, the practice pair, the way back."""

import html

import pytest
from django.core.signing import Signer
from django.test import Client

from annotation.choices import Platform
from annotation.models import Consent, Judgment, Lease, Rater
from annotation.session import http
from tests.helpers.visits import HTMX, consent_fields, enrol, open_study, url

pytestmark = pytest.mark.django_db
PROLIFIC = {"PROLIFIC_PID": "p-17", "STUDY_ID": "s-1", "SESSION_ID": "x-1"}


@pytest.fixture
def study():
    return open_study()


class TestEntry:
    def test_shows_the_consent_and_stores_nothing(self, client, study):
        page = client.get(url(study, "entry"), PROLIFIC)

        assert page.status_code == 200
        assert study.content["consent"]["content_note"] in page.content.decode()
        assert not page.cookies.get(http.COOKIE)
        assert not Rater.objects.exists()

    def test_gives_both_answers_the_same_button(self, client, study):
        page = client.get(url(study, "entry")).content.decode()

        agree = '<button class="button equal" name="choice" value="agree">'
        assert agree in page
        assert agree.replace("agree", "decline") in page

    def test_names_help_lines_before_anything_is_agreed(self, client, study):
        assert "findahelpline.com" in client.get(url(study, "entry")).content.decode()

    def test_sends_an_enrolled_rater_on(self, client, study):
        enrol(client, study, **PROLIFIC)

        for parameters in ({}, PROLIFIC):
            again = client.get(url(study, "entry"), parameters)
            assert (again.status_code, again["Location"]) == (303, url(study, "judge"))

    def test_asks_another_person_on_the_same_browser_for_their_own_consent(self, client, study):
        enrol(client, study, **PROLIFIC)

        page = client.get(url(study, "entry"), PROLIFIC | {"PROLIFIC_PID": "p-18"})

        assert page.status_code == 200

    def test_preview_of_a_task_cannot_be_agreed_to(self, client, study):
        page = client.get(url(study, "entry"), {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE"})

        assert page.status_code == 200
        assert "<form" not in page.content.decode()
        assert "in its own window" in page.content.decode()

    def test_link_that_the_platform_did_not_fill_in_is_named_as_such(self, client, study):
        page = client.get(url(study, "entry"), {"PROLIFIC_PID": "{{%PROLIFIC_PID%}}"})

        assert page.status_code == 400
        assert "not complete" in page.content.decode()
        link = f"{url(study, 'entry')}?PROLIFIC_PID={{{{%PROLIFIC_PID%}}}}&STUDY_ID="
        assert link in html.unescape(page.content.decode())

    def test_copies_of_one_link_are_one_person(self, client, study):
        enrol(client, study, PROLIFIC_PID="abc")

        for copied in ("abc ", "abc\u200b"):
            page = client.get(url(study, "entry"), {"prolific_pid": copied})
            assert (page.status_code, page["Location"]) == (303, url(study, "judge"))

    def test_two_visitors_without_an_id_are_not_one_person(self, client, study):
        for visitor in (client, Client()):
            page = visitor.get(url(study, "entry"), {"PROLIFIC_PID": "undefined"})
            assert page.status_code == 400

    @pytest.mark.parametrize("state", ["PAUSED", "CLOSED"])
    def test_study_that_takes_nobody_says_so_kindly(self, client, state):
        page = client.get(url(open_study(state=state), "entry"))

        assert page.status_code == 409
        assert "<form" not in page.content.decode()

    def test_draft_takes_nobody(self, client):
        study = open_study(state="DRAFT", locked_at=None, protocol_hash="")

        assert client.get(url(study, "entry")).status_code == 409

    def test_unknown_study_is_not_found(self, client):
        assert client.get("/s/no-such-study/").status_code == 404


class TestConsent:
    def test_declining_stores_nothing(self, client, study):
        fields = consent_fields(client, study, **PROLIFIC)

        page = client.post(url(study, "consent"), fields | {"choice": "decline"})

        assert page.status_code == 200
        assert "nothing about you was stored" in page.content.decode()
        assert not page.cookies.get(http.COOKIE)
        assert not Rater.objects.exists()

    def test_agreeing_stores_the_rater_with_the_consent(self, client, study):
        rater = enrol(client, study, **PROLIFIC)

        assert (rater.platform, rater.external_id) == (Platform.PROLIFIC, "p-17")
        submission = rater.submissions.get()
        assert (submission.session_id, submission.ids) == ("x-1", {"STUDY_ID": "s-1"})
        assert Consent.objects.get().version == study.content["consent"]["version"]

    def test_agreeing_twice_makes_one_rater(self, client, study):
        fields = consent_fields(client, study, **PROLIFIC) | {"choice": "agree"}

        for _ in range(2):
            answer = client.post(url(study, "consent"), fields)
            assert (answer.status_code, answer["Location"]) == (303, url(study, "how"))

        assert Rater.objects.count() == 1

    def test_agreeing_twice_makes_one_guest(self, client, study):
        fields = consent_fields(client, study) | {"choice": "agree"}

        for _ in range(2):
            client.post(url(study, "consent"), fields)

        assert Rater.objects.count() == 1

    def test_credential_is_kept_for_this_study_and_from_scripts(self, client, study):
        enrol(client, study)

        credential = client.cookies[http.COOKIE]
        assert credential["path"] == url(study, "entry")
        assert credential["httponly"] is True
        assert credential["samesite"] == "Lax"
        assert not credential["secure"]

    def test_credential_goes_over_https_alone_once_it_came_by_https(self, client, study):
        fields = consent_fields(client, study) | {"choice": "agree"}

        client.post(url(study, "consent"), fields, secure=True)

        assert client.cookies[http.COOKIE]["secure"] is True

    @pytest.mark.parametrize(
        "changes",
        [{"entry": "forged"}, {"entry": ""}, {"choice": "perhaps"}],
        ids=["forged entry", "no entry", "unknown choice"],
    )
    def test_broken_form_leads_back_and_stores_nothing(self, client, study, changes):
        fields = consent_fields(client, study) | {"choice": "agree"}

        answer = client.post(url(study, "consent"), fields | changes)

        assert (answer.status_code, answer["Location"]) == (303, url(study, "entry"))
        assert not Rater.objects.exists()

    def test_entry_of_another_study_is_refused(self, client, study):
        other = open_study()
        fields = consent_fields(client, other, **PROLIFIC) | {"choice": "agree"}

        client.post(url(study, "consent"), fields)

        assert not Rater.objects.exists()

    def test_study_that_closed_meanwhile_says_so(self, client, study):
        fields = consent_fields(client, study) | {"choice": "agree"}
        study.state = "CLOSED"
        study.save()

        assert client.post(url(study, "consent"), fields).status_code == 409

    @pytest.mark.parametrize(
        ("reported", "stored"),
        [("-120", -120), ("840", 840), ("841", None), ("soon", None), ("", None)],
    )
    def test_time_zone_is_an_offset_or_nothing(self, client, study, reported, stored):
        fields = consent_fields(client, study) | {"utc_offset_minutes": reported}

        client.post(url(study, "consent"), fields | {"choice": "agree"})

        assert Rater.objects.get().utc_offset_minutes == stored


class TestCredential:
    def test_stranger_is_sent_to_the_entry(self, client, study):
        answer = client.get(url(study, "judge"))

        assert (answer.status_code, answer["Location"]) == (303, url(study, "entry"))

    def test_stranger_with_scripts_is_sent_there_as_a_whole_page(self, client, study):
        answer = client.get(url(study, "judge"), headers=HTMX)

        assert answer["HX-Redirect"] == url(study, "entry")

    @pytest.mark.parametrize(
        "forge",
        [
            lambda rater: f"{rater.code}-1",
            lambda rater: f"{rater.code}-1~{'x' * 43}",
            lambda rater: http.credential(rater, use="link"),
            lambda rater: Signer(sep="~", salt=f"heart.cookie.{rater.study.slug}").sign("R-1"),
        ],
        ids=["unsigned", "wrong signature", "signed for another use", "unknown rater"],
    )
    def test_forged_credential_lets_nobody_in(self, client, study, forge):
        rater = enrol(Client(), study)
        client.cookies[http.COOKIE] = forge(rater)

        assert client.get(url(study, "judge")).status_code == 303

    def test_credential_of_another_study_lets_nobody_in(self, client, study):
        enrol(client, open_study())

        assert client.get(url(study, "judge")).status_code == 303

    def test_renewed_link_makes_older_credentials_void(self, client, study):
        enrol(client, study)
        Rater.objects.update(link_version=2)

        assert client.get(url(study, "judge")).status_code == 303


class TestResume:
    def test_private_link_lets_a_guest_in_on_another_device(self, client, study):
        rater = enrol(client, study)
        client.get(url(study, "judge"))
        pause = client.get(url(study, "take_break"))
        link = http.credential(rater, use="link")
        assert f"http://testserver{url(study, 'resume', link)}" in pause.content.decode()

        phone = Client()
        answer = phone.get(url(study, "resume", link))

        assert (answer.status_code, answer["Location"]) == (303, url(study, "judge"))
        assert phone.get(url(study, "judge")).status_code == 200
        assert Lease.objects.count() == 1

    def test_private_link_is_a_way_back_for_people_of_a_platform_too(self, client, study):
        rater = enrol(client, study, **PROLIFIC)
        link = url(study, "resume", http.credential(rater, use="link"))

        assert link in client.get(url(study, "take_break")).content.decode()
        assert Client().get(link)["Location"] == url(study, "judge")

    def test_broken_link_opens_nothing(self, client, study):
        page = client.get(url(study, "resume", "R-1~abc"))

        assert page.status_code == 404
        assert "doesn’t work" in page.content.decode()


class TestHow:
    def test_shows_the_question_and_a_pair_to_try(self, client, study):
        enrol(client, study)

        page = client.get(url(study, "how")).content.decode()

        practice = study.content["practice"]
        assert study.content["question"] in page
        assert practice["message_a"] in page
        assert practice["worked_answer"] not in page

    @pytest.mark.parametrize("headers", [{}, HTMX], ids=["plain", "htmx"])
    def test_choice_reveals_the_worked_answer_and_stores_nothing(self, client, study, headers):
        enrol(client, study)

        page = client.post(url(study, "how"), {"verdict": "-2"}, headers=headers)

        assert page.status_code == 200
        assert study.content["practice"]["worked_answer"] in page.content.decode()
        assert url(study, "judge") in page.content.decode()
        assert not Lease.objects.exists()
        assert not Judgment.objects.exists()

    def test_no_choice_is_asked_for(self, client, study):
        enrol(client, study)

        page = client.post(url(study, "how"), {})

        assert page.status_code == 422
        assert "Choose one of the five answers." in page.content.decode()

    def test_rubric_study_practises_with_the_rubric(self, client):
        study = open_study("rubric")
        enrol(client, study)

        page = client.post(url(study, "how"), {"winner": "B", "strength": "3"})

        assert page.status_code == 200
        assert url(study, "rubric") in page.content.decode()
