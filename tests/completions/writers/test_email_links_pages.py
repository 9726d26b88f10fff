"""Where mails lead is what the operator set, whatever a visitor called the site."""

import pytest
from django.core import mail
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotation.quality.services.alerting import send_report_alerts
from completions.models import WriterMail
from completions.writers.services.emailing import send_writer_mails
from tests.helpers.factories import NOW, make_dataset
from tests.helpers.factories_of_people import make_alert
from tests.helpers.factories_written_once import make_member

pytestmark = pytest.mark.django_db

SITE, OTHER = "https://heart.example.org", "other.example"


@pytest.fixture(autouse=True)
def _any_host_is_let_in(settings):
    settings.ALLOWED_HOSTS = ["*"]
    settings.HEART_SITE_URL = SITE
    settings.HEART_ADMINS = ["admin@example.org"]


def test_an_invitation_and_an_alert_lead_to_the_site():
    dataset, client = make_dataset(), Client(headers={"host": OTHER})
    client.force_login(make_member())
    invited = client.post(
        reverse("writing:invite", args=[dataset.slug]), {"emails": "ada@example.org"}
    )
    make_alert()

    assert invited.status_code == 302
    assert send_writer_mails(now=WriterMail.objects.get().queued_at) == 1
    assert send_report_alerts(now=NOW) == 1
    for message in mail.outbox:
        assert f"{SITE}/" in message.body
        assert OTHER not in message.message().as_string()


def test_a_password_link_does(capsys):
    call_command("members", "add", "ada", "--role", "analyst", "--email", "ada@example.org")

    assert capsys.readouterr().out.startswith(f"{SITE}/accounts/password/")
