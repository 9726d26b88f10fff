"""Mails to writers go once, say what is needed and no more, and survive a server that fails."""

import datetime as dt
from smtplib import SMTPDataError, SMTPRecipientsRefused, SMTPServerDisconnected

import pytest
from django.core import mail
from django.core.mail.backends.locmem import EmailBackend
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotation.quality.services.reporting import send_report_alerts
from completions import tasks
from completions.choices import MailKind, MessageState, WriterState
from completions.models import Writer, WriterMail
from completions.writers import emails
from completions.writers.credentials import writer_of_credential
from completions.writers.services import emailing
from completions.writers.services.emailing import queue_mail, send_writer_mails
from completions.writers.services.leaving import leave
from tests.helpers.factories import NOW, make_dataset, make_writer
from tests.helpers.factories_of_people import make_alert, make_mail, make_sent
from tests.helpers.factories_written_once import make_member

pytestmark = pytest.mark.django_db

LATER = NOW + emailing.RETRY_AFTER
SITE, OTHER = "https://heart.example.org", "other.example"


@pytest.fixture(autouse=True)
def _site(settings):
    settings.HEART_SITE_URL = f"{SITE}/"
    settings.HEART_EMAIL_FROM = "heart@example.org"


def send(now=NOW):
    return emailing.send_writer_mails(now=now)


def letter(kind, *, note="", **fields):
    writer = make_writer(email="ada@example.org", **fields)
    return emails.compose(make_mail(writer=writer, kind=kind, note=note)), writer


class FailingServer:
    """Takes the place of a server: what it does with each mail in turn."""

    def __init__(self, monkeypatch, *outcomes):
        self.outcomes = [*outcomes]
        monkeypatch.setattr(EmailBackend, "send_messages", lambda _self, sent: self.take(sent))

    def take(self, sent):
        outcome = self.outcomes.pop(0)
        if outcome is not None:
            raise outcome
        return len(sent)


class TestLetter:
    @pytest.mark.parametrize("kind", MailKind.values)
    def test_of_every_kind_has_one_line_of_subject_and_the_personal_link_as_a_whole(self, kind):
        written, writer = letter(kind, state=WriterState.INVITED)

        assert written.subject
        assert "\n" not in written.subject
        [line] = [line for line in written.body.splitlines() if line.startswith("http")]
        start, credential = f"{SITE}/w/i/", line.removeprefix(f"{SITE}/w/i/").rstrip("/")
        assert line.startswith(start)
        assert writer_of_credential(credential, use="link") == writer

    @pytest.mark.parametrize("kind", [MailKind.ADMITTED, MailKind.REFUSED, MailKind.RETURNED])
    def test_about_a_decision_carries_the_note_and_without_one_leaves_no_gap(self, kind):
        note = "Warm.\nA little shorter, please."

        assert note in letter(kind, note=note)[0].body
        assert "\n\n\n" not in letter(kind)[0].body

    def test_that_invites_names_who_does_how_to_decline_and_answers_go_to_them(self):
        host = {"person": "Ada", "lab": "Care Lab", "pay": "10 pounds", "time": "an hour"}
        host["contact"] = "ada@lab.example"
        dataset = make_dataset(host=host)
        writer = make_writer(email="bea@example.org", dataset=dataset, state=WriterState.INVITED)
        make_mail(writer=writer, kind=MailKind.INVITED)

        send()

        [sent] = mail.outbox
        assert sent.reply_to == ["ada@lab.example"]
        assert "No, I decline" in sent.body
        for line in ("Who invites you: Ada, Care Lab", "Pay: 10 pounds", "Time: an hour"):
            assert line in sent.body

    def test_to_somebody_who_has_agreed_brings_the_link_and_invites_no_more(self):
        written, _writer = letter(MailKind.INVITED, state=WriterState.ACTIVE)

        assert "decline" not in written.body
        assert written.subject == "Your personal link"

    def test_never_names_address_or_pseudonym(self):
        written, writer = letter(MailKind.INVITED, code="Wabcdefgh")

        outside_link = written.body.replace(emails.personal_link(writer), "")
        assert writer.email not in written.body
        assert writer.code not in outside_link + written.subject


