"""Coming in: the entry link, what stands on the consent page, practice, the way back."""

import html

import pytest
from django.core.signing import Signer
from django.test import Client

from annotation.choices import RaterState
from annotation.models import Judgment, Lease, Rater
from annotation.session import http
from completions.choices import WriterState
from tests.annotation.session.steps import PROLIFIC
from tests.completions.writers.desk import sign_in
from tests.helpers.factories import make_writer
from tests.helpers.visits import HTMX, consent_fields, enrol, open_study, study_content, url

pytestmark = pytest.mark.django_db


class TestEntry:
    def test_shows_the_consent_and_stores_nothing(self, client, study):
        page = client.get(url(study, "entry"), PROLIFIC)

        text = page.content.decode()
        assert page.status_code == 200
        assert study.content["consent"]["content_note"] in text
        agree = '<button class="button equal" name="choice" value="agree">'
        assert agree in text
        assert agree.replace("agree", "decline") in text  # declining is as easy
        assert not page.cookies.get(http.COOKIE)
        assert not Rater.objects.exists()

    def test_draft_takes_nobody(self, client):
        study = open_study(state="DRAFT", locked_at=None, protocol_hash="")

        assert client.get(url(study, "entry")).status_code == 409

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


class TestConsent:
    @pytest.mark.parametrize("parameters", [PROLIFIC, {}], ids=["of a platform", "a guest"])
    @pytest.mark.parametrize("is_kept", [True, False], ids=["with a cookie", "without"])
    def test_agreeing_twice_makes_one_rater(self, client, study, parameters, is_kept):
        fields = consent_fields(client, study, **parameters) | {"choice": "agree"}

        for _ in range(2):
            answer = client.post(url(study, "consent"), fields)
            assert (answer.status_code, answer["Location"]) == (303, url(study, "how"))
            if not is_kept:
                client.cookies.clear()

        assert Rater.objects.count() == 1

    @pytest.mark.parametrize("parameters", [PROLIFIC, {}], ids=["of a platform", "a guest"])
    @pytest.mark.parametrize(("choice", "page"), [("agree", "how"), ("decline", "withdraw")])
    def test_the_form_of_a_second_tab_is_of_the_rater_that_they_are(
        self, client, study, parameters, choice, page
    ):
        first, second = (consent_fields(client, study, **parameters) for _ in range(2))
        client.post(url(study, "consent"), first | {"choice": "agree"})

        answer = client.post(url(study, "consent"), second | {"choice": choice})

        assert (answer.status_code, answer["Location"]) == (303, url(study, page))
        assert Rater.objects.get().state == RaterState.ACTIVE

    def test_credential_is_kept_on_an_open_line_as_well(self, client, study):
        enrol(client, study)

        assert not client.cookies[http.COOKIE]["secure"]

    @pytest.mark.parametrize(
        "changes",
        [
            {"entry": "forged"},
            {"entry": "x~y"},
            {"entry": "\0"},
            {"entry": "a" * 1_000_000},
            {"entry": ""},
            {"choice": "perhaps"},
        ],
        ids=["forged", "forged with a sign", "nul", "endless", "no entry", "unknown choice"],
    )
    def test_broken_form_leads_back_and_stores_nothing(self, client, study, changes):
        fields = consent_fields(client, study) | {"choice": "agree"}

        answer = client.post(url(study, "consent"), fields | changes)

        assert (answer.status_code, answer["Location"]) == (303, url(study, "entry"))
        assert not Rater.objects.exists()

    def test_entry_of_another_study_is_refused(self, client, study):
        fields = consent_fields(client, open_study(), **PROLIFIC) | {"choice": "agree"}

        client.post(url(study, "consent"), fields)

        assert not Rater.objects.exists()

    def test_time_zone_is_kept(self, client, study):
        fields = consent_fields(client, study) | {"utc_offset_minutes": "-120"}

        client.post(url(study, "consent"), fields | {"choice": "agree"})

        assert Rater.objects.get().utc_offset_minutes == -120


class TestCredential:
    def test_stranger_is_sent_to_the_entry_as_a_whole_page(self, client, study):
        by_htmx = client.get(url(study, "judge"), headers=HTMX)

        assert by_htmx["HX-Redirect"] == url(study, "entry")
        assert client.post(url(study, "withdraw"))["Location"] == url(study, "entry")

    @pytest.mark.parametrize(
        "forge",
        [
            lambda rater: f"{rater.code}-1",
            lambda rater: f"{rater.code}-1~{'x' * 43}",
            lambda rater: http.credential(rater, use="link"),
            lambda rater: Signer(sep="~", salt=f"heart.cookie.{rater.study.slug}").sign("R-1"),
            lambda _rater: "",
            lambda _rater: "\u00e9" * 500,
        ],
        ids=[
            *("unsigned", "wrong signature", "signed for another use", "unknown rater"),
            *("empty", "no credential"),
        ],
    )
    def test_forged_credential_lets_nobody_in(self, client, study, forge):
        rater = enrol(Client(), study)
        client.cookies[http.COOKIE] = forge(rater)

        answer = client.get(url(study, "judge"))

        assert (answer.status_code, answer["Location"]) == (303, url(study, "entry"))

    def test_credential_is_void_in_another_study_and_after_the_link_was_renewed(
        self, client, study
    ):
        enrol(client, study)
        value = client.cookies[http.COOKIE].value
        elsewhere = Client()
        elsewhere.cookies[http.COOKIE] = value
        assert elsewhere.get(url(open_study(), "judge")).status_code == 303

        Rater.objects.update(link_version=2)

        assert client.get(url(study, "judge")).status_code == 303


