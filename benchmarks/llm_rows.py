"""Rows for benchmarks.llm: contexts and comparisons once, models anew for every measurement."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from annotation.judges.services.runs import Asking, start_judge_run
from annotation.models import JudgeCall, Study
from annotation.studies.rubric import load_rubric
from completions.choices import CallState
from completions.generation.services import start_generation_run
from completions.models import Dataset, GenerationCall
from tests.helpers.factories import (
    make_comparison,
    make_context,
    make_dataset,
    make_dialogue,
    make_judge,
    make_study,
    make_system,
)

MODELS, JUDGES, ORDERS = 4, 2, 2
_serial = count(1)


@dataclass(frozen=True)
class Work:
    """One kind of calls: how they are planned, what makes them, and where they are."""

    task: str
    plan: Callable[[], None]
    calls: "QuerySet[Any]"

    @property
    def n_open(self) -> int:
        """Return how many calls are still to end."""
        return self.calls.filter(ended_at=None).count()

    @property
    def n_done(self) -> int:
        """Return how many calls were answered in a way that can be used."""
        return self.calls.filter(state=CallState.DONE).count()


@dataclass
class Rows:
    """What is there to be asked about."""

    n_calls: int
    dataset: Dataset = field(default_factory=make_dataset)
    study: Study = field(
        default_factory=lambda: make_study(content={"rubric": load_rubric("heart-1").content()})
    )

    def __post_init__(self) -> None:
        """Make enough contexts and comparisons."""
        for _context in range(self.n_calls // MODELS):
            make_context(dialogue=make_dialogue(dataset=self.dataset))
        for _comparison in range(self.n_calls // (JUDGES * ORDERS)):
            make_comparison(study=self.study)

    def work(self) -> dict[str, Work]:
        """Return the kinds of calls by name."""
        ask, judge = "completions.tasks.generate_completions", "annotation.tasks.ask_judges"
        return {
            "completions": Work(ask, self.plan_completions, GenerationCall.objects.all()),
            "judges": Work(judge, self.plan_verdicts, JudgeCall.objects.all()),
        }

    def plan_completions(self) -> None:
        """Have new systems complete every context, in a run."""
        systems = [make_system(**_simulated("offline-alder")) for _ in range(MODELS)]
        start_generation_run(dataset=self.dataset, systems=systems, now=timezone.now())

    def plan_verdicts(self) -> None:
        """Have new judges judge every comparison in both orders, in a run."""
        judges = [make_judge(**_simulated("offline-judge-alder")) for _ in range(JUDGES)]
        asking = Asking(both_orders=True)
        start_judge_run(study=self.study, judges=judges, now=timezone.now(), asking=asking)


def _simulated(model: str) -> dict[str, Any]:
    name = f"Simulated {next(_serial)}"
    return {"is_simulated": True, "name": name, "model_id": f"hosted_vllm/{model}"}