class TestSending:
    def test_takes_each_mail_to_its_writer_alone_and_once(self):
        make_mail(writer=make_writer(email="ada@example.org"))
        make_mail(writer=make_writer(email="kim@example.org"))

        assert (send(), send(LATER)) == (2, 0)

        assert [sent.to for sent in mail.outbox] == [["ada@example.org"], ["kim@example.org"]]
        assert {sent.from_email for sent in mail.outbox} == {"heart@example.org"}
        assert set(WriterMail.objects.values_list("sent_at", "attempts")) == {(NOW, 1)}

    def test_is_done_once_though_the_task_runs_twice(self):
        make_mail()

        for _ in range(2):
            tasks.send_writer_mails()

        assert len(mail.outbox) == 1

    def test_takes_over_what_another_sender_has_once_it_must_be_lost(self):
        make_mail(claimed_at=NOW)

        assert (send(LATER - dt.timedelta(minutes=1)), len(mail.outbox)) == (0, 0)
        assert (send(LATER), len(mail.outbox)) == (1, 1)

    @pytest.mark.parametrize(
        ("email", "backend"),
        [("", None), ("ada@example.org", emails.NO_SERVER)],
        ids=["the address is forgotten", "no mail is set up"],
    )
    def test_claims_nothing_while(self, settings, email, backend):
        settings.EMAIL_BACKEND = backend or settings.EMAIL_BACKEND
        make_mail(writer=make_writer(email=email))

        assert send() == 0
        assert WriterMail.objects.get().claimed_at is None

    def test_queues_nothing_for_somebody_without_an_address(self):
        queued = queue_mail(writer=make_writer(), kind=MailKind.ADMITTED, now=NOW)

        assert queued is None
        assert not WriterMail.objects.exists()

    def test_takes_a_bounded_number_at_a_time_oldest_first(self, monkeypatch):
        monkeypatch.setattr(emailing, "BATCH", 1)
        make_mail(writer=make_writer(email="late@example.org"), queued_at=LATER)
        make_mail(writer=make_writer(email="early@example.org"))

        assert send(LATER) == 1
        assert mail.outbox[0].to == ["early@example.org"]


def having(**fields):
    return lambda writer: Writer.objects.filter(pk=writer.pk).update(**fields)


class TestWhatChangesWhileAMailWaitsInItsBatch:
    def meanwhile(self, monkeypatch, change):
        """Send two mails; do something about the second person while the first goes."""
        make_mail(writer=make_writer(email="kim@example.org"))
        ada = make_writer(email="ada@example.org")
        make_mail(writer=ada)
        locmem = EmailBackend.send_messages

        def take(server, sent):
            change(ada)
            return locmem(server, sent)

        monkeypatch.setattr(EmailBackend, "send_messages", take)
        return send()

    def test_goes_to_the_address_and_with_the_link_of_now(self, monkeypatch):
        change = having(email="ada@example.net", link_version=2)

        assert self.meanwhile(monkeypatch, change) == 2

        assert [sent.to for sent in mail.outbox] == [["kim@example.org"], ["ada@example.net"]]
        ada = Writer.objects.get(email="ada@example.net")
        assert emails.personal_link(ada) in mail.outbox[1].body

    @pytest.mark.parametrize(
        "change",
        [having(email=""), lambda ada: leave(writer=ada, now=NOW)],
        ids=["whose address is forgotten", "who has left"],
    )
    def test_goes_to_nobody(self, monkeypatch, change):
        assert self.meanwhile(monkeypatch, change) == 1

        assert [sent.to for sent in mail.outbox] == [["kim@example.org"]]
        assert not WriterMail.objects.filter(sent_at=None, attempts__gt=0).exists()


