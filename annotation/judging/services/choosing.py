"""Choose what a rater is shown next: a pair that counts, a planted one, or one seen before.

Which of these comes at which place is drawn from the study's seed and the rater's key (ADR-0005),
two secrets of the site: nobody else can foretell it, and the site can draw it again.
"""

from collections.abc import Iterator

from django.db.models import Exists, OuterRef, QuerySet

from annotation.assignment import design
from annotation.choices import PlanKind, Side
from annotation.models import Comparison, Lease, QualityCheck, Rater
from annotation.studies import queries as study_queries
from annotation.studies.queries import RaterHistory
from completions.choices import LeaseOutcome
from completions.leases.compiled import Compiled

REPEAT_GAP = 4
"""How many pairs later a pair is repeated, at the earliest."""
DRAWS = 5
"""How often an adaptive plan draws before it takes whatever is free."""


def choose_next(rater: Rater, history: RaterHistory) -> Lease | None:
    """Return a lease of what the rater is shown next, with its row locked if it takes a slot.

    It says what is shown, why and on which side, is not stored, and lacks the rest: see
    ``leasing.complete``. None if nothing is left for this rater.
    """
    place = design.Place(rater.study.seed, rater.drawn_by, history.number + 1)
    checks = study_queries.content_of(rater.study)["checks"]
    planted: Lease | None = None
    if design.is_check_due(place, rate=checks["rate"]):
        planted = choose_check(rater, history)
    elif design.is_repeat_due(place, rate=checks["repeat_rate"], gap=REPEAT_GAP):
        planted = _choose_repeat(rater, history)
    return planted or _choose_main(rater, history, place)


def choose_check(
    rater: Rater, history: RaterHistory, *, is_screening: bool = False
) -> Lease | None:
    """Return a planted pair that the rater has not had, in this rater's order, or None."""
    waiting = WAITING.all(rater=rater.pk, study=rater.study_id, writer=rater.writer_id)
    by_key = {check.comparison.key: check for check in waiting}
    order = design.shuffled(by_key, seed=rater.study.seed, rater=rater.drawn_by)
    if not order:
        return None
    last = history.last_context
    fresh = [key for key in order if by_key[key].comparison.context_id != last]
    check = _check_to_show(by_key[(fresh or order)[0]].pk)
    first_is_a = design.planted_first_goes_to_a(
        seed=rater.study.seed,
        pair=check.comparison.key,
        rater=rater.drawn_by,
        rater_shown=history.shown,
    )
    return Lease(
        rater=rater,
        comparison=check.comparison,
        first_side=Side.A if first_is_a else Side.B,
        quality_check=check,
        is_screening=is_screening,
    )


def _waiting(*, rater: int, study: int, writer: int | None) -> QuerySet[QualityCheck]:
    had = Lease.objects.filter(comparison=OuterRef("comparison"), rater=rater)
    checks = QualityCheck.objects.select_related("comparison").filter(
        ~Exists(had),
        study_queries.not_reported_by(Rater(pk=rater), "comparison__context"),
        study_queries.not_written_for_by(writer, "comparison__context"),
        comparison__study=study,
        comparison__held_at=None,
        is_active=True,
    )
    return checks.only("comparison__key", "comparison__context")


WAITING = Compiled(_waiting, rater=int, study=int, writer=int)


def _check_to_show(pk: int) -> QualityCheck:
    check = CHECK_TO_SHOW.first(check=pk)
    if check is None:
        raise QualityCheck.DoesNotExist
    return check


def _check_and_texts(*, check: int) -> QuerySet[QualityCheck]:
    return study_queries.with_texts(QualityCheck.objects.filter(pk=check), "comparison__")


CHECK_TO_SHOW = Compiled(_check_and_texts, check=int)


def _choose_repeat(rater: Rater, history: RaterHistory) -> Lease | None:
    """Return the rater's earliest pair that was not repeated yet, with the sides exchanged."""
    earlier = TO_REPEAT.first(
        rater=rater.pk,
        writer=rater.writer_id,
        last_context=history.last_context,
        newest=history.number + 1 - REPEAT_GAP,
    )
    if earlier is None:
        return None
    side = Side.B if earlier.first_side == Side.A else Side.A
    return Lease(rater=rater, comparison=earlier.comparison, first_side=side, repeats=earlier)


