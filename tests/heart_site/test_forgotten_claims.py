"""What dead workers held is free again, and what has ended stays ended."""

import pytest

from annotation.models import JudgeCall, RationaleCall
from completions.choices import CallState
from completions.models import GenerationCall, StrategyCall
from completions.runs import services as run_services
from ranking.choices import ContextSet, EvaluatorPool, FitState
from ranking.fits import services as ranking
from ranking.models import Fit
from tests.helpers.factories import NOW, digest, make_generation_call, make_judge_call, make_study
from tests.helpers.factories_of_calls import make_rationale_call, make_strategy_call

pytestmark = pytest.mark.django_db
CLAIMED = {"state": CallState.CLAIMED, "claimed_at": NOW, "attempts": 1}
FAILED = {"state": CallState.FAILED, "ended_at": NOW, "error_kind": "permanent"}


@pytest.mark.parametrize(
    ("model", "make"),
    [
        (GenerationCall, make_generation_call),
        (StrategyCall, make_strategy_call),
        (JudgeCall, make_judge_call),
        (RationaleCall, make_rationale_call),
    ],
)
def test_claimed_calls_wait_again_and_ended_ones_do_not(model, make):
    claimed, failed = make(**CLAIMED), make(**FAILED)

    assert run_services.forget_claims() == 1

    states = dict(model.objects.values_list("pk", "state"))
    assert states == {claimed.pk: CallState.PENDING, failed.pk: CallState.FAILED}


def make_fit(**fields):
    study = make_study()
    return Fit.objects.create(
        study=study,
        pool=EvaluatorPool.LLM,
        context_set=ContextSet.ALL,
        key=study.slug,
        as_of=NOW,
        inputs_hash=digest("inputs"),
        method={},
        method_hash=digest("method"),
        code_version="1",
        n_judgments=3,
        n_units=2,
        is_simulated=False,
        claimed_at=NOW,
        **fields,
    )


def test_a_fit_that_was_begun_is_dropped_and_a_done_one_kept():
    make_fit()
    done = make_fit(state=FitState.DONE, ended_at=NOW)

    assert ranking.forget_fit_claims() == 1
    assert Fit.objects.get() == done
