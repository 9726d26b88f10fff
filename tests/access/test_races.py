"""Owners who change the team, and senders of webhooks, at the same moment in real threads."""

from functools import partial

import pytest
from django.contrib.auth.models import User

from access.choices import Role
from access.members import services as member_services
from access.members.services import LastOwnerError, MemberRefusedError
from access.models import HookDelivery, Member
from access.webhooks import outgoing
from access.webhooks import services as hook_services
from tests.helpers.factories import NOW
from tests.helpers.factories_of_site import make_delivery
from tests.helpers.factories_written_once import make_member
from tests.helpers.threads import together, while_uncommitted

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("shared_database"),
]


def test_owners_who_remove_each_other_leave_one():
    ada, olga = make_member("ada"), make_member("olga")

    def second():
        with pytest.raises(LastOwnerError):
            member_services.remove_member(olga, now=NOW, by=ada)

    while_uncommitted(
        partial(member_services.remove_member, ada, now=NOW, by=olga), second, has_to_wait=True
    )

    assert Member.objects.get().user == olga


def test_somebody_whom_both_add_is_added_once():
    make_member("olga")
    new = ("ada", Role.ANALYST)

    def second():
        with pytest.raises(MemberRefusedError):
            member_services.add_member(*new, now=NOW)

    while_uncommitted(partial(member_services.add_member, *new, now=NOW), second, has_to_wait=True)

    assert User.objects.filter(username="ada").count() == 1


def test_senders_at_once_send_each_message_once():
    ids = sorted(str(make_delivery().event_id) for _ in range(8))
    sent = []

    def post(_url, _body, headers, **_options):
        sent.append(headers["HEART-Event-Id"])
        return 204

    send = partial(hook_services.deliver, clock=lambda: NOW, rules=outgoing.Rules(), post=post)
    assert sum(together([send] * 3)) == 8

    assert sorted(sent) == ids
    assert set(HookDelivery.objects.values_list("attempts", "delivered_at")) == {(1, NOW)}
