"""How a dataset's dialogues become contexts, counted at every step: reads."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

from django.db.models import Count, QuerySet

from completions.choices import CallState, EscalationProfile, Review, RewriteState, Stratum
from completions.contexts import funnel_counts
from completions.contexts.funnel_counts import (
    DialogueRow,
    Funnel,
    ProfileCount,
    ReasonCount,
    Rewriting,
    ScreenedCounts,
)
from completions.dialogues import couplets
from completions.models import Candidate, Dataset, Rewrite, ScreeningCall

_Context: TypeAlias = tuple[int, str, str, bool]
"""Dialogue, stratum, review, whether it is simulated."""


OUTCOMES = ("agreed", "disagreed", "invalid", "failed", "waiting")
"""What becomes of second opinions."""


def page_parts(dataset: Dataset) -> dict[str, Any]:
    """Return what the page of a funnel shows: its counts, their picture, and every rewrite."""
    counted = funnel_of(dataset)
    return {
        "dataset": dataset,
        "funnel": counted,
        "picture": funnel_counts.picture(counted),
        "rewrites": rewrites_of(dataset),
    }


def funnel_of(dataset: Dataset) -> Funnel:
    """Count the dataset's way, however far it has come, in five queries."""
    dialogues = _dialogues(dataset)
    candidates = list(
        Candidate.objects.filter(dialogue__dataset=dataset)
        .order_by()
        .values_list("dialogue", "rules", "reasons", "is_suitable")
    )
    contexts = list(
        dataset.contexts.order_by().values_list("dialogue", "stratum", "review", "is_simulated")
    )
    suitable = [dialogue for dialogue, _, _, is_suitable in candidates if is_suitable]
    chosen = [one[0] for one in _in_use(contexts, Stratum.REGULAR)]
    parts = partial(funnel_counts.parts, dialogues, suitable, chosen)
    source = funnel_counts.source(dialogues)
    screened = funnel_counts.screened(dialogues, candidates)
    rewriting, reviews = _rewriting(dataset, contexts), _reviews(contexts)
    return Funnel(
        dataset=dataset.slug,
        source=source,
        screened=screened,
        chosen={"contexts": len(chosen), "dialogues": len(set(chosen))},
        emotions=parts(by=lambda cell: (cell[0], None)),
        cells=parts(by=lambda cell: cell),
        rewriting=rewriting,
        opinions=_opinions(dataset),
        reviews=reviews,
        next_steps=tuple(
            {"why": why, "act": act}
            for why, act in _next_steps(source, screened, rewriting, reviews)
        ),
    )


def _dialogues(dataset: Dataset) -> dict[int, DialogueRow]:
    rows = dataset.dialogues.order_by().values_list(
        "pk", "emotion_type", "problem_type", "language", "n_utterances", "turns"
    )
    return {
        pk: DialogueRow((emotion, problem), language, n, len(turns), len(couplets.couplets(turns)))
        for pk, emotion, problem, language, n, turns in rows.iterator()
    }


def _in_use(contexts: Sequence[_Context], stratum: Stratum) -> list[_Context]:
    return [one for one in contexts if one[1] == stratum and one[2] != Review.DROPPED]


def _rewriting(dataset: Dataset, contexts: Sequence[_Context]) -> Rewriting:
    rows = (
        Rewrite.objects.filter(source_context__dataset=dataset)
        .values_list("profile", "state", "reason")
        .order_by()
        .annotate(n=Count("pk"))
    )
    ended, reasons = Counter[tuple[str, str]](), Counter[str]()
    for profile, state, reason, n in rows:
        ended[profile, state] += n
        if reason:
            reasons[reason] += n
    most_first = sorted(reasons, key=lambda reason: (-reasons[reason], reason))
    profiles = tuple(_profile(ended, profile) for profile in EscalationProfile)
    adversarial = _in_use(contexts, Stratum.ADVERSARIAL)
    return Rewriting(
        planned=ended.total(),
        under_way=sum(one.under_way for one in profiles),
        accepted=sum(one.accepted for one in profiles),
        dropped=sum(one.dropped for one in profiles),
        reasons=tuple(ReasonCount(reason, reasons[reason]) for reason in most_first),
        profiles=profiles,
        contexts=len(adversarial),
        simulated_contexts=sum(is_simulated for *_, is_simulated in adversarial),
    )


def _profile(ended: Counter[tuple[str, str]], profile: EscalationProfile) -> ProfileCount:
    states = (RewriteState.PLANNED, RewriteState.ACCEPTED, RewriteState.DROPPED)
    counts = [ended[profile, state] for state in states]
    return ProfileCount(str(profile), sum(counts), *counts)


def _opinions(dataset: Dataset) -> dict[str, int]:
    """Compare each opinion with what the rules say of the candidate now."""
    rows = ScreeningCall.objects.filter(candidate__dialogue__dataset=dataset).values_list(
        "state", "opinion", "candidate__is_suitable", "assistant__is_simulated"
    )
    outcomes, by_simulated = Counter[str](), 0
    for state, opinion, is_suitable, is_simulated in rows.order_by().iterator():
        by_simulated += is_simulated
        outcomes[opinion_outcome(state, opinion, is_suitable=is_suitable)] += 1
    counts = {name: outcomes[name] for name in OUTCOMES}
    return {"asked": outcomes.total(), "by_simulated": by_simulated, **counts}


def opinion_outcome(state: str, opinion: Mapping[str, object], *, is_suitable: bool) -> str:
    """Say what became of a second opinion: one of ``OUTCOMES``."""
    if state == CallState.FAILED:
        return "failed"
    if state == CallState.INVALID:
        return "invalid"
    if state != CallState.DONE:
        return "waiting"
    return "agreed" if opinion["qualifies"] is is_suitable else "disagreed"


def _reviews(contexts: Sequence[_Context]) -> dict[str, int]:
    counts = Counter(review for _, _, review, _ in contexts)
    return {review.lower(): counts[review] for review in Review.values}


def _next_steps(
    source: Mapping[str, int],
    screened: ScreenedCounts,
    rewriting: Rewriting,
    reviews: Mapping[str, int],
) -> Iterator[tuple[str, str]]:
    """Yield what can be done now, the first thing first: why, and which act."""
    n_contexts = sum(reviews.values())
    if not source["dialogues"]:
        yield "No dialogues yet.", "import"
        return
    if not screened.candidates:
        yield "Nothing is screened yet.", "build"
    elif screened.outdated or screened.candidates < source["couplets"]:
        yield "Not everything was screened by the rules as they are now.", "build"
    elif not n_contexts:
        yield "No contexts are chosen yet.", "build"
    if n_contexts and not rewriting.planned and not rewriting.contexts:
        yield "There are no adversarial contexts.", "rewrite"
    if reviews["pending"]:
        yield "Contexts wait to be read by a person.", "review"


def rewrites_of(dataset: Dataset) -> QuerySet[Rewrite]:
    """Return every rewrite of the dataset's contexts, with both contexts and both assistants."""
    rewrites = Rewrite.objects.filter(source_context__dataset=dataset)
    parties = ("source_context", "context", "rewriter", "hostility_rater")
    return rewrites.select_related(*parties).order_by("state", "profile", "pk")
