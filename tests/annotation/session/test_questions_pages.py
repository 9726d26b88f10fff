"""The questions on the instructions, as a rater meets them."""

import pytest

from annotation.choices import RaterStage, RaterState
from annotation.models import Lease, Rater
from tests.helpers.visits import HTMX, enrol, open_study, read_forms, study_content, url

pytestmark = pytest.mark.django_db

QUESTIONS = [
    {"text": "What do you compare?", "options": ["Two talks", "Two messages"], "answer": 2},
    {"text": "May you skip a pair?", "options": ["Yes", "No"], "answer": 1},
]
RIGHT = {"question_0": "1", "question_1": "0"}
WRONG = {"question_0": "0", "question_1": "0"}


@pytest.fixture
def study():
    return open_study(content=study_content(comprehension=QUESTIONS))


@pytest.fixture
def rater(client, study):
    return enrol(client, study, pid="77")


def send(client, study, fields):
    return client.post(url(study, "comprehension"), fields)


class TestQuestions:
    @pytest.mark.parametrize("name", ["judge", "last"])
    def test_come_before_the_first_pair(self, client, study, rater, name):
        answer = client.get(url(study, name))

        assert (answer.status_code, answer["Location"]) == (303, url(study, "comprehension"))
        assert not Lease.objects.exists()

    def test_come_before_it_for_htmx_too(self, client, study, rater):
        answer = client.get(url(study, "judge"), headers=HTMX)

        assert answer["HX-Redirect"] == url(study, "comprehension")

    def test_are_shown_with_the_instructions_and_without_the_answers(self, client, study, rater):
        page = client.get(url(study, "comprehension"))

        text = page.content.decode()
        assert page.status_code == 200
        assert study.content["instructions"][0] in text
        assert "checked" not in text
        assert read_forms(page)[0].choices == {"question_0": ["0", "1"], "question_1": ["0", "1"]}

    def test_lead_to_the_first_pair_when_answered_rightly(self, client, study, rater):
        answer = send(client, study, RIGHT)

        assert (answer.status_code, answer["Location"]) == (303, url(study, "judge"))
        assert client.get(url(study, "judge")).status_code == 200
        rater.refresh_from_db()
        assert rater.stage == RaterStage.JUDGING

    def test_ask_for_what_was_left_out_without_counting_a_try(self, client, study, rater):
        page = send(client, study, {"question_0": "1"})

        assert page.status_code == 422
        assert "Choose an answer." in page.content.decode()
        rater.refresh_from_db()
        assert rater.comprehension_tries == 0

    def test_name_the_wrong_one_and_give_a_second_try(self, client, study, rater):
        page = send(client, study, WRONG)

        text = page.content.decode()
        assert page.status_code == 422
        assert (
            text.count("Not quite. Please check this one again.") == 2
        )  # summary, and at the field
        assert "your last try" in text
        assert send(client, study, RIGHT)["Location"] == url(study, "judge")

    def test_end_the_session_kindly_after_the_second_failure(self, client, study, rater):
        send(client, study, WRONG)

        page = client.post(url(study, "comprehension"), WRONG, follow=True)

        text = page.content.decode()
        assert Rater.objects.get().state == RaterState.SCREENED
        assert "this task isn’t for everyone" in text
        assert "Your code for the platform" in text
        assert url(study, "judge") not in text

    def test_screened_out_rater_sees_one_last_page_everywhere(self, client, study, rater):
        send(client, study, WRONG)
        send(client, study, WRONG)

        for name in ("entry", "judge", "comprehension", "how", "take_break", "stop", "done"):
            page = client.get(url(study, name), follow=True)
            assert "The study ends here for you" in page.content.decode()

    def test_who_is_past_them_is_sent_on(self, client, study, rater):
        send(client, study, RIGHT)

        for answer in (client.get(url(study, "comprehension")), send(client, study, WRONG)):
            assert answer["Location"] == url(study, "judge")

    def test_work_by_plain_forms(self, client, study, rater):
        form = read_forms(client.get(url(study, "comprehension")))[0]

        assert form.action == url(study, "comprehension")
        assert client.post(form.action, form.fields | RIGHT).status_code == 303


def test_a_study_without_questions_goes_straight_to_the_pairs(client):
    study = open_study()
    enrol(client, study)

    assert client.get(url(study, "judge")).status_code == 200
    assert client.get(url(study, "comprehension"))["Location"] == url(study, "judge")
