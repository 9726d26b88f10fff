"""Plan the rewrites that are missing: from which contexts, and after which profiles."""

import datetime as dt
import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence

from django.db import transaction

from completions.choices import EscalationProfile, RewriteStep, Stratum
from completions.contexts import adversarial, selection
from completions.contexts.adversarial import profiles
from completions.contexts.services.building import as_candidate
from completions.contexts.services.rewriting.rows import Assistants, ask_for
from completions.models import Context, Dataset, Rewrite


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
            f"turns and have {profiles.SHORTEST} seeker turns, {tried.count()} were tried"
        )
        raise NoSourceLeftError(msg) from error
    return sorted((fit[one] for one in chosen), key=lambda one: _draw(one, seed))


def _is_fit(context: Context) -> bool:
    n_seeker = len(adversarial.seekers(context.turns))
    return n_seeker >= profiles.SHORTEST and adversarial.is_fit_to_rewrite(context.turns)


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
        target=profiles.targets(profile, len(adversarial.seekers(source.turns))),
        created_at=now,
    )
    ask_for(rewrite, RewriteStep.WRITE, 1, now)
