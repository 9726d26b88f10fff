"""How a session ends: breaks and stops, codes, and the next submission of the same person."""

import json
import re

import pytest
from django.test import Client
from django.utils import timezone

from annotation.choices import RaterState, StudyState, SubmissionState
from annotation.models import Consent, Judgment, Lease, PlatformEvent, Rater, Study
from annotation.raters.visit_time import IMAGINED
from annotation.raters.webhooks import sign
from annotation.session import http
from tests.annotation.session.steps import CODES, PROLIFIC, code_on, judge, let_in, show_pair
from tests.helpers.factories import NOW, make_comparison, make_rater
from tests.helpers.factories_of_people import make_submission
from tests.helpers.factories_written_once import make_exclusion, make_member
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

SECRET = "a shared secret"
EVENT = {"event_type": "study.progress.change", "resource_id": "s-1"}
SECOND = PROLIFIC | {"SESSION_ID": "x-2"}
LENGTH = 4


class TestPauses:
    def test_help_is_open_to_everyone_and_leads_a_rater_back_to_the_pair(self, client, study):
        to_visitor = client.get(url(study, "help"))
        let_in(client, study)
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

    def test_whoever_the_platform_ended_before_the_first_answer_reads_of_none(self, client, study):
        rater = enrol(client, study, **PROLIFIC)
        client.post(url(study, "stop"))
        rater.submissions.update(state=SubmissionState.EXPIRED)

        page = client.get(url(study, "done")).content.decode()

        assert re.search(r"time limit ran out\.\s*</p>", page)

    def test_break_says_what_is_saved_and_keeps_the_pair(self, client, study, rater):
        judge(client, study)

        page = client.get(url(study, "take_break"))

        assert "1 answer is saved" in page.content.decode()
        assert Lease.objects.get(closed_at=None).paused_at is None

    def test_page_of_a_break_that_is_over_says_of_no_clock_that_it_stands(
        self, client, study, rater
    ):
        client.get(url(study, "judge"))
        client.post(url(study, "take_break"))
        during = client.get(url(study, "take_break")).content.decode()
        client.get(url(study, "judge"))

        back = client.get(url(study, "take_break"))

        assert ("timer is paused" in during, "timer is paused" in back.content.decode()) == (
            True,
            False,
        )
        assert url(study, "take_break") in [form.action for form in read_forms(back)]

    def test_stop_asks_once(self, client, study, rater):
        client.get(url(study, "stop"))

        rater.refresh_from_db()
        assert rater.state == RaterState.ACTIVE

    @pytest.mark.parametrize(
        ("came", "n_answers", "n_before", "said"),
        [
            ({}, 0, None, ["you will not get a code", "You can close this page"]),
            ({}, 1, None, ["you get the code for a part", "You stopped after 1 of 40"]),
            (PROLIFIC, 0, None, ["your code only tells", "The code below tells your platform so"]),
            (PROLIFIC, 1, None, ["you get the code for a part", "You stopped after 1 of 40"]),
            (PROLIFIC, 1, 0, ["you get the code for a part", "You stopped after 1 of 40"]),
            (PROLIFIC, 1, 1, ["of it was this time: if you", "of it was this time: the code"]),
        ],
    )
    def test_what_stop_announces_the_last_page_says(
        self, client, study, came, n_answers, n_before, said
    ):
        rater = enrol(client, study, **came)
        if n_before is not None:
            make_submission(rater=rater, number=2, session_id="x-2", n_before=n_before)
        judge(client, study, times=n_answers)

        page = client.get(url(study, "stop")).content.decode()
        last = client.post(url(study, "stop"), follow=True).content.decode()

        assert said[0] in page
        assert said[1] in last
        assert "You’re done" not in last
        assert ("Your code" in last) is bool(came or n_answers)
        assert came or "platform" not in re.search("<main.*</main>", last, re.DOTALL)[0]

    @pytest.mark.parametrize("state", [StudyState.PAUSED, StudyState.CLOSED])
    def test_stop_offers_a_break_to_come_back_from_unless_the_study_is_closed(
        self, client, study, rater, state
    ):
        judge(client, study)
        Study.objects.update(state=state)

        page = client.get(url(study, "stop"))

        offered = url(study, "take_break") in [form.action for form in read_forms(page)]
        assert offered is ("come back" in page.content.decode()) is (state == StudyState.PAUSED)


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
        let_in(client, study)
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

    @pytest.mark.parametrize("n_left_out", [1, 2, 3])
    def test_who_left_out_most_reads_that_it_is_a_part(self, client, study, rater, n_left_out):
        make_comparison(study=study)
        judge(client, study, times=3 - n_left_out)
        for _ in range(n_left_out):
            token = show_pair(client, study).token
            client.post(url(study, "skip", token), {"reason": "upsetting"})

        before = client.get(url(study, "judge")).content.decode()
        after = client.post(url(study, "finish"), follow=True).content.decode()

        is_part = n_left_out == 2
        assert ("left out more than half" in before) is is_part
        assert ("left out more than half" in after) is is_part
        assert ("Your completion code" in after) is (n_left_out == 1)
        assert ("before the first answer" in after) is (n_left_out == 3)

    def test_done_before_the_end_leads_back_to_the_pairs(self, client, study, rater):
        assert client.get(url(study, "done"))["Location"] == url(study, "judge")

    def test_stopped_rater_sees_one_last_page(self, client, study, rater, subtests):
        judge(client, study)
        client.post(url(study, "stop"))

        for name in ("judge", "last", "done"):
            with subtests.test(name):
                page = client.get(url(study, name), follow=True)
                assert "You stopped after 1 of 40." in page.content.decode()

    def test_excluded_rater_sees_one_last_page(self, client, study, rater, subtests):
        judge(client, study)
        make_exclusion(rater=rater)

        for name in ("judge", "last", "done", "stop", "take_break"):
            with subtests.test(name):
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

    def test_sends_a_guest_nowhere_and_has_no_code_for_them(self, client, paid_study):
        page = decline(client, paid_study)

        assert "platform.example" not in page.content.decode()
        assert code_on(page) is None


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

    @pytest.mark.parametrize(("came", "code"), [(PROLIFIC, "C-FULL"), ({}, None)])
    def test_enrolled_rater_without_a_pair_may_finish(self, client, paid_study, came, code):
        enrol(client, paid_study, **came)
        paid_study.comparisons.update(slots_left=0)
        page = client.get(url(paid_study, "judge"))
        assert "There is nothing for you at the moment." in page.content.decode()
        assert code_on(page) is None

        page = client.post(read_forms(page)[0].action, follow=True)

        assert code_on(page) == code
        assert url(paid_study, "judge") not in page.content.decode()


