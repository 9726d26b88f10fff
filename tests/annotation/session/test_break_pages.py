"""Breaks, as a rater meets them."""

import pytest

from annotation.models import Judgment, Lease
from annotation.raters.visit_time import IMAGINED
from annotation.session import http
from tests.helpers.factories import HOUR, NOW, make_rater
from tests.helpers.visits import ANSWERS, enrol, open_study, read_forms, study_content, url

pytestmark = pytest.mark.django_db


@pytest.fixture
def study():
    return open_study(content=study_content(break_every=2), n_pairs=5)


@pytest.fixture
def rater(client, study):
    return enrol(client, study)


def judge(client, study):
    client.get(url(study, "judge"))
    client.post(
        url(study, "submit", Lease.objects.get(closed_at=None).token), ANSWERS["preference"]
    )


class TestBreak:
    def test_is_offered_on_the_page_of_a_pair(self, client, study, rater):
        page = client.get(url(study, "judge"))

        assert url(study, "take_break") in [form.action for form in read_forms(page)]

    def test_begins_by_a_post_and_stops_the_clock(self, client, study, rater):
        client.get(url(study, "judge"))

        answer = client.post(url(study, "take_break"))

        assert (answer.status_code, answer["Location"]) == (303, url(study, "take_break"))
        assert Lease.objects.get().paused_at is not None

    def test_looking_at_the_page_alone_stops_nothing(self, client, study, rater):
        client.get(url(study, "judge"))

        page = client.get(url(study, "take_break"))

        assert page.status_code == 200
        assert Lease.objects.get().paused_at is None

    def test_ends_when_the_pair_is_shown_again(self, client):
        study = open_study(title="Simulated raters", is_simulated=True)
        rater = make_rater(study=study, is_simulated=True)
        client.cookies[http.COOKIE] = http.credential(rater, use="cookie")
        client.get(url(study, "judge"), **{IMAGINED: NOW})
        client.post(url(study, "take_break"), **{IMAGINED: NOW + HOUR / 60})
        client.get(url(study, "judge"), **{IMAGINED: NOW + HOUR / 6})
        lease = Lease.objects.get()

        client.post(
            url(study, "submit", lease.token),
            ANSWERS["preference"],
            **{IMAGINED: NOW + HOUR / 5},
        )

        judgment = Judgment.objects.get()
        assert judgment.paused_ms == 9 * 60_000
        assert judgment.submitted_at - judgment.shown_at == HOUR / 5

    def test_is_suggested_after_every_so_many_pairs(self, client, study, rater):
        suggested = []
        for _ in range(5):
            page = client.get(url(study, "judge")).content.decode()
            suggested.append("Time for a break?" in page)
            judge(client, study)

        assert suggested == [False, False, True, False, True]
