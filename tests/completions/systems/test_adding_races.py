"""Two people who register one system at the same moment, in real threads."""

from contextlib import suppress
from functools import partial

import pytest
from django.contrib.auth.models import User

from access.models import LogEntry
from completions.models import System
from completions.systems.catalogue import SystemEntry
from completions.systems.services.registering import SystemTakenError, add_system
from tests.helpers.factories import NOW
from tests.helpers.threads import while_uncommitted

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("shared_database"),
]


def add(slug, name):
    entry = SystemEntry(slug=slug, name=name, kind="model", family="ours", model_id="openai/ours")
    return add_system(entry=entry, by=User.objects.get(username="ada"), now=NOW)


class TestAddingOneSystemTwice:
    @pytest.mark.parametrize(("field", "slug", "name"), [("slug", "ours", "B"), ("name", "b", "A")])
    def test_tells_whoever_came_second(self, field, slug, name):
        User.objects.create(username="ada")

        def second():
            with suppress(SystemTakenError):
                add(slug, name)
                return None
            return field

        taken = while_uncommitted(partial(add, "ours", "A"), second, has_to_wait=True)

        assert taken == field
        assert System.objects.values_list("slug", "name").get() == ("ours", "A")
        assert LogEntry.objects.count() == 1
