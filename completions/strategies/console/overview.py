"""The console's overview of strategies: how far labelling is, and what the spot checks say."""

from dataclasses import dataclass

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from access.roles import StaffRequest, members_only
from completions.contexts.console_http import staff_page
from completions.models import Dataset, SpotCheck
from completions.strategies import spot_queries
from completions.strategies.rules import LabelScore, Scores
from completions.strategies.spot_queries import Ledger, Phase
from completions.strategies.spot_shown import names_of


@dataclass(frozen=True)
class Labeller:
    """One of the two people, and how far they are."""

    name: str
    n_done: int


@dataclass(frozen=True)
class CheckShown:
    """A spot check with where it stands, and where the person who looks goes on."""

    pk: int
    assistant: str
    is_simulated: bool
    codebook: str
    seed: str
    phase: str
    n_items: int
    n_deleted: int
    labellers: tuple[Labeller, ...]
    may_label: bool
    to_label: int | None
    """Where the person goes on labelling, from 1."""
    n_differing: int
    n_settled: int
    to_settle: int | None
    scores: Scores | None
    rows: tuple[tuple[str, LabelScore], ...]
    """The scores by the strategy's name."""

    @classmethod
    def of(cls, check: SpotCheck, person: User) -> "CheckShown":
        """Return the spot check as this person may see it."""
        ledger = spot_queries.ledger_of(check)
        scores = spot_queries.scores_of(check, ledger)
        names = names_of(check)
        return cls(
            pk=check.pk,
            assistant=check.assistant.name,
            is_simulated=check.assistant.is_simulated,
            codebook=check.codebook,
            seed=check.seed,
            phase=ledger.phase,
            n_items=len(ledger.positions),
            n_deleted=ledger.n_deleted,
            labellers=_labellers(ledger),
            may_label=ledger.may_label(person.pk),
            to_label=_number(ledger.next_to_label(person.pk)),
            n_differing=len(ledger.differing),
            n_settled=len(ledger.differing) - len(ledger.unsettled),
            to_settle=_number(ledger.next_to_settle()),
            scores=scores,
            rows=tuple((names[one.strategy], one) for one in scores.labels) if scores else (),
        )


@require_safe
@never_cache
@members_only()
def datasets(request: HttpRequest) -> HttpResponse:
    """List the datasets with how far their labelling is."""
    parts = {"datasets": spot_queries.dataset_rows()}
    return render(request, "console/strategies/datasets.html", parts)


@require_safe
@staff_page
def overview(request: StaffRequest, dataset: Dataset) -> HttpResponse:
    """Show how far assistants are, and every spot check."""
    checks = spot_queries.spot_checks(dataset)
    parts = {
        "dataset": dataset,
        "asked": spot_queries.asked_of(dataset),
        "checks": [CheckShown.of(check, request.user) for check in checks],
        "phases": Phase,
    }
    return render(request, "console/strategies/overview.html", parts)


def _labellers(ledger: Ledger) -> tuple[Labeller, ...]:
    names = spot_queries.names_of_people(ledger)
    return tuple(Labeller(names[pk], ledger.n_labelled(pk)) for pk in ledger.people)


def _number(position: int | None) -> int | None:
    return None if position is None else position + 1
