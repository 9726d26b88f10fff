"""The command, people who check labels, and a sample on which two of them differ."""

from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from completions.models import Dataset, SpotCheck
from tests.helpers.factories import make_dataset
from tests.helpers.factories_of_calls import KEYS, label, make_person, make_sampled

HOPE, REST, FACTS = KEYS[:3]


def strategies(*asked):
    """Return what the command answers."""
    out = StringIO()
    call_command("strategies", *asked, stdout=out, stderr=StringIO())
    return out.getvalue()


def refused(*asked):
    """Return why the command refuses."""
    with pytest.raises(CommandError) as error:
        strategies(*asked)
    assert error.value.returncode == 2
    return str(error.value)


@pytest.fixture
def dataset() -> Dataset:
    return make_dataset(slug="talks", name="Talks")


@pytest.fixture
def ada() -> User:
    return make_person("ada")


@pytest.fixture
def ben() -> User:
    return make_person("ben")


@pytest.fixture
def cleo() -> User:
    return make_person("cleo")


@pytest.fixture
def settling(dataset: Dataset, ada: User, ben: User) -> SpotCheck:
    """Return a sample of three on the first and last of which two people differ."""
    check = make_sampled(3, dataset=dataset)
    label(check, ada, [HOPE, REST], [HOPE], [REST])
    label(check, ben, [HOPE, FACTS], [HOPE], [])
    return check
