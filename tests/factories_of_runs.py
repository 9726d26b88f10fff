"""Builders of runs, and of calls that belong to them."""

from decimal import Decimal
from typing import Any

from annotation.models import JudgeRun
from completions.choices import CallState
from completions.generation.services import generating
from completions.models import GenerationCall, GenerationRun, LabellingRun, System
from completions.runs.services import budgeting, calling
from tests.factories import NOW, make_dataset, make_generation_call, make_study, make_system

PRICE = {"input": 1.0, "output": 10.0}
"""US dollars for a million tokens."""


def make_generation_run(**fields: Any) -> GenerationRun:
    dataset = fields.pop("dataset", None) or make_dataset()
    return GenerationRun.objects.create(
        dataset=dataset, **{"plan": {"dataset": dataset.slug}, "created_at": NOW} | fields
    )


def make_labelling_run(**fields: Any) -> LabellingRun:
    dataset = fields.pop("dataset", None) or make_dataset()
    return LabellingRun.objects.create(
        dataset=dataset, **{"plan": {"dataset": dataset.slug}, "created_at": NOW} | fields
    )


def make_judge_run(**fields: Any) -> JudgeRun:
    study = fields.pop("study", None) or make_study()
    return JudgeRun.objects.create(
        study=study, **{"plan": {"study": study.slug}, "created_at": NOW} | fields
    )


def make_priced(**fields: Any) -> System:
    """Return a simulated system whose calls have a price."""
    n = System.objects.count()
    wanted = {"name": f"Simulated {n}", "parameters": {"price": PRICE}} | fields
    return make_system(is_simulated=True, model_id="hosted_vllm/offline-alder", **wanted)


def make_run_of(n: int, *, budget: str | None = None, **fields: Any) -> GenerationRun:
    """Return a run with so many waiting calls of one priced system."""
    run = make_generation_run(
        n_planned=n, budget_usd=None if budget is None else Decimal(budget), **fields
    )
    system = make_priced()
    for _ in range(n):
        make_generation_call(run=run, system=system)
    return run


def most_of_one() -> Decimal:
    """Return the most that a call of the builders can cost."""
    call = make_generation_call(system=make_priced())
    question = generating._question(call, calling.Claim(call.pk, NOW, 1))
    call.delete()
    return budgeting.most_usd(question.request, PRICE)


def make_call_in_flight(
    run: GenerationRun, reserved: str = "0.01", **fields: Any
) -> GenerationCall:
    """Return a claimed call, with what it holds of the run's money."""
    call = make_generation_call(
        run=run,
        **{"state": CallState.CLAIMED, "claimed_at": NOW, "attempts": 1}
        | {"reserved_usd": Decimal(reserved)}
        | fields,
    )
    run.reserved_usd += call.reserved_usd
    run.save(update_fields=["reserved_usd"])
    return call
