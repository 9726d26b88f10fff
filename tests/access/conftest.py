"""Who uses the console."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.helpers.factories_written_once import make_member


@pytest.fixture
def owner(client: Client) -> User:
    """Return an owner of the site, as whom the client is signed in."""
    user = make_member("olga")
    client.force_login(user)
    return user


@pytest.fixture
def staff(client: Client, owner: User) -> Client:
    """Return the client of an owner of the site."""
    return client
