"""Pauses and ends, the whole way without scripts, and what a page costs."""

import gzip
import re
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.staticfiles import finders
from django.test import Client

from annotation.choices import RaterState
from annotation.models import Exclusion, Judgment, Lease, Rater
from tests.helpers.factories import NOW
from tests.helpers.visits import ANSWERS, HTMX, enrol, open_study, read_forms, study_content, url

pytestmark = pytest.mark.django_db


@pytest.fixture
def study():
    return open_study()


@pytest.fixture
def rater(client, study):
    return enrol(client, study)


def judge(client, study, *, times=1):
    for _ in range(times):
        client.get(url(study, "judge"))
        lease = Lease.objects.get(closed_at=None)
        client.post(url(study, "submit", lease.token), ANSWERS["preference"])


def code_on(page):
    found = re.search(r'<code id="completion-code">(.+?)</code>', page.content.decode())
    return found and found[1]


class TestPauses:
    def test_help_is_open_to_everyone(self, client, study):
        page = client.get(url(study, "help"))

        assert page.status_code == 200
        assert url(study, "judge") not in page.content.decode()

    def test_help_leads_a_rater_back_to_the_pair(self, client, study, rater):
        assert url(study, "judge") in client.get(url(study, "help")).content.decode()

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
        assert Lease.objects.filter(closed_at=None).count() == 1

    def test_stop_asks_once(self, client, study, rater):
        client.get(url(study, "stop"))

        rater.refresh_from_db()
        assert rater.state == RaterState.ACTIVE


class TestEnd:
    def test_stopping_gives_a_code_and_says_what_it_was_about(self, client, study, rater):
        judge(client, study)

        answer = client.post(url(study, "stop"))
        page = client.get(answer["Location"])

        assert answer.status_code == 303
        assert code_on(page)
        assert study.content["debrief"].strip().split("\n")[0] in page.content.decode()

    def test_the_code_is_the_raters_own_and_tells_nothing(self, study):
        codes = set()
        for client in (Client(), Client()):
            rater = enrol(client, study)
            judge(client, study)
            client.post(url(study, "stop"))
            codes.add(code := code_on(client.get(url(study, "done"))))
            assert code not in rater.code

        assert len(codes) == 2

    def test_the_studys_code_and_address_go_to_raters_of_a_platform(self, client):
        crowd = study_content()["crowd"] | {"return_url": "https://platform.example/?cc={code}"}
        crowd["codes"] |= {"partial": "C0DE-7"}
        study = open_study(content=study_content(crowd=crowd))
        enrol(client, study, pid="77")
        judge(client, study)
        client.post(url(study, "stop"))

        page = client.get(url(study, "done"))

        assert code_on(page) == "C0DE-7"
        assert "https://platform.example/?cc=C0DE-7" in page.content.decode()

    def test_who_answered_nothing_did_not_complete_the_session(self, client, study, rater):
        client.post(url(study, "stop"))

        page = client.get(url(study, "done"))

        assert "before the first answer" in page.content.decode()
        assert code_on(page) is None

    def test_full_session_ends_with_the_code(self, client):
        study = open_study(n_pairs=3, session_length=2)
        rater = enrol(client, study)
        judge(client, study, times=2)

        page = client.get(url(study, "judge"))

        rater.refresh_from_db()
        assert rater.state == RaterState.FINISHED
        assert code_on(page)

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

    @pytest.mark.parametrize("name", ["judge", "done"])
    def test_excluded_rater_sees_one_last_page(self, client, study, rater, name):
        judge(client, study)
        Exclusion.objects.create(rater=rater, is_excluded=True, rule="r-1", decided_at=NOW)

        page = client.get(url(study, name))

        assert "Your 1 answer is saved." in page.content.decode()
        assert url(study, "judge") not in page.content.decode()

    @pytest.mark.parametrize("state", ["PAUSED", "CLOSED"])
    def test_study_that_stops_meanwhile_says_so_and_lets_the_rater_finish(
        self, client, study, rater, state
    ):
        study.state = state
        study.save()

        for headers in ({}, HTMX):
            page = client.get(url(study, "judge"), headers=headers)
            assert page.status_code == 409
            assert url(study, "stop") in page.content.decode()


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


class TestCost:
    @pytest.mark.parametrize(("kind", "limit"), [("preference", 22), ("rubric", 23)])
    def test_submit_and_next_takes_a_bounded_number_of_queries(
        self, client, django_assert_max_num_queries, kind, limit
    ):
        # Four of them open and close the two transactions: answer, and claim of the next pair.
        study = open_study(kind, n_pairs=5)
        enrol(client, study)
        for _ in range(3):  # from the third answer on the pace is the rater's own
            client.get(url(study, "judge"))
            token = Lease.objects.get(closed_at=None).token
            client.post(url(study, "submit", token), ANSWERS[kind])
        client.get(url(study, "judge"))
        token = Lease.objects.get(closed_at=None).token

        with django_assert_max_num_queries(limit):
            client.post(url(study, "submit", token), ANSWERS[kind], headers=HTMX)

    @pytest.mark.parametrize("kind", ["preference", "rubric"])
    def test_first_visit_fits_30_kilobytes_and_the_next_pair_6(self, client, kind):
        study = open_study(kind)
        enrol(client, study)

        page = client.get(url(study, "judge")).content
        fragment = client.get(url(study, "judge"), headers=HTMX).content

        loaded = rf'(?:href|src)="/{settings.STATIC_URL.strip("/")}/([^"]+)"'
        names = re.findall(loaded, page.decode())
        assets = [Path(str(finders.find(name))).read_bytes() for name in names]
        assert len(assets) == 4
        assert sum(len(gzip.compress(part)) for part in (page, *assets)) <= 30_000
        assert len(gzip.compress(fragment)) <= 6_000

    def test_page_has_nothing_inline(self, client, study, rater):
        inline = re.compile(r"<style|<script(?![^>]* src=)|\sstyle=|\son\w+=|javascript:")
        for name in ("entry", "how", "judge", "help", "take_break", "stop"):
            page = client.get(url(study, name), follow=True).content.decode()
            assert not inline.search(page)
