"""What comes beside answers: questions before them, breaks, skips, reports, sources, withdrawal."""

import pytest
from django.test import Client

from annotation.choices import RaterState, ReportKind, Source
from annotation.models import Comparison, Judgment, Lease, Rater, Report, SourceGuess
from annotation.session.forms import SKIP_REASONS
from completions.choices import LeaseOutcome
from tests.annotation.session.steps import PROLIFIC, code_on, judge, let_in, show_pair
from tests.helpers.factories import NOW, make_comparison, make_completion
from tests.helpers.factories_written_once import make_exclusion
from tests.helpers.visits import HTMX, enrol, open_study, read_forms, study_content, url

pytestmark = pytest.mark.django_db

QUESTIONS = [
    {"text": "What do you compare?", "options": ["Two talks", "Two messages"], "answer": 2},
    {"text": "May you skip a pair?", "options": ["Yes", "No"], "answer": 1},
]
RIGHT = {"question_0": "1", "question_1": "0"}
WRONG = {"question_0": "0", "question_1": "0"}


class TestQuestions:
    @pytest.fixture
    def study(self):
        return open_study(content=study_content(comprehension=QUESTIONS))

    @pytest.fixture
    def rater(self, client, study):
        return enrol(client, study, pid="77")

    def send(self, client, study, fields):
        return client.post(url(study, "comprehension"), fields)

    def test_come_before_the_first_pair(self, client, study, rater):
        for name in ("judge", "last"):
            answer = client.get(url(study, name))
            assert (answer.status_code, answer["Location"]) == (303, url(study, "comprehension"))
        by_htmx = client.get(url(study, "judge"), headers=HTMX)

        assert by_htmx["HX-Redirect"] == url(study, "comprehension")
        assert not Lease.objects.exists()

    def test_are_shown_with_the_instructions_and_without_the_answers(self, client, study, rater):
        page = client.get(url(study, "comprehension"))

        text = page.content.decode()
        assert page.status_code == 200
        assert study.content["instructions"][0] in text
        assert "checked" not in text
        form = read_forms(page)[0]
        assert form.action == url(study, "comprehension")
        assert form.choices == {"question_0": ["0", "1"], "question_1": ["0", "1"]}

    def test_lead_to_the_first_pair_when_answered_rightly_and_do_not_come_again(
        self, client, study, rater
    ):
        answers = [
            self.send(client, study, RIGHT),
            client.get(url(study, "comprehension")),
            self.send(client, study, WRONG),
        ]

        assert {answer["Location"] for answer in answers} == {url(study, "judge")}
        assert client.get(url(study, "judge")).status_code == 200

    def test_name_the_wrong_one_and_give_a_second_try(self, client, study, rater):
        page = self.send(client, study, WRONG)

        text = page.content.decode()
        assert page.status_code == 422
        # In the summary, and at the field.
        assert text.count("Not quite. Please check this one again.") == 2
        assert "your last try" in text
        assert self.send(client, study, RIGHT)["Location"] == url(study, "judge")

    @pytest.mark.parametrize("again", [WRONG, RIGHT], ids=["as it was", "otherwise"])
    def test_of_a_page_that_was_sent_before_are_no_second_try(self, client, study, rater, again):
        pages = [client.get(url(study, "comprehension"))]
        pages.append(self.send(client, study, WRONG | {"tries": "0"}))

        sent = client.post(url(study, "comprehension"), again | {"tries": "0"}, follow=True)

        assert Rater.objects.get().comprehension_tries == 1
        assert "your last try" in sent.content.decode()
        assert "Not quite" not in sent.content.decode()
        known = [read_forms(page)[0].fields["tries"] for page in [*pages, sent]]
        assert known == ["0", "1", "1"]
        passed = self.send(client, study, RIGHT | {"tries": "1"})
        assert passed["Location"] == url(study, "judge")

    def test_end_the_session_kindly_after_the_second_failure(self, client, study, rater):
        self.send(client, study, WRONG)

        page = client.post(url(study, "comprehension"), WRONG, follow=True)

        text = page.content.decode()
        assert Rater.objects.get().state == RaterState.SCREENED
        assert "this task isn’t for everyone" in text
        assert "Your code" in text
        assert url(study, "judge") not in text
        for name in ("entry", "judge", "comprehension", "how", "take_break", "stop", "done"):
            page = client.get(url(study, name), follow=True)
            assert "The study ends here for you" in page.content.decode()

    def test_are_passed_over_by_a_study_that_has_none(self, client):
        study = open_study()
        let_in(client, study)

        assert client.get(url(study, "comprehension"))["Location"] == url(study, "judge")