@pytest.mark.parametrize("state", ["PAUSED", "CLOSED"])
def test_who_is_sent_to_a_study_that_stopped_gets_a_code(client, paid_study, state):
    Study.objects.update(state=state)

    page = client.get(url(paid_study, "entry"), PROLIFIC)

    assert page.status_code == 409
    assert f"https://platform.example/?cc={code_on(page)}" in page.content.decode()


@pytest.mark.parametrize(
    ("state", "words"),
    [("PAUSED", "try the same link again later"), ("CLOSED", "No more answers are needed")],
)
def test_guest_of_a_study_that_stopped_is_told_so_and_what_to_do(client, state, words):
    study = open_study()
    Study.objects.update(state=state)

    page = client.get(url(study, "entry"))

    assert page.status_code == 409
    assert words in page.content.decode()


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


@pytest.fixture
def offered(settings):
    """An open study, offered on a platform: codes for its ends, and signed events."""
    settings.HEART_PROLIFIC_SECRET = SECRET
    content = study_content(crowd=study_content()["crowd"] | {"codes": CODES})
    return open_study(n_pairs=LENGTH + 2, content=content, session_length=LENGTH)


def arrive(client, study, link):
    return client.get(url(study, "entry"), link)


def send(study, content, *, secret=SECRET):
    """Post as the platform does: signed, with no cookie and no token of a form."""
    body = json.dumps(content).encode()
    timestamp = str(int(timezone.now().timestamp()))
    headers = {
        "X-Prolific-Request-Timestamp": timestamp,
        "X-Prolific-Request-Signature": sign(body, timestamp, secret=secret),
        "X-Event-ID": "e-1",
    }
    return Client(enforce_csrf_checks=True).post(
        f"/hooks/prolific/{study.slug}/", body, content_type="application/json", headers=headers
    )


