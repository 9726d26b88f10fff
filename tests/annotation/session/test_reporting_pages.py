"""A rater reports a dialogue from the judging page."""

import uuid

import pytest
from django.test import Client

from annotation.choices import ReportKind
from annotation.models import Comparison, Judgment, Lease, Report
from annotation.session.forms import MAX_TEXT
from tests.helpers.factories import make_comparison, make_completion, make_lease
from tests.helpers.visits import ANSWERS, HTMX, enrol, open_study, read_forms, url

pytestmark = pytest.mark.django_db
UPSET = {"reason": "upsetting", "text": "It is about my street."}


@pytest.fixture
def study():
    return open_study()


@pytest.fixture
def lease(client, study):
    enrol(client, study)
    client.get(url(study, "judge"))
    return Lease.objects.get(closed_at=None)


def report(client, study, token, **fields):
    return client.post(url(study, "report", token), fields)


def is_about(page, lease):
    return lease.comparison.first.text in page.content.decode()


class TestMenu:
    @pytest.mark.parametrize("kind", ["preference", "rubric", "likert"])
    def test_on_the_judging_page_has_room_for_words(self, client, kind):
        study = open_study(kind)
        enrol(client, study)

        forms = read_forms(client.get(url(study, "judge")))

        token = Lease.objects.get().token
        [menu] = [form for form in forms if form.action == url(study, "report", token)]
        assert "text" in menu.fields


class TestReport:
    def test_is_stored_and_the_conversation_does_not_come_back(self, client, study, lease):
        answer = report(client, study, lease.token, text="It names my street.")

        assert answer.status_code == 200
        assert "Thank you for telling us" in answer.content.decode()
        stored = Report.objects.get()
        assert (stored.kind, stored.text) == (ReportKind.CONTENT, "It names my street.")
        following = client.get(url(study, "judge"))
        assert following.status_code == 200
        assert not is_about(following, lease)

    @pytest.mark.parametrize("reports", ["report", "skip"])
    def test_takes_earlier_pairs_of_the_conversation_away_as_well(self, client, reports):
        study = open_study(n_pairs=1)
        one = Comparison.objects.get()
        make_comparison(study=study, first=one.first, second=make_completion(context=one.context))
        enrol(client, study)
        for name, fields in (("submit", ANSWERS["preference"]), (reports, UPSET)):
            client.get(url(study, "judge"))
            lease = Lease.objects.get(closed_at=None)
            client.post(url(study, name, lease.token), fields)

        page = client.get(url(study, "last"), follow=True)

        assert Report.objects.exists()
        assert one.context.turns[0]["text"] not in page.content.decode()

    def test_shows_the_way_on_and_to_a_break(self, client, study, lease):
        page = report(client, study, lease.token).content.decode()

        assert f'href="{url(study, "judge")}"' in page
        assert 'form="break"' in page

    def test_of_htmx_is_answered_with_a_fragment_that_has_a_heading_to_focus(
        self, client, study, lease
    ):
        answer = client.post(url(study, "report", lease.token), {}, headers=HTMX).content.decode()

        assert "<!doctype html>" not in answer
        assert '<h1 id="stage-title" tabindex="-1">' in answer

    def test_needs_no_words(self, client, study, lease):
        report(client, study, lease.token)

        assert Report.objects.get().text == ""

    def test_sent_twice_is_stored_once(self, client, study, lease):
        for _ in range(2):
            assert report(client, study, lease.token).status_code == 200

        assert Report.objects.count() == 1

    def test_counts_as_no_answer(self, client, study, lease):
        report(client, study, lease.token)

        assert not Judgment.objects.exists()


class TestBadReport:
    @pytest.mark.parametrize(
        "fields",
        [
            pytest.param({"text": "x" * (MAX_TEXT + 1)}, id="too long"),
            pytest.param({"text": "x" * 1_000_000}, id="a megabyte"),
        ],
    )
    def test_stores_nothing_and_leaves_the_pair_where_it_is(self, client, study, lease, fields):
        answer = report(client, study, lease.token, **fields)

        assert answer.status_code == 422
        assert "Nothing was stored" in answer.content.decode()
        assert not Report.objects.exists()
        assert is_about(client.get(url(study, "judge")), lease)

    @pytest.mark.parametrize("whose", ["nobody's", "somebody else's"])
    def test_of_a_pair_that_is_not_the_raters_is_refused_kindly(self, client, study, lease, whose):
        token = uuid.uuid4() if whose == "nobody's" else make_lease().token

        answer = report(client, study, token)

        assert answer.status_code == 404
        assert "belongs to someone else" in answer.content.decode()
        assert not Report.objects.exists()

    def test_without_a_rater_is_refused_kindly(self, study, lease):
        answer = report(Client(), study, lease.token)

        assert answer.status_code == 403
        assert "Open the study again" in answer.content.decode()
        assert not Report.objects.exists()

    def test_cannot_be_made_by_following_a_link(self, client, study, lease):
        assert client.put(url(study, "report", lease.token)).status_code == 405