class TestBreak:
    def test_begins_by_the_button_on_the_page_of_a_pair_and_stops_the_clock(
        self, client, study, rater
    ):
        page = client.get(url(study, "judge"))

        assert url(study, "take_break") in [form.action for form in read_forms(page)]
        answer = client.post(url(study, "take_break"))

        assert (answer.status_code, answer["Location"]) == (303, url(study, "take_break"))
        assert client.get(answer["Location"]).status_code == 200
        assert Lease.objects.get().paused_at is not None

    def test_is_suggested_after_every_so_many_pairs(self, client):
        study = open_study(content=study_content(break_every=2), n_pairs=4)
        let_in(client, study)
        suggested = []
        for _ in range(4):
            page = client.get(url(study, "judge")).content.decode()
            suggested.append("Time for a break?" in page)
            judge(client, study)

        assert suggested == [False, False, True, False]


class TestGuess:
    """The question on who wrote some of the messages."""

    @pytest.fixture
    def study(self):
        return open_study(content=study_content(source_guesses=2), n_pairs=3, session_length=2)

    @pytest.fixture
    def finished(self, client, study, rater):
        judge(client, study, times=2)
        return rater

    def test_comes_once_the_session_is_finished(self, client, study, finished):
        page, fragment = (client.get(url(study, "judge"), headers=way) for way in ({}, HTMX))

        assert (page.status_code, page["Location"]) == (303, url(study, "guess"))
        assert fragment["HX-Redirect"] == url(study, "judge")

    def test_shows_messages_that_were_judged_and_gives_no_answer_away(
        self, client, study, finished
    ):
        page = client.get(url(study, "guess"))

        form = read_forms(page)[0]
        text = page.content.decode()
        assert page.status_code == 200
        assert text.count('class="card message"') == 2
        assert form.choices == {f"guess_{n}": ["PERSON", "PROGRAM", "UNSURE"] for n in range(2)}
        assert "checked" not in text
        assert not [name for name in form.fields if name != "csrfmiddlewaretoken"]

    @pytest.mark.parametrize(
        ("fields", "kept"),
        [
            ({"guess_0": "PERSON"}, [Source.PERSON]),
            ({"skip": "1", "guess_0": "PERSON"}, []),
            ({}, []),
            ({"guess_0": "A CAT", "guess_9": "PERSON"}, []),
        ],
        ids=["a guess", "skipped", "nothing", "made up"],
    )
    def test_keeps_the_guesses_leads_to_the_code_and_is_not_asked_again(
        self, client, study, finished, fields, kept
    ):
        page = client.post(url(study, "guess"), fields, follow=True)

        assert code_on(page)
        assert [one.guess for one in SourceGuess.objects.filter(rater=finished)] == kept
        for name in ("judge", "entry"):
            page = client.get(url(study, name), follow=True)
            assert page.request["PATH_INFO"] in {url(study, "judge"), url(study, "done")}
            assert code_on(page)

    def test_is_put_to_nobody_who_has_not_finished_or_is_blocked(self, client, study, rater):
        judge(client, study)
        assert client.get(url(study, "guess"))["Location"] == url(study, "done")

        Rater.objects.filter(pk=rater.pk).update(state=RaterState.FINISHED, ended_at=NOW)
        make_exclusion(rater=rater)
        page = client.get(url(study, "judge"))
        assert "You’re done:" in page.content.decode()

    def test_a_study_may_ask_nothing(self, client):
        study = open_study(n_pairs=2, session_length=1)
        let_in(client, study)
        judge(client, study)

        assert code_on(client.get(url(study, "judge")))
        assert client.get(url(study, "guess"))["Location"] == url(study, "done")


class TestWithdraw:
    @pytest.fixture
    def rater(self, client, study):
        rater = let_in(client, study)
        judge(client, study)
        return rater

    def send(self, client, study, answers):
        page = client.post(url(study, "withdraw"), {"answers": answers}, follow=True)
        return page.content.decode()

    def test_asks_once_what_is_to_become_of_the_answers(self, client, study, rater):
        page = client.get(url(study, "withdraw"))

        assert "your 1 answer is removed from all future results" in page.content.decode()
        assert read_forms(page)[0].buttons == [("answers", "keep"), ("answers", "delete")]
        fragment = client.get(url(study, "withdraw"), headers=HTMX)
        assert b"<!doctype" not in fragment.content
        rater.refresh_from_db()
        assert rater.state == RaterState.ACTIVE

    def test_deleting_removes_the_reasons_and_says_so(self, client, study, rater):
        page = self.send(client, study, "delete")

        rater.refresh_from_db()
        assert (rater.state, rater.data_kept) == (RaterState.WITHDRAWN, False)
        assert Judgment.objects.get().rationale == ""
        assert "You have withdrawn. Your reasons are deleted" in page
        assert "completion-code" in page  # leaving has no drawback
        assert url(study, "withdraw") not in page
        for name in ("judge", "how", "last", "stop", "withdraw", "take_break"):
            assert client.get(url(study, name), follow=True).status_code == 200

    def test_keeping_leaves_the_answers_until_they_are_deleted_after_all(
        self, client, study, rater
    ):
        page = self.send(client, study, "keep")

        rater.refresh_from_db()
        assert (rater.state, rater.data_kept) == (RaterState.WITHDRAWN, True)
        assert Judgment.objects.get().rationale
        assert "Nothing links you to your answers any more" in page
        again = client.get(url(study, "withdraw"))
        assert read_forms(again)[0].buttons == [("answers", "delete")]
        self.send(client, study, "delete")
        rater.refresh_from_db()
        assert not rater.data_kept

    def test_leads_back_to_the_last_page_and_nobody_in_anew(self, client, study):
        enrol(client, study, **PROLIFIC)
        self.send(client, study, "keep")

        here = client.get(url(study, "entry"), PROLIFIC)
        elsewhere = Client().get(url(study, "entry"), PROLIFIC)

        assert here["Location"] == url(study, "done")
        assert elsewhere.status_code == 409

    def test_is_offered_before_and_after_the_end(self, client, study, rater):
        before = client.get(url(study, "stop"))
        client.post(url(study, "stop"))
        after = client.get(url(study, "done"))
        self.send(client, study, "delete")

        for page in (before, after):
            assert url(study, "withdraw") in page.content.decode()
        rater.refresh_from_db()
        assert rater.state == RaterState.WITHDRAWN


