"""Every row has a name that tells it from the others in the admin, in logs and in errors."""

from collections.abc import Callable

import pytest

from tests.heart_site.constraints.rules import our_models
from tests.helpers import (
    factories,
    factories_of_calls,
    factories_of_people,
    factories_of_site,
    factories_written_once,
)

pytestmark = pytest.mark.django_db

MODULES = (
    factories,
    factories_of_site,
    factories_of_people,
    factories_of_site,
    factories_of_site,
    factories_of_calls,
    factories_of_calls,
    factories_of_calls,
    factories_of_people,
    factories_written_once,
)
BUILDERS: dict[str, Callable[[], object]] = {
    "Member": lambda: factories_written_once.make_member().member
}
"""The first builder of each table is the plain one; others make special rows."""
for module in MODULES:
    for name, function in vars(module).items():
        if name.startswith("make_"):
            BUILDERS.setdefault(function.__annotations__["return"].__name__, function)


@pytest.mark.parametrize("model", our_models(), ids=lambda model: model.__name__)
def test_two_rows_have_two_names(model):
    build = BUILDERS[model.__name__]

    assert str(build()) != str(build()) != ""
