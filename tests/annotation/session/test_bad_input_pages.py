"""Whatever is sent, a rater gets a clear and kind page: a 4xx where due, never a 500."""

import re
import uuid

import pytest
from django.test import Client

from annotation.choices import StudyState
from annotation.models import Comparison, Judgment, Lease, Rater, Report, Study
from annotation.session import blinded
from tests.annotation.session.steps import let_in
from tests.helpers.visits import ANSWERS, HTMX, consent_fields, open_study, study_content, url

pytestmark = pytest.mark.django_db

SENT_AS = pytest.mark.parametrize("headers", [{}, HTMX], ids=["page", "fragment"])
MEGABYTE = "a" * 1_000_000
URL_ENCODED = "application/x-www-form-urlencoded"
REASONS = {"reason": "unclear", "kind": "UPSET"}
ANSWER = ANSWERS["preference"]


def assert_kind(answer, status, *words):
    """See that the answer is a page for people, that its heading is one, and what it says."""
    body = answer.content.decode()
    assert answer.status_code == status
    assert re.search(r"<h1\b[^>]*>\s*(<span[^>]*>)?\s*\S", body), body[:400]
    assert [word for word in words if word not in body] == []
    assert not [word for word in ("Traceback", "Error", "Exception") if word in body]
    is_fragment = answer.request.get("HTTP_HX_REQUEST") == "true"
    assert body.lstrip().startswith("<!doctype html>") != is_fragment


@pytest.fixture(scope="module")
def stored(module_rows):
    """Keys of a study, and of a rater in it with a pair to judge, and the rater's cookies."""
    study, client = open_study(n_pairs=4), Client()
    rater = let_in(client, study)
    client.get(url(study, "judge"))
    return study.pk, rater.pk, {name: one.value for name, one in client.cookies.items()}


@pytest.fixture
def study(stored):
    return Study.objects.get(pk=stored[0])


@pytest.fixture
def rater(client, stored):
    client.cookies.load(stored[2])
    return Rater.objects.get(pk=stored[1])


@pytest.fixture
def lease(rater):
    return Lease.objects.get(closed_at=None, rater=rater)


class TestToken:
    @pytest.mark.parametrize("name", ["submit", "skip", "report"])
    def test_of_nobody_or_somebody_else_does_nothing(self, client, study, rater, name):
        other = Client()
        somebody = let_in(other, study)
        other.get(url(study, "judge"))
        theirs = Lease.objects.get(closed_at=None, rater=somebody)

        for token in (theirs.token, uuid.uuid4()):
            for fields in (ANSWER | REASONS, {}):
                answer = client.post(url(study, name, token), fields)
                assert_kind(answer, 404, "belongs to someone else", "earlier ones are")

        theirs.refresh_from_db()
        assert theirs.closed_at is None
        assert not Judgment.objects.exists()
        assert not Report.objects.exists()

    def test_of_another_study_comes_from_nobody_there(self, client, lease):
        other = open_study()

        answer = client.post(url(other, "submit", lease.token), ANSWER)

        assert_kind(answer, 403, "doesn’t recognise you")
        assert not Judgment.objects.exists()


class TestAnswer:
    @SENT_AS
    def test_of_a_megabyte_comes_back_whole(self, client, study, lease, headers):
        typed = ANSWER | {"rationale": MEGABYTE}

        answer = client.post(url(study, "submit", lease.token), typed, headers=headers)

        said = ("Not sent yet", "What you wrote is still here.", "at most 4000 characters")
        assert_kind(answer, 422, *said, MEGABYTE)
        assert not Judgment.objects.exists()

    @pytest.mark.parametrize(
        ("text", "status"),
        [("a null\0byte in it", 303), ("\0", 422), ("\ud800 half of a sign", 303)],
        ids=["nul", "only", "half"],
    )
    def test_with_bytes_that_are_no_text_is_kept_if_words_are_left(
        self, client, study, lease, text, status
    ):
        fields = "&".join(f"{name}={value}" for name, value in ANSWER.items())
        raw = f"{fields}&rationale=".encode() + text.encode("utf-8", "surrogatepass")

        answer = client.post(url(study, "submit", lease.token), raw, content_type=URL_ENCODED)

        assert answer.status_code == status
        assert Judgment.objects.exists() is (status == 303)


class TestBody:
    @pytest.mark.parametrize(
        ("body", "content_type"),
        [
            (b"rationale=" + b"a" * 9_000_000, URL_ENCODED),
            (b"x=1&" * 2_000, URL_ENCODED),
            (b"--x\r\nbroken", "multipart/form-data"),
        ],
        ids=["too long", "too many fields", "broken parts"],
    )
    def test_that_cannot_be_taken_in_is_told_kindly_and_beside_the_pair_where_it_stays(
        self, client, study, lease, body, content_type
    ):
        address = url(study, "submit", lease.token)

        page = client.post(address, body, content_type=content_type)
        note = client.post(address, body, content_type=content_type, headers=HTMX)

        assert page.status_code == (413 if len(body) > 8_000_000 else 400)
        assert "your page is still there" in page.content.decode()
        assert (note.status_code, note["HX-Retarget"]) == (422, "#trouble")
        assert "Shorten it, and send it again." in note.content.decode()
        assert not Judgment.objects.exists()