def report(client, study, token, **fields):
    return client.post(url(study, "report", token), fields)


class TestReport:
    @pytest.mark.parametrize("kind", ["preference", "rubric", "likert"])
    def test_has_room_for_words_on_the_judging_page(self, client, kind, study, lease):
        forms = read_forms(client.get(url(study, "judge")))

        [menu] = [form for form in forms if form.action == url(study, "report", lease.token)]
        assert "text" in menu.fields

    @pytest.mark.parametrize("words", ["", "It names my street."], ids=["no words", "words"])
    def test_is_stored_and_answered_with_thanks(self, client, study, lease, words):
        answer = report(client, study, lease.token, text=words)

        assert answer.status_code == 200
        page = answer.content.decode()
        assert "Thank you for telling us" in page
        assert f'href="{url(study, "judge")}"' in page
        assert [form.action for form in read_forms(answer)] == [url(study, "take_break")]
        stored = Report.objects.get()
        assert (stored.kind, stored.text) == (ReportKind.CONTENT, words)
        assert not Judgment.objects.exists()
        assert client.get(url(study, "judge")).status_code == 200

    def test_takes_earlier_pairs_of_the_conversation_away_as_well(self, client):
        study = open_study(n_pairs=1)
        one = Comparison.objects.get()
        make_comparison(study=study, first=one.first, second=make_completion(context=one.context))
        let_in(client, study)
        judge(client, study)
        report(client, study, show_pair(client, study).token)

        page = client.get(url(study, "last"), follow=True)

        assert Report.objects.exists()
        assert one.context.turns[0]["text"] not in page.content.decode()

    def test_sent_twice_is_stored_once_and_htmx_gets_a_heading_to_focus(self, client, study, lease):
        report(client, study, lease.token)

        again = client.post(url(study, "report", lease.token), {}, headers=HTMX)

        assert again.status_code == 200
        assert "<!doctype html>" not in again.content.decode()
        assert '<h1 id="stage-title" tabindex="-1">' in again.content.decode()
        assert Report.objects.count() == 1


class TestSkip:
    def test_offers_every_reason_that_is_taken(self, client, study, lease):
        forms = read_forms(client.get(url(study, "judge")))

        [menu] = [form for form in forms if form.action == url(study, "skip", lease.token)]
        assert menu.buttons == [("reason", reason) for reason, _words in SKIP_REASONS]

    @pytest.mark.parametrize(("headers", "status"), [({}, 303), (HTMX, 200)], ids=["plain", "htmx"])
    def test_leads_to_another_pair(self, client, study, lease, headers, status):
        skip = url(study, "skip", lease.token)

        answer = client.post(skip, {"reason": "unclear"}, headers=headers)

        assert answer.status_code == status
        lease.refresh_from_db()
        assert (lease.outcome, lease.skip_reason) == (LeaseOutcome.SKIPPED, "unclear")
        assert show_pair(client, study).number == 2
        assert not Judgment.objects.exists()

    @pytest.mark.parametrize("headers", [{}, HTMX], ids=["plain", "htmx"])
    def test_what_upsets_is_reported_and_offers_help(self, client, study, lease, headers):
        reason = {"reason": "upsetting"}
        page = client.post(url(study, "skip", lease.token), reason, headers=headers)

        text = page.content.decode()
        assert page.status_code == 200
        assert "You won’t see this conversation again" in text
        assert study.content["help_lines"][0]["name"] in text
        assert [form.action for form in read_forms(page)] == [url(study, "take_break")]
        assert 'form="' not in text
        lease.refresh_from_db()
        assert (lease.outcome, lease.skip_reason) == (LeaseOutcome.SKIPPED, "upsetting")
        assert Report.objects.get().kind == ReportKind.UPSET
