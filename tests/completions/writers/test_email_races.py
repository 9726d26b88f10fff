"""Senders of mails to writers at work at the same moment, in real threads."""

from functools import partial

import pytest
from django.core import mail

from completions.models import WriterMail
from completions.writers import services
from completions.writers.services import emailing
from tests.helpers.factories import NOW, make_writer
from tests.helpers.factories_of_people import make_mail
from tests.helpers.threads import together

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("shared_database"),
]


class TestSenders:
    def test_at_once_send_each_mail_once(self, monkeypatch):
        monkeypatch.setattr(emailing, "BATCH", 3)
        addresses = [f"{number}@example.org" for number in range(6)]
        for address in addresses:
            make_mail(writer=make_writer(email=address))

        n_sent = together([partial(services.send_writer_mails, now=NOW)] * 2)

        assert n_sent == [3, 3]
        assert sorted(sent.to[0] for sent in mail.outbox) == addresses
        assert set(WriterMail.objects.values_list("attempts", "sent_at")) == {(1, NOW)}
