"""A study of three readers and a careless rater, stored once for each file of tests."""

import pytest

from annotation.models import Rater, Study
from tests.helpers.released import make_reviewed_study


@pytest.fixture(scope="module")
def reviewed_keys(module_rows):
    study, careless = make_reviewed_study()
    return study.pk, careless.pk


@pytest.fixture
def study(reviewed_keys):
    return Study.objects.get(pk=reviewed_keys[0])


@pytest.fixture
def careless(reviewed_keys):
    return Rater.objects.get(pk=reviewed_keys[1])