@pytest.mark.parametrize(
    ("state", "n_sent"), [(MessageState.RETURNED, 1), (MessageState.WAITING, 0)]
)
def test_a_mail_about_what_came_back_goes_while_something_waits_to_be_mended(state, n_sent):
    message = make_sent(state=state)
    Writer.objects.update(email="ada@example.org")
    make_mail(writer=message.lease.writer, kind=MailKind.RETURNED, note="Shorter.")

    assert send() == n_sent

    assert WriterMail.objects.count() == n_sent


class TestServerThatFails:
    def test_leaves_every_mail_waiting_with_the_error_and_blames_none(self, monkeypatch):
        make_mail()
        with monkeypatch.context() as patch:
            FailingServer(patch, ConnectionError("no route to host"))
            assert send() == 0

        stored = WriterMail.objects.get()
        assert (stored.sent_at, stored.attempts) == (None, 0)
        assert stored.error == "ConnectionError: no route to host"
        assert send(LATER) == 1
        assert WriterMail.objects.get().error == ""

    def test_is_not_asked_for_the_rest_once_it_is_gone(self, monkeypatch):
        for name in "abc":
            make_mail(writer=make_writer(email=f"{name}@example.org"))
        server = FailingServer(monkeypatch, None, SMTPServerDisconnected("gone"))

        assert send() == 1

        assert server.outcomes == []
        sent = WriterMail.objects.order_by("pk").values_list("sent_at", "attempts")
        assert list(sent) == [(NOW, 1), (None, 0), (None, 0)]

    @pytest.mark.parametrize(
        "refusal",
        [
            SMTPRecipientsRefused({"ada@example.org": (550, b"no ada@example.org here")}),
            SMTPDataError(554, b"not for ada@example.org"),
            ValueError("Invalid address; ada@example.org could not be encoded"),
        ],
        ids=["no such person", "not this text", "no header can hold it"],
    )
    def test_refusing_one_mail_is_told_without_the_address_and_stops_no_other(
        self, monkeypatch, refusal
    ):
        for name in ("ada", "kim"):
            make_mail(writer=make_writer(email=f"{name}@example.org"))
        FailingServer(monkeypatch, refusal, None)

        assert send() == 1

        refused = WriterMail.objects.get(sent_at=None)
        assert refused.attempts == 1
        assert refused.error.startswith(type(refusal).__name__)
        assert "ada@example.org" not in refused.error

    def test_is_asked_five_times_at_most_for_an_address_that_it_refuses(self, monkeypatch):
        make_mail()
        refusal = SMTPRecipientsRefused({"ada@example.org": (550, b"unknown")})
        server = FailingServer(monkeypatch, *[refusal] * 9)

        for number in range(9):
            send(NOW + number * emailing.RETRY_AFTER)

        assert len(server.outcomes) == 4
        assert WriterMail.objects.get().attempts == emails.MOST_ATTEMPTS


@pytest.fixture
def any_host(settings):
    """Let a visitor call the site as they like."""
    settings.ALLOWED_HOSTS = ["*"]
    settings.HEART_ADMINS = ["admin@example.org"]


def test_mails_lead_to_the_site_of_the_operator_whatever_a_visitor_called_it(any_host):
    dataset, client = make_dataset(), Client(headers={"host": OTHER})
    client.force_login(make_member())
    invited = client.post(
        reverse("writing:invite", args=[dataset.slug]), {"emails": "ada@example.org"}
    )
    make_alert()

    assert invited.status_code == 302
    assert send_writer_mails(now=WriterMail.objects.get().queued_at) == 1
    assert send_report_alerts(now=NOW) == 1
    for sent in mail.outbox:
        assert f"{SITE}/" in sent.body
        assert OTHER not in sent.message().as_string()


def test_a_password_link_leads_to_the_site_of_the_operator(any_host, capsys):
    call_command("members", "add", "ada", "--role", "analyst", "--email", "ada@example.org")

    assert capsys.readouterr().out.startswith(f"{SITE}/accounts/password/")
