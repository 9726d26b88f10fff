"""What a run has spent, when an answer was paid for and of no use."""

from decimal import Decimal

import pytest

from annotation.judges import services
from annotation.models import JudgeCall
from completions.choices import CallState, RunState
from completions.offline import Fault
from tests.helpers.factories import make_comparison, make_judge, make_judge_call
from tests.helpers.factories_of_calls import PRICE, make_judge_run

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.xdist_group("litellm"),  # so that one process alone loads it
    # LiteLLM reads every attribute of a pydantic model, those being given up included.
    pytest.mark.filterwarnings("ignore:Accessing the 'model_:DeprecationWarning"),
]


@pytest.fixture
def call() -> JudgeCall:
    """Return the only call of a run with a budget."""
    comparison = make_comparison()
    judge = make_judge(
        name="Simulated alder",
        model_id="hosted_vllm/offline-judge-alder",
        is_simulated=True,
        parameters={"price": PRICE},
    )
    run = make_judge_run(study=comparison.study, budget_usd=Decimal(1), n_planned=1)
    return make_judge_call(run=run, comparison=comparison, judge=judge)


def test_an_answer_is_counted_although_the_second_try_was_refused(call, provider, clock):
    provider.script.extend([Fault.BROKEN_ANSWER, Fault.RATE_LIMITED])

    services.ask_judges(clock=clock, duration_s=1)  # it would wait to ask again, and time stands

    call.refresh_from_db()
    call.run.refresh_from_db()
    assert len(provider.calls) == 2
    assert (call.state, call.error_kind) == (CallState.PENDING, "rate_limited")
    assert 0 < call.run.spent_usd < Decimal("0.01")  # less than was reserved
    assert call.run.reserved_usd == call.reserved_usd == 0


def test_both_tries_are_counted_when_neither_could_be_read(call, provider, clock):
    provider.script.extend([Fault.BROKEN_ANSWER] * 2)

    services.ask_judges(clock=clock)

    call.refresh_from_db()
    call.run.refresh_from_db()
    assert call.state == CallState.INVALID
    assert call.run.spent_usd == call.cost_usd > 0
    assert call.run.state == RunState.ENDED
