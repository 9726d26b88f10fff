"""More than people do is refused for a minute, kindly; nobody pays for what a neighbour does."""

import datetime as dt
import re

import pytest
from django.core.cache import cache
from django.test import Client, RequestFactory
from django.utils import timezone
from redis.exceptions import ConnectionError as AwayError

from access.choices import Scope
from access.limits import address_of, wait_for_room
from annotation.judging.services import judging
from annotation.models import Judgment, Lease, Rater
from annotation.session import http
from tests.helpers.factories import NOW, make_writer
from tests.helpers.factories_of_site import bearing, make_secret
from tests.helpers.processes import settings_with
from tests.helpers.visits import ANSWERS, HTMX, consent_fields, enrol, open_study, url

pytestmark = pytest.mark.django_db

HERE, ELSEWHERE = "127.0.0.1", "203.0.113.7"


@pytest.fixture(autouse=True)
def counts(monkeypatch, settings):
    """Count from nothing, at a time that stands still."""
    monkeypatch.setattr(timezone, "now", lambda: NOW)
    settings.HEART_ENTRY_RATE = 3
    settings.HEART_WRONG_LINK_RATE = 3
    settings.HEART_API_RATES = settings.HEART_API_RATES | {"anonymous": 3}


def assert_asks_to_wait(answer, *words):
    assert answer.status_code == 429
    assert 1 <= int(answer["Retry-After"]) <= 300
    body = answer.content.decode()
    assert [word for word in ("Wait", *words) if word not in body] == []
    assert re.search(r"<h[13]", body)


class TestConsent:
    def agree(self, study, pid, **sent):
        client = Client(**sent)
        fields = consent_fields(client, study, pid=pid)
        return client.post(url(study, "consent"), fields | {"choice": "agree"})

    def test_of_too_many_from_one_address_stores_nobody_more_for_a_minute(self, monkeypatch):
        study = open_study()
        came = [self.agree(study, str(n)) for n in range(4)]

        assert [answer.status_code for answer in came[:3]] == [303, 303, 303]
        assert_asks_to_wait(came[3], "Nothing has been stored yet")
        assert Rater.objects.count() == 3
        assert self.agree(study, "9", REMOTE_ADDR=ELSEWHERE).status_code == 303
        monkeypatch.setattr(timezone, "now", lambda: NOW + dt.timedelta(minutes=1))
        assert self.agree(study, "3").status_code == 303

    def test_of_five_hundred_behind_one_address_has_room(self):
        assert settings_with()["HEART_ENTRY_RATE"] >= 2 * 500


class TestLinks:
    def wrong(self, address):
        answers = [Client().get(f"{address}{n}/") for n in range(4)]
        assert [answer.status_code for answer in answers] == [404, 404, 404, 429]
        assert_asks_to_wait(answers[-1])

    def test_of_raters_that_open_nothing_are_counted_and_right_ones_not(self):
        study = open_study()
        link = url(study, "resume", http.credential(enrol(Client(), study), use="link"))

        self.wrong(url(study, "entry") + "resume/x")

        assert Client().get(link).status_code == 303

    def test_of_writers_too(self):
        self.wrong(f"/w/i/{make_writer().code}~")

    def test_a_wrong_one_says_the_same_whether_or_not_it_ever_was_one(self):
        study, client = open_study(), Client()
        rater = enrol(client, study)
        answers = [
            Client().get(url(study, "entry") + f"resume/{link}/")
            for link in (f"{rater.code}-1~{'A' * 43}", "RNEVERWASONE-1~" + "A" * 43)
        ]

        assert [answer.status_code for answer in answers] == [404, 404]
        assert answers[0].content == answers[1].content


class TestTokens:
    def ask(self, secret, **sent):
        return Client(**sent).get("/api/v1/studies/", headers=bearing(secret))

    def test_that_are_wrong_are_refused_at_last_and_right_ones_never(self):
        right = make_secret(Scope.READ_STUDIES)
        answers = [self.ask(f"heart_{n:043}") for n in range(5)]

        assert [answer.status_code for answer in answers] == [401, 401, 401, 429, 429]
        assert answers[3]["Content-Type"] == "application/problem+json"
        assert 1 <= int(answers[3]["Retry-After"]) <= 60
        assert self.ask(right).status_code == 200
        assert self.ask("heart_x", REMOTE_ADDR=ELSEWHERE).status_code == 401


class TestChangesOfAnAnswer:
    @pytest.fixture
    def client(self, monkeypatch):
        monkeypatch.setattr(judging, "CHANGES_PER_MINUTE", 2)
        client = Client()
        enrol(client, open_study())
        return client

    def send(self, client, verdict, **headers):
        study = Rater.objects.get().study
        client.get(url(study, "judge"))
        token = Lease.objects.earliest("pk").token
        answer = ANSWERS["preference"] | {"verdict": verdict}
        return client.post(url(study, "submit", token), answer, headers=headers)

    @pytest.mark.parametrize("headers", [{}, HTMX])
    def test_beyond_what_people_do_is_not_stored_and_keeps_what_was_typed(self, client, headers):
        sent = [self.send(client, verdict, **headers) for verdict in ("1", "2", "1", "2")]

        assert [answer.status_code for answer in sent[:3]] == [200 if headers else 303] * 3
        assert_asks_to_wait(sent[3], ANSWERS["preference"]["rationale"])
        assert Judgment.objects.count() == 3

    def test_that_changes_nothing_is_taken_as_often_as_it_is_sent(self, client):
        sent = [self.send(client, "1").status_code for _ in range(6)]

        assert sent == [303] * 6
        assert Judgment.objects.count() == 1


def test_signing_in_too_often_says_when_to_come_again(settings):
    settings.ACCOUNT_RATE_LIMITS = {"login": "1/m/ip"}
    first, second = (
        Client().post("/accounts/login/", {"login": "x", "password": "y"}) for _ in range(2)
    )

    assert first.status_code == 200
    assert_asks_to_wait(second)


def test_who_has_to_wait_does_however_many_others_come_meanwhile():
    for name in (HERE, HERE, *map(str, range(1000))):
        wait_for_room("entry", name, most=1)

    assert wait_for_room("entry", HERE, most=2) is not None


def test_a_cache_that_is_away_lets_people_in(monkeypatch, caplog):
    def away(*_args, **_kwargs):
        raise AwayError

    monkeypatch.setattr(cache, "add", away)

    assert wait_for_room("entry", HERE, most=0) is None
    assert "does not answer" in caplog.text


@pytest.mark.parametrize(
    ("n_proxies", "remote", "named", "found"),
    [
        (0, HERE, ELSEWHERE, HERE),
        (1, HERE, f"198.51.100.9, {ELSEWHERE}", ELSEWHERE),
        (1, HERE, "", HERE),
        (0, "2001:db8:1:2:3:4:5:6", "", "2001:db8:1:2::"),
        (0, "::ffff:203.0.113.7", "", ELSEWHERE),
        (0, "", "", "unknown"),
    ],
)
def test_only_as_many_proxies_as_there_are_are_believed(settings, n_proxies, remote, named, found):
    settings.ALLAUTH_TRUSTED_PROXY_COUNT = n_proxies
    headers = {"X-Forwarded-For": named} if named else {}
    request = RequestFactory().get("/", REMOTE_ADDR=remote, headers=headers)

    assert address_of(request) == found