class TestStudy:
    @SENT_AS
    @pytest.mark.parametrize("state", [StudyState.PAUSED, StudyState.CLOSED])
    def test_that_stopped_keeps_the_answer_and_says_so(self, client, study, lease, state, headers):
        Study.objects.update(state=state)

        sent = client.post(url(study, "submit", lease.token), ANSWER, headers=headers)
        page = client.get(url(study, "judge"), headers=headers)

        assert sent.status_code == (200 if headers else 303)
        assert Judgment.objects.get().lease == lease
        assert_kind(page, 409, "Any answers you sent are saved.", "Finish here")
        assert url(study, "stop") in page.content.decode()

    @SENT_AS
    def test_that_is_closed_changes_no_answer_and_gives_the_new_one_back(
        self, client, study, lease, headers
    ):
        client.post(url(study, "submit", lease.token), ANSWER)
        Study.objects.update(state=StudyState.CLOSED)
        changed = ANSWER | {"verdict": "-2", "rationale": "It was the other one, I see now."}

        sent = client.post(url(study, "submit", lease.token), changed, headers=headers)

        assert_kind(sent, 409, "This study is closed", changed["rationale"])
        assert "Your change is not saved" in sent.content.decode()
        assert "Any answers you sent are saved" not in sent.content.decode()
        assert Judgment.objects.get().rationale == ANSWER["rationale"]
        assert client.get(url(study, "last"))["Location"] == url(study, "judge")

    @pytest.mark.parametrize("state", ["DRAFT", "LOCKED", "PAUSED", "CLOSED"])
    def test_that_is_not_open_lets_nobody_in(self, client, state):
        study = open_study()
        consent = consent_fields(client, study) | {"choice": "agree"}
        Study.objects.update(state=state)

        visited = client.get(url(study, "entry"))
        assert_kind(visited, 409, "This study")
        assert "<form" not in visited.content.decode()
        agreed = client.post(url(study, "consent"), consent)
        assert_kind(agreed, 409, "This study")
        assert not study.raters.exists()

    @pytest.mark.parametrize("name", ["entry", "help", "rubric", "how", "done", "submit"])
    def test_that_is_a_draft_tells_nothing_of_itself(self, client, name):
        study = open_study("rubric", title="A title that nobody is to know yet")
        Study.objects.update(state="DRAFT", protocol_hash="", locked_at=None)
        blinded.forget_pages()
        token = [uuid.uuid4()] if name == "submit" else []
        send = client.post if token else client.get

        answer = send(url(study, name, *token), follow=True)

        assert study.title not in answer.content.decode()
        assert study.content["rubric"]["dimensions"][0]["asks"] not in answer.content.decode()

    def test_without_anything_left_leads_htmx_to_the_page_that_says_so(self, client):
        study = open_study()
        let_in(client, study)
        Comparison.objects.update(slots_left=0)

        answer = client.get(url(study, "judge"), headers=HTMX)

        assert answer["HX-Redirect"] == url(study, "judge")


@pytest.mark.parametrize("link", ["x", "%00", "R-1~x", "a" * 3_000, "%F0%9F%98%80"], ids=len)
def test_a_broken_private_link_says_what_to_do(client, study, link):
    answer = client.get(url(study, "entry") + f"resume/{link}/")

    assert_kind(answer, 404, "copy the whole link again")


class TestOtherForms:
    @pytest.mark.parametrize("reason", ["", "because", MEGABYTE], ids=["none", "none such", "long"])
    def test_skipping_without_a_known_reason_changes_nothing(self, client, study, lease, reason):
        answer = client.post(url(study, "skip", lease.token), {"reason": reason})

        assert_kind(answer, 422)
        lease.refresh_from_db()
        assert lease.closed_at is None

    @pytest.mark.parametrize("text", [MEGABYTE, "x" * 1001], ids=["endless", "too long"])
    def test_reporting_without_sense_changes_nothing(self, client, study, lease, text):
        answer = client.post(url(study, "report", lease.token), {"text": text})

        assert_kind(answer, 422, "Nothing was stored.")
        assert not Report.objects.exists()
        lease.refresh_from_db()
        assert lease.closed_at is None

    @pytest.mark.parametrize(
        ("fields", "said"),
        [({}, ["Choose an answer."]), ({"question_0": "9"}, []), ({"question_0": "\0"}, [])],
        ids=["nothing", "no such answer", "nul"],
    )
    def test_answering_the_questions_without_sense_costs_no_try(self, client, fields, said):
        question = {"text": "What do you compare?", "options": ["Messages", "People"], "answer": 1}
        study = open_study(content=study_content(comprehension=[question]))
        rater = let_in(client, study)

        answer = client.post(url(study, "comprehension"), fields)

        assert_kind(answer, 422, *said)
        rater.refresh_from_db()
        assert rater.comprehension_tries == 0

    @pytest.mark.parametrize("fields", [{}, {"answers": "both"}, {"answers": "\0"}], ids=str)
    def test_withdrawing_without_a_choice_changes_nothing(self, client, study, rater, fields):
        answer = client.post(url(study, "withdraw"), fields)

        assert_kind(answer, 422, "Please choose what happens to your answers.")
        rater.refresh_from_db()
        assert rater.state == "ACTIVE"
