"""Senders of webhooks at work at the same moment, in real threads."""

from functools import partial

import pytest

from access.models import HookDelivery
from access.webhooks import outgoing
from access.webhooks.services import delivery
from tests.helpers.factories import NOW
from tests.helpers.factories_of_site import make_delivery
from tests.helpers.threads import together

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("shared_database"),
]


class TestSenders:
    def test_at_once_send_each_message_once(self):
        ids = sorted(str(make_delivery().event_id) for _ in range(8))
        sent = []

        def post(_url, _body, headers, **_options):
            sent.append(headers["HEART-Event-Id"])
            return outgoing.Reply(204)

        send = partial(delivery.deliver, clock=lambda: NOW, rules=outgoing.Rules(), post=post)
        assert sum(together([send] * 3)) == 8

        assert sorted(sent) == ids
        assert set(HookDelivery.objects.values_list("attempts", "delivered_at")) == {(1, NOW)}
