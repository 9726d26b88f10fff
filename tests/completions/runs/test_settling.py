"""What calls have cost adds up to the millionth, in whatever order reservations come back."""

from decimal import Decimal

import pytest

from completions.models import GenerationCall
from completions.runs.services import budgeting
from tests.helpers.factories_of_calls import make_generation_run

pytestmark = pytest.mark.django_db
COST = Decimal("0.008302")  # five of them, less two, less three, is below nothing in binary


@pytest.mark.parametrize("parts", [(1, 1, 2, 3, 4), (2, 1, 1, 4, 3), (4, 2, 3, 1, 1)])
def test_what_is_given_back_in_parts_leaves_nothing(parts):
    total = sum(parts) * COST
    run = make_generation_run(reserved_usd=total, budget_usd=total)

    for n in parts:
        settled = [(GenerationCall(run=run, reserved_usd=COST), None)] * n
        budgeting.settle(settled)

    run.refresh_from_db()
    assert run.reserved_usd == 0
    assert run.spent_usd == total