class TestResume:
    @pytest.mark.parametrize("parameters", [{}, PROLIFIC], ids=["a guest", "of a platform"])
    def test_private_link_lets_a_rater_in_on_another_device(self, client, study, parameters):
        rater = enrol(client, study, **parameters)
        client.get(url(study, "judge"))
        pause = client.get(url(study, "take_break"))
        link = http.credential(rater, use="link")
        assert f"http://testserver{url(study, 'resume', link)}" in pause.content.decode()

        phone = Client()
        answer = phone.get(url(study, "resume", link))

        assert (answer.status_code, answer["Location"]) == (303, url(study, "judge"))
        assert phone.get(url(study, "entry"), parameters)["Location"] == url(study, "judge")
        assert phone.get(url(study, "judge")).status_code == 200
        assert Lease.objects.count() == 1


class TestHow:
    def test_shows_the_question_and_a_pair_to_try_and_asks_for_a_choice(self, client, study):
        enrol(client, study)

        page = client.get(url(study, "how")).content.decode()
        without_choice = client.post(url(study, "how"), {})

        practice = study.content["practice"]
        assert study.content["question"] in page
        assert practice["message_a"] in page
        assert practice["worked_answer"] not in page
        assert without_choice.status_code == 422
        assert "Choose one of the five answers." in without_choice.content.decode()

    @pytest.mark.parametrize("headers", [{}, HTMX], ids=["plain", "htmx"])
    def test_choice_reveals_the_worked_answer_and_stores_nothing(self, client, study, headers):
        enrol(client, study)

        page = client.post(url(study, "how"), {"verdict": "-2"}, headers=headers)

        assert page.status_code == 200
        assert study.content["practice"]["worked_answer"] in page.content.decode()
        assert url(study, "judge") in page.content.decode()
        assert not Lease.objects.exists()
        assert not Judgment.objects.exists()

    def test_rubric_study_practises_with_the_rubric(self, client):
        study = open_study("rubric")
        enrol(client, study)

        page = client.post(url(study, "how"), {"winner": "B", "strength": "3"})

        assert page.status_code == 200
        assert url(study, "rubric") in page.content.decode()


class TestWords:
    def test_of_facts_instructions_and_debrief_are_markdown_below_the_headings_of_the_page(
        self, client
    ):
        facts = [{"name": "Terms", "text": "Read **this**.\n\n- <b onclick=x>no</b>"}]
        consent = study_content()["consent"] | {"facts": facts}
        debrief, instructions = "# Why\n\nTo *learn*.", ["Take **time**."]
        content = study_content(consent=consent, debrief=debrief, instructions=instructions)
        study = open_study(content=content)

        entry = client.get(url(study, "entry")).content.decode()
        enrol(client, study)
        how = client.get(url(study, "how")).content.decode()
        done = client.post(url(study, "stop"), follow=True).content.decode()

        assert "<strong>this</strong>" in entry
        assert "<b " not in entry
        assert "<strong>time</strong>" in how
        assert "<h3>Why</h3>" in done
        assert "<em>learn</em>" in done

    @pytest.mark.parametrize("pay", ["", "6 pounds for 40 minutes"])
    def test_pay_is_named_where_the_study_pays(self, client, pay):
        content = study_content()
        study = open_study(content=content | {"crowd": content["crowd"] | {"pay": pay}})

        page = client.get(url(study, "entry")).content.decode()

        assert (f"Pay: {pay}" if pay else "Taking part is unpaid.") in page

    def test_numbers_are_those_of_the_study(self, client):
        content = study_content()
        study = open_study(
            session_length=17, content=content | {"screening": {"pairs": 3, "min_passed": 2}}
        )

        page = client.get(url(study, "entry"), {"pid": "7"}).content.decode()

        assert "Up to 17 pairs, about 17 minutes." in page
        assert "Pay: as shown on the platform that sent you." in page
        assert "The first 3 show whether the task suits you." in page


class TestWriterWhoAlsoRates:
    @pytest.mark.parametrize("is_writer_first", [True, False])
    def test_is_linked_at_once_or_when_they_begin_to_write_later(
        self, client, study, is_writer_first
    ):
        writer = make_writer(dataset=study.dataset)
        if is_writer_first:
            sign_in(client, writer)
        rater = enrol(client, study)
        assert rater.writer == (writer if is_writer_first else None)
        sign_in(client, writer)

        client.get(url(study, "judge"))

        rater.refresh_from_db()
        assert rater.writer == writer

    @pytest.mark.parametrize("case", ["other dataset", "withdrawn", "forged"])
    def test_nobody_else_is_linked(self, client, study, case):
        fields = {"dataset": study.dataset} if case == "withdrawn" else {}
        state = WriterState.WITHDRAWN if case == "withdrawn" else WriterState.ACTIVE
        writer = make_writer(state=state, **fields)
        sign_in(client, writer)
        if case == "forged":
            client.cookies["heart_writer"] = f"{writer.code}-1~nonsense"

        assert enrol(client, study).writer is None