def _to_repeat(
    *, rater: int, writer: int | None, last_context: int | None, newest: int
) -> QuerySet[Lease]:
    return (
        study_queries.leases_to_show()
        .filter(
            study_queries.not_reported_by(Rater(pk=rater), "comparison__context"),
            study_queries.not_written_for_by(writer, "comparison__context"),
            rater=rater,
            outcome=LeaseOutcome.SUBMITTED,
            quality_check=None,
            repeats=None,
            repeated_by=None,
            comparison__held_at=None,
            number__lte=newest,
        )
        .exclude(comparison__context=last_context)
        .order_by("number")[:1]
    )


TO_REPEAT = Compiled(_to_repeat, rater=int, writer=int, last_context=int, newest=int)


def _choose_main(rater: Rater, history: RaterHistory, place: design.Place) -> Lease | None:
    """Lock a comparison that counts, and draw its side."""
    found = _draw_by_weight(rater, history, place) or next(
        ((row, None) for row in _claimable(rater, history, place)), None
    )
    if found is None:
        return None
    comparison, probability = found
    first_is_a = design.first_goes_to_a(
        seed=rater.study.seed,
        pair=comparison.key,
        shown=(comparison.shown_first_as_a, comparison.shown_first_as_b),
        rater_shown=history.shown,
    )
    return Lease(
        rater=rater,
        comparison=comparison,
        first_side=Side.A if first_is_a else Side.B,
        pair_first_as_a=comparison.shown_first_as_a,
        pair_first_as_b=comparison.shown_first_as_b,
        sampling_probability=probability,
    )


def _claimable(rater: Rater, history: RaterHistory, place: design.Place) -> Iterator[Comparison]:
    """Yield locked comparisons to take a slot of, best first.

    From a drawn place in the order onwards, then from the start; another context than last time
    if there is one. A row that nobody holds is preferred; a held one is waited for only when
    every free row is held, so "nothing left" is never said while rows are merely busy.
    """
    found = ONWARDS.first(
        rater=rater.pk,
        study=rater.study_id,
        writer=rater.writer_id,
        last_context=history.last_context,
        start=design.place_to_start(place),
    )
    if found is not None:
        yield found
    free = study_queries.open_comparisons(rater)
    for rows in (_fresh(free, history.last_context), free) if history.last_context else (free,):
        yield from _first(rows, skip_locked=True)
    yield from _first(free, skip_locked=False)


def _onwards(
    *, rater: int, study: int, writer: int | None, last_context: int | None, start: int
) -> QuerySet[Comparison]:
    someone = Rater(pk=rater, study_id=study, writer_id=writer)
    free = _fresh(study_queries.open_comparisons(someone), last_context)
    return _first(free.filter(position__gte=start), skip_locked=True)


ONWARDS = Compiled(_onwards, rater=int, study=int, writer=int, last_context=int, start=int)


def _draw_by_weight(
    rater: Rater, history: RaterHistory, place: design.Place
) -> tuple[Comparison, float] | None:
    """Draw by the weights of an adaptive plan, and return the row locked, with its probability.

    None in a balanced plan, when nothing is open, or when others hold whatever was drawn.
    """
    if rater.study.plan != PlanKind.ADAPTIVE:
        return None
    free = study_queries.open_comparisons(rater)
    rows = list(_fresh(free, history.last_context).values_list("pk", "weight"))
    for attempt in range(min(DRAWS, len(rows))):
        weights = [weight for _pk, weight in rows]
        drawn = design.draw_weighted(weights, place=place, attempt=attempt)
        pk, weight = rows.pop(drawn)
        for comparison in _first(free.filter(pk=pk), skip_locked=True):
            return comparison, weight / sum(weights)
    return None


def _fresh(free: QuerySet[Comparison], last_context: int | None) -> QuerySet[Comparison]:
    return free.exclude(context=last_context) if last_context else free


def _first(rows: QuerySet[Comparison], *, skip_locked: bool) -> QuerySet[Comparison]:
    # no_key: rows that refer to this one, judgments above all, are stored without waiting for it.
    return study_queries.with_texts(rows).select_for_update(
        skip_locked=skip_locked, of=("self",), no_key=True
    )[:1]
