"""Admins hear of broken links by e-mail: soon, once a day for a study, and how to mend them."""

import datetime as dt

import pytest
from django.core import mail
from django.core.mail.backends.locmem import EmailBackend
from django.utils import timezone

from annotation import tasks
from annotation.choices import Platform
from annotation.models import FailedArrival
from annotation.raters import entry_links
from annotation.raters.services import broken_links
from completions.writers import emails
from tests.helpers.factories import HOUR, NOW, make_study
from tests.helpers.factories_of_people import make_failed_arrival

pytestmark = pytest.mark.django_db

DAY = dt.timedelta(days=1)


@pytest.fixture(autouse=True)
def _mail_is_set_up(settings):
    settings.HEART_ADMINS = ["one@example.org", "two@example.org"]
    settings.HEART_EMAIL_FROM = "heart@example.org"
    settings.HEART_SITE_URL = "https://heart.example.org"


def fail(study, *, at=NOW, n=1, platform=Platform.PROLIFIC):
    for _ in range(n):
        broken_links.count_failed_arrival(study=study, platform=platform, now=at)


def send(now=NOW):
    return broken_links.send_arrival_alerts(now=now)


def test_goes_to_every_admin_with_the_link_as_it_has_to_be():
    study = make_study(title="A study")
    fail(study, n=2)
    fail(study, n=3, at=NOW + HOUR)
    fail(study, platform=Platform.MTURK)

    assert send(NOW + HOUR) == 1

    [message] = mail.outbox
    assert message.to == ["one@example.org", "two@example.org"]
    entry = f"https://heart.example.org/s/{study.slug}/"
    assert "A study: 5 from Prolific." in message.body
    assert "A study: 1 from Mechanical Turk." in message.body
    assert f"{entry}?{entry_links.FILLED_IN['PROLIFIC']}" in message.body
    assert f"https://heart.example.org/console/{study.slug}/" in message.body


def test_studies_share_a_message_and_another_one_is_told_of_at_once():
    make_failed_arrival(hour=NOW - 3 * DAY)
    assert send() == 0, "what is old is no news"
    fail(make_study())
    fail(make_study())

    assert send() == 2
    assert len(mail.outbox) == 1
    fail(make_study(), at=NOW + HOUR)
    assert send(NOW + HOUR) == 1


def test_a_flood_is_one_message_a_day():
    study = make_study()
    for n in range(30):
        fail(study, at=NOW + n * HOUR, n=3)
        fail(study, at=NOW + n * HOUR, platform=Platform.GENERIC)
        send(NOW + n * HOUR)

    assert len(mail.outbox) == 2
    assert FailedArrival.objects.count() == 60


def test_is_sent_once_though_the_task_runs_twice(monkeypatch):
    monkeypatch.setattr(timezone, "now", lambda: NOW)
    fail(make_study())

    assert [tasks.send_arrival_alerts(), tasks.send_arrival_alerts()] == [1, 0]
    assert len(mail.outbox) == 1


def test_rows_go_after_a_month(settings):
    settings.HEART_ADMINS = []
    make_failed_arrival(hour=NOW - broken_links.KEPT - HOUR)
    young = make_failed_arrival(hour=NOW - broken_links.KEPT + HOUR)

    send()

    assert FailedArrival.objects.get() == young


def test_a_mail_server_that_fails_is_asked_again(monkeypatch):
    def refuse(self, messages):
        msg = "no route to host"
        raise ConnectionError(msg)

    fail(make_study())
    with monkeypatch.context() as patch:
        patch.setattr(EmailBackend, "send_messages", refuse)
        assert send() == 0

    assert send(NOW + HOUR) == 1


@pytest.mark.parametrize(
    "missing",
    [{"HEART_ADMINS": []}, {"EMAIL_BACKEND": emails.NO_SERVER}],
    ids=["nobody to write to", "no server"],
)
def test_without_mail_the_console_alone_tells(missing, settings):
    for name, value in missing.items():
        setattr(settings, name, value)
    fail(make_study())

    assert send() == 0
    assert FailedArrival.objects.get().alerted_at is None
