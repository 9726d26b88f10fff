"""Admins are told by e-mail, at least once, and never with what somebody wrote."""

import datetime as dt

import pytest
from django.core import mail
from django.core.mail.backends.locmem import EmailBackend

from annotation import tasks
from annotation.choices import ReportKind
from annotation.models import ReportAlert
from annotation.quality import services
from annotation.quality.services import alerting
from completions.writers import emails
from tests.helpers.factories import NOW, TURNS, make_comparison, make_rater
from tests.helpers.judged import lease_next, make_planted_study, report

pytestmark = pytest.mark.django_db

LATER = NOW + alerting.RETRY_AFTER


@pytest.fixture(autouse=True)
def _mail_is_set_up(settings):
    settings.HEART_ADMINS = ["one@example.org", "two@example.org"]
    settings.HEART_EMAIL_FROM = "heart@example.org"
    settings.HEART_SITE_URL = "https://heart.example.org"


def make_report(text="It names my street."):
    study = make_planted_study()
    make_comparison(study=study)
    return report(lease_next(make_rater(study=study)), ReportKind.CONTENT, text)


def send(now=NOW):
    return services.send_report_alerts(now=now)


class TestAlert:
    def test_goes_to_every_admin_and_names_study_and_dialogue(self):
        stored = make_report()

        assert send() == 1

        [message] = mail.outbox
        assert message.to == ["one@example.org", "two@example.org"]
        assert message.from_email == "heart@example.org"
        study = stored.rater.study
        assert study.title in message.body
        assert stored.context.key in message.body
        assert f"https://heart.example.org/console/{study.slug}/reports/" in message.body

    def test_holds_neither_the_dialogue_nor_the_raters_words_nor_who_it_was(self):
        stored = make_report("It names my street.")

        send()

        [message] = mail.outbox
        words = f"{message.subject}\n{message.body}"
        assert stored.text not in words
        assert stored.rater.code not in words
        assert not any(turn["text"] in words for turn in TURNS)

    def test_gathers_what_waits_in_one_message(self):
        make_report()
        make_report()

        assert send() == 2

        [message] = mail.outbox
        assert message.subject == "HEART: 2 reports by raters"

    def test_is_sent_once_though_the_task_runs_twice(self):
        make_report()

        tasks.send_report_alerts()
        tasks.send_report_alerts()

        assert len(mail.outbox) == 1
        assert ReportAlert.objects.get().sent_at is not None

    def test_that_another_sender_has_is_left_to_it(self):
        make_report()
        ReportAlert.objects.update(claimed_at=NOW)

        assert send(NOW + dt.timedelta(minutes=1)) == 0

        assert mail.outbox == []

    def test_that_a_lost_sender_had_is_sent_after_all(self):
        make_report()
        ReportAlert.objects.update(claimed_at=NOW, attempts=1)

        assert send(LATER) == 1

        assert len(mail.outbox) == 1
        assert ReportAlert.objects.get().attempts == 2


class TestMailServerThatFails:
    @pytest.fixture(autouse=True)
    def _unreachable(self, monkeypatch):
        def fail(self, messages):
            msg = "no route to host"
            raise ConnectionError(msg)

        with monkeypatch.context() as patch:
            patch.setattr(EmailBackend, "send_messages", fail)
            make_report()
            send()

    def test_leaves_the_alert_waiting_with_the_error(self):
        alert = ReportAlert.objects.get()

        assert alert.sent_at is None
        assert alert.error == "ConnectionError: no route to host"

    def test_is_tried_again_later_and_not_at_once(self):
        assert send(NOW + dt.timedelta(minutes=1)) == 0
        assert send(LATER) == 1

        alert = ReportAlert.objects.get()
        assert (alert.sent_at, alert.error) == (LATER, "")


class TestWithoutMail:
    @pytest.mark.parametrize(
        "missing",
        [{"HEART_ADMINS": []}, {"EMAIL_BACKEND": emails.NO_SERVER}],
        ids=["nobody to write to", "no server"],
    )
    def test_alerts_wait_unclaimed_for_the_console(self, missing, settings):
        for name, value in missing.items():
            setattr(settings, name, value)
        make_report()

        assert send() == 0

        assert not services.is_mail_set_up()
        assert ReportAlert.objects.get().attempts == 0
