"""Fixtures of the tests on writers: a pool, its people, and the browsers of both sides."""

import pytest
from django.utils import timezone

from tests.completions.writers.desk import sign_in
from tests.helpers.factories import make_dataset, make_writer
from tests.helpers.written import lease_next, make_open_context


@pytest.fixture
def dataset():
    return make_dataset(slug="talks", name="Talks")


@pytest.fixture
def writer(dataset):
    return make_writer(dataset=dataset)


@pytest.fixture
def context(dataset):
    """A dialogue for which three messages are wanted."""
    return make_open_context(dataset, slots_left=3)


@pytest.fixture
def desk(client, writer):
    """The writer's browser, signed in."""
    sign_in(client, writer)
    return client


@pytest.fixture
def lease(writer, desk):
    """The dialogue that the writer has before them."""
    return lease_next(writer, timezone.now())
