"""The rows of a rewrite: which there are, and the small steps between their states."""

import datetime as dt
from dataclasses import dataclass

from django.db.models import Q, QuerySet

from completions.choices import RewriteState, Stratum
from completions.models import Assistant, Context, Dataset, Rewrite, RewriteCall


@dataclass(frozen=True)
class Assistants:
    """Who rewrites, and who rates what was rewritten."""

    rewriter: Assistant
    hostility_rater: Assistant

    @property
    def are_simulated(self) -> bool:
        """Whether contexts that they make are for trying out only."""
        return self.rewriter.is_simulated or self.hostility_rater.is_simulated

    def of(self, dataset: Dataset) -> Q:
        """Return the condition on rewrites whose assistants are real and simulated as these are."""
        return Q(
            source_context__dataset=dataset,
            rewriter__is_simulated=self.rewriter.is_simulated,
            hostility_rater__is_simulated=self.hostility_rater.is_simulated,
        )

    def made(self, dataset: Dataset) -> QuerySet[Context]:
        """Return the contexts in use that equally real or simulated assistants made."""
        return dataset.contexts.in_use().filter(
            stratum=Stratum.ADVERSARIAL,
            source_context__isnull=False,
            is_simulated=self.are_simulated,
        )

    def under_way(self, dataset: Dataset) -> QuerySet[Rewrite]:
        """Return the rewrites that such assistants have not brought to an end."""
        return Rewrite.objects.filter(self.of(dataset), state=RewriteState.PLANNED)

    def calls(self, dataset: Dataset) -> QuerySet[RewriteCall]:
        """Return the questions about these: a simulated run never asks a model that costs."""
        return RewriteCall.objects.filter(rewrite__in=self.under_way(dataset))


def ask_for(rewrite: Rewrite, step: str, number: int, now: dt.datetime) -> None:
    """Add the question of one step and round."""
    RewriteCall.objects.create(rewrite=rewrite, step=step, round=number, created_at=now)


def drop(rewrite: Rewrite, reason: str, now: dt.datetime) -> None:
    """End a rewrite that is under way, with the reason."""
    Rewrite.objects.filter(pk=rewrite.pk, state=RewriteState.PLANNED).update(
        state=RewriteState.DROPPED, reason=reason, ended_at=now
    )
