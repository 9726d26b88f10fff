"""An open study with two pairs, a rater of it in the browser ``client``, and a pair they hold."""

import pytest
from django.utils import timezone

from tests.annotation.session.steps import let_in
from tests.helpers.judged import lease_next
from tests.helpers.visits import open_study


@pytest.fixture
def kind():
    """Return the protocol of the study; a test may name others."""
    return "preference"


@pytest.fixture
def study(kind):
    return open_study(kind)


@pytest.fixture
def rater(client, study):
    return let_in(client, study)


@pytest.fixture
def lease(rater):
    return lease_next(rater, timezone.now())