def submissions(study):
    rows = study.raters.get().submissions.order_by("number")
    return list(rows.values_list("session_id", "state", "n_before", "code"))


class TestAfterAReturn:
    def test_a_new_submission_goes_on_with_what_is_left_and_earns_its_code(self, client, offered):
        enrol(client, offered, **PROLIFIC)
        judge(client, offered)
        returned = {"resource_id": "x-1", "participant_id": "p-17", "status": "RETURNED"}
        send(offered, {"event_type": "submission.status.change"} | returned)
        assert offered.raters.get().state == RaterState.STOPPED

        came = arrive(client, offered, SECOND)

        assert came["Location"] == url(offered, "judge")
        page = client.get(url(offered, "judge"))
        assert "Pair 2 of 4" in page.content.decode()
        assert code_on(page) is None
        assert submissions(offered) == [("x-1", "RETURNED", 0, ""), ("x-2", "ACTIVE", 1, "")]
        judge(client, offered, times=LENGTH - 1)
        assert code_on(client.get(url(offered, "judge"))) == "C-DONE"
        assert submissions(offered)[1] == ("x-2", "ACTIVE", 1, "C-DONE")

    def test_earns_no_completion_after_a_screening_that_was_not_passed(self, client, offered):
        enrol(client, offered, **PROLIFIC)
        offered.raters.update(state=RaterState.SCREENED, ended_at=timezone.now())
        assert code_on(client.get(url(offered, "done"))) == "C-OUT"

        arrive(client, offered, SECOND)

        assert code_on(client.get(url(offered, "done"))) == "C-NO"
        assert offered.raters.get().state == RaterState.SCREENED


class TestAssignments:
    def test_a_second_assignment_is_not_shown_the_end_of_the_first(self, client, offered):
        link = {"workerId": "w-1", "assignmentId": "a-1", "hitId": "h-1"}
        enrol(client, offered, **link)
        judge(client, offered)
        client.post(url(offered, "stop"))

        arrive(client, offered, link | {"assignmentId": "a-2"})

        assert "Pair 2 of 4" in client.get(url(offered, "judge")).content.decode()
        assert [row[0] for row in submissions(offered)] == ["a-1", "a-2"]

    def test_the_same_assignment_opens_none_nor_does_asking_for_the_head(self, client, offered):
        link = {"workerId": "w-1", "assignmentId": "a-1", "hitId": "h-1"}
        enrol(client, offered, **link)
        client.post(url(offered, "stop"))

        arrive(client, offered, link)
        client.head(url(offered, "entry"), link | {"assignmentId": "a-2"})

        assert offered.raters.get().state == RaterState.STOPPED
        assert len(submissions(offered)) == 1


def test_owners_read_how_each_submission_stands(client):
    rater = make_rater()
    for number, state in enumerate(("RETURNED", "ACTIVE"), start=1):
        make_submission(rater=rater, number=number, session_id=f"x-{number}", state=state)
    client.force_login(make_member())

    page = client.get(f"/console/people/{rater.code}/").content.decode()

    assert "Given back on the platform" in page
    assert "x-1" not in page
    assert "x-2" not in page


class TestTheAddressOfEvents:
    def test_takes_a_signed_event(self, offered):
        assert send(offered, EVENT).status_code == 204
        assert PlatformEvent.objects.get().kind == "study.progress.change"

    @pytest.mark.parametrize(
        ("content", "changes", "status"),
        [(EVENT, {"secret": "another"}, 403), ([], {}, 400)],
        ids=["bad signature", "no event"],
    )
    def test_refuses_what_is_no_event_that_was_just_signed(self, offered, content, changes, status):
        assert send(offered, content, **changes).status_code == status
        assert not PlatformEvent.objects.exists()

    def test_is_there_for_a_study_and_a_secret_alone(self, offered, settings):
        assert send(Study(slug="no-such-study"), EVENT).status_code == 404

        settings.HEART_PROLIFIC_SECRET = ""

        assert send(offered, EVENT).status_code == 404
