"""Plan the rewrites that are missing, and the steps between the states of a rewrite."""

import datetime as dt
import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Q, QuerySet

from completions.choices import (
    CallState,
    EscalationProfile,
    Review,
    RewriteState,
    RewriteStep,
    Stratum,
)
from completions.contexts import adversarial, questions, selection
from completions.contexts.services.building import as_candidate
from completions.models import Assistant, Context, Dataset, Rewrite, RewriteCall
from completions.runs.services import states

SOURCE_DROPPED = "Its source was dropped in review."


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


class NoSourceLeftError(ValueError):
    """Fewer adversarial contexts can be made than were asked for."""


@transaction.atomic
def plan(dataset: Dataset, n: int, seed: int, assistants: Assistants, now: dt.datetime) -> bool:
    """Plan what is missing to ``n``, and say whether any rewrite is under way.

    Raises
    ------
    NoSourceLeftError
        If nothing is under way and the sources that are left are too few.
    """
    Dataset.objects.select_for_update().get(pk=dataset.pk)  # one planner at a time
    living = [*assistants.under_way(dataset).select_related("source_context__dialogue")]
    made = assistants.made(dataset).select_related("source_context__dialogue")
    profiles_had = Counter([one.profile for one in living])
    profiles_had.update(context.escalation_profile for context in made)
    sources = [one.source_context for one in living]
    sources += [one.source_context for one in made if one.source_context is not None]
    try:
        chosen = _choose(dataset, n, seed, sources)
    except NoSourceLeftError:
        if not living:
            raise
        chosen = []  # first what is under way is brought to its end
    for source, profile in zip(chosen, _profiles(profiles_had, len(chosen)), strict=True):
        _begin(source, profile, assistants, now)
    return bool(living or chosen)


def _choose(dataset: Dataset, n: int, seed: int, sources: Sequence[Context]) -> list[Context]:
    """Choose further sources by cells, in seeded order; none that was tried before."""
    tried = Rewrite.objects.filter(source_context__dataset=dataset).values("source_context")
    regular = dataset.contexts.in_use().filter(stratum=Stratum.REGULAR).exclude(pk__in=tried)
    fit = {as_candidate(one): one for one in regular.select_related("dialogue") if _is_fit(one)}
    taken = [as_candidate(one) for one in sources]
    weights = Counter(one.cell for one in (*fit, *taken))
    try:
        chosen = selection.select(fit, n=n, seed=seed, weights=weights, taken=taken)
    except selection.SelectionError as error:
        msg = (
            f"{n} adversarial contexts were asked for and {len(taken)} are made; "
            f"{len(fit)} regular contexts are left that open with a supporter's greeting, take "
            f"turns and have {adversarial.SHORTEST} seeker turns, {tried.count()} were tried"
        )
        raise NoSourceLeftError(msg) from error
    return sorted((fit[one] for one in chosen), key=lambda one: _draw(one, seed))


def _is_fit(context: Context) -> bool:
    n_seeker = len(questions.seekers(context.turns))
    return n_seeker >= adversarial.SHORTEST and adversarial.is_fit_to_rewrite(context.turns)


def _draw(context: Context, seed: int) -> bytes:
    place = f"{context.dialogue.content_hash} {context.turn_index}"
    return hashlib.sha256(f"rewrite {seed} {place}".encode()).digest()


def _profiles(had: Counter[str], n: int) -> Iterable[str]:
    """Yield ``n`` profiles so that all come out as evenly as possible."""
    counts = Counter({str(profile): had[str(profile)] for profile in EscalationProfile})
    for _ in range(n):
        rarest = min(counts, key=lambda profile: counts[profile])
        counts[rarest] += 1
        yield rarest


def _begin(source: Context, profile: str, assistants: Assistants, now: dt.datetime) -> None:
    rewrite = Rewrite.objects.create(
        source_context=source,
        profile=profile,
        rewriter=assistants.rewriter,
        hostility_rater=assistants.hostility_rater,
        target=adversarial.targets(profile, len(questions.seekers(source.turns))),
        created_at=now,
    )
    ask_for(rewrite, RewriteStep.WRITE, 1, now)


ROLES = {
    RewriteStep.WRITE: ("rewriter", "hostility_rater"),
    RewriteStep.RATE: ("hostility_rater",),
}
"""Whom a step asks, and who comes after."""


def take_up_refused(dataset: Dataset, assistants: Assistants) -> None:
    """Have what a provider refused asked again, by the assistants that are asked now.

    A text is written and rated by whom its rewrite names: only who is still to answer changes.
    """
    for call in _refused(dataset, assistants):
        roles = ROLES[RewriteStep(call.step)]
        asked_now = {role: getattr(assistants, role) for role in roles}
        Rewrite.objects.filter(pk=call.rewrite_id).update(**asked_now)
        states.ask_again(RewriteCall.objects.filter(pk=call.pk))


def settle(dataset: Dataset, assistants: Assistants, now: dt.datetime) -> None:
    """Drop the rewrites that cannot go on: a call failed for good, or a person dropped the source.

    Raises
    ------
    ProviderRefusesError
        If a provider takes no question, whatever it is about: that uses up no source.
    """
    for rewrite in assistants.under_way(dataset).filter(source_context__review=Review.DROPPED):
        drop(rewrite, SOURCE_DROPPED, now)
    refused = _refused(dataset, assistants)
    failed = _failed(dataset, assistants).exclude(pk__in=[call.pk for call in refused])
    for call in failed:
        drop(call.rewrite, f"The provider failed: {call.error_kind}.", now)
    if refused:
        raise states.refusal(refused[0])


def _failed(dataset: Dataset, assistants: Assistants) -> QuerySet[RewriteCall]:
    failed = assistants.calls(dataset).filter(state=CallState.FAILED)
    return failed.select_related("rewrite").order_by("pk")


def _refused(dataset: Dataset, assistants: Assistants) -> list[RewriteCall]:
    """Return the failed calls that would have failed with any other dialogue."""
    return [
        call
        for call in _failed(dataset, assistants)
        if states.refused(_to_the_same(call)).filter(pk=call.pk).exists()
    ]


def _to_the_same(call: RewriteCall) -> QuerySet[RewriteCall]:
    """Return all calls of this step to the same model."""
    role, *_ = ROLES[RewriteStep(call.step)]
    who = {f"rewrite__{role}": getattr(call.rewrite, f"{role}_id")}
    return RewriteCall.objects.filter(step=call.step, **who)
