"""What a rehearsal left in the database, as the pure rules of ``scoring`` take it."""

from collections.abc import Iterable, Iterator

from django.db.models import Avg, Count, Q, QuerySet

from annotation.choices import Expected, Purpose, Side
from annotation.judging.services.choosing import REPEAT_GAP
from annotation.models import (
    Comparison,
    DimensionMark,
    Exclusion,
    Judgment,
    Lease,
    QualityCheck,
    Rater,
    Study,
)
from completions.choices import LeaseOutcome
from completions.dialogues.normaliser import plain
from heart_site.demo.rehearsal.answering import HIGH, LOW
from heart_site.demo.rehearsal.scoring import Draw, Plan, Why

FIRST_BETTER = frozenset({Expected.FIRST, Expected.HIGH})
MAIN = Q(lease__quality_check=None, lease__repeats=None)
GIVEN_BACK = frozenset({LeaseOutcome.EXPIRED, LeaseOutcome.RELEASED, LeaseOutcome.SKIPPED})


def texts_of(study: Study) -> tuple[list[tuple[str, str]], dict[str, float]]:
    """Return the study's texts with their systems, and those of its checks with their strengths."""
    pairs = study.comparisons.select_related("first__system", "second__system").order_by("pk")
    written = {
        (plain(one.text), one.system.slug)
        for pair in pairs.filter(purpose=Purpose.MAIN)
        for one in pair.completions
    }
    return sorted(written), dict(_known_texts(pairs.filter(purpose=Purpose.CHECK)))


def _known_texts(pairs: Iterable[Comparison]) -> Iterator[tuple[str, float]]:
    """Yield the texts of authored checks with how good they are known to be."""
    checks = QualityCheck.objects.filter(comparison__in=pairs)
    expected = dict(checks.values_list("comparison", "expected"))
    for pair in pairs:
        strengths = (HIGH, LOW) if expected[pair.pk] in FIRST_BETTER else (LOW, HIGH)
        for one, strength in zip(pair.completions, strengths, strict=False):
            yield plain(one.text), strength


def read_plan(study: Study) -> Plan:
    """Return what fixes the study's draws."""
    rules = study.content["checks"]
    checks = QualityCheck.objects.filter(comparison__study=study, is_active=True)
    return Plan(
        seed=study.seed,
        check_rate=rules["rate"],
        repeat_rate=rules["repeat_rate"],
        repeat_gap=REPEAT_GAP,
        checks=frozenset(checks.values_list("comparison__key", flat=True)),
    )


def read_draws(study: Study) -> list[Draw]:
    """Return every lease of the study in the order in which they were made.

    A slot counts as given back the moment its lease ran out: a rehearsal sweeps before each act.
    """
    leases = (
        Lease.objects.filter(comparison__study=study)
        .select_related("comparison", "rater", "repeats")
        .order_by("issued_at", "pk")
    )
    counted = Judgment.objects.filter(comparison__study=study, is_surplus=False, revises=None)
    takers = set(counted.values_list("lease", flat=True))
    return [_draw(lease, takes=lease.pk in takers) for lease in leases]


def _draw(lease: Lease, *, takes: bool) -> Draw:
    is_answered = lease.outcome == LeaseOutcome.SUBMITTED
    is_late = is_answered and lease.closed_at is not None and lease.closed_at >= lease.expires_at
    ran_out = is_late or lease.outcome == LeaseOutcome.EXPIRED
    closed_at = lease.closed_at if lease.outcome in GIVEN_BACK else None
    earlier = lease.repeats
    return Draw(
        name=lease.pk,
        why=_why(lease),
        pair=lease.comparison.key,
        rater=lease.rater.drawn_by,
        number=lease.number,
        at=lease.issued_at,
        pair_shown=(lease.pair_first_as_a, lease.pair_first_as_b),
        rater_shown=(lease.rater_first_as_a, lease.rater_first_as_b),
        first_is_a=lease.first_side == Side.A,
        answered_at=lease.closed_at if is_answered else None,
        given_back_at=lease.expires_at if ran_out else closed_at,
        takes_again=is_late and takes,
        earlier_first_is_a=None if earlier is None else earlier.first_side == Side.A,
    )


def _why(lease: Lease) -> Why:
    if lease.is_screening:
        return Why.SCREENING
    if lease.quality_check_id is not None:
        return Why.CHECK
    return Why.MAIN if lease.repeats_id is None else Why.REPEAT


def read_shown(study: Study) -> list[tuple[int, int, bool]]:
    """Return pair and rater of each answer that counts, and whether the first text was A."""
    rows = _counted(study).values_list("comparison", "rater", "first_side")
    return [(pair, rater, side == Side.A) for pair, rater, side in rows]


def count_answers(study: Study) -> dict[str, int]:
    """Count the leases of the study by what became of them, and the answers by why they were."""
    leases = Lease.objects.filter(comparison__study=study)
    is_answered = Q(outcome=LeaseOutcome.SUBMITTED)
    planted, repeated = Q(quality_check__isnull=False), Q(repeats__isnull=False)
    counts = leases.aggregate(
        leases=Count("pk"),
        checks=Count("pk", filter=is_answered & planted),
        repeats=Count("pk", filter=is_answered & repeated),
        skipped=Count("pk", filter=Q(outcome=LeaseOutcome.SKIPPED)),
        expired=Count("pk", filter=Q(outcome=LeaseOutcome.EXPIRED)),
    )
    surplus = Judgment.objects.filter(comparison__study=study, is_surplus=True, revises=None)
    return counts | {"surplus": surplus.count(), "main": _counted(study).count()}


def states(study: Study) -> dict[str, str]:
    """Return where each rater ended, by their platform's id."""
    return dict(Rater.objects.filter(study=study).values_list("external_id", "state"))


def judged_by(study: Study) -> set[str]:
    """Return the platform's ids of those with an answer that counts."""
    return set(_counted(study).values_list("rater__external_id", flat=True))


def excluded(study: Study) -> set[str]:
    """Return the platform's ids of those excluded now."""
    decisions = Exclusion.objects.filter(rater__study=study).order_by("decided_at", "pk")
    newest = dict(decisions.values_list("rater__external_id", "is_excluded"))
    return {name for name, is_excluded in newest.items() if is_excluded}


def mean_points(study: Study) -> dict[str, float]:
    """Return the mean of all points that raters who are not excluded gave each system."""
    marks = DimensionMark.objects.filter(judgment__in=_counted(study)).exclude(
        judgment__rater__external_id__in=excluded(study)
    )
    system = "judgment__comparison__first__system__slug"
    means = marks.values_list(system).annotate(mean=Avg("advantage")).order_by(system)
    return {slug: float(mean) for slug, mean in means}


def n_over_quota(study: Study) -> int:
    """Return how many comparisons have more answers that count than the study asks for."""
    counts = _counted(study).values("comparison").annotate(n=Count("pk")).order_by()
    return counts.filter(n__gt=study.judgments_per_pair).count()


def n_judged_twice(study: Study) -> int:
    """Return how often a rater has two answers that count to one comparison."""
    counts = _counted(study).values("comparison", "rater").annotate(n=Count("pk")).order_by()
    return counts.filter(n__gt=1).count()


def _counted(study: Study) -> QuerySet[Judgment]:
    """Return the first answers to main leases that are not surplus."""
    return Judgment.objects.filter(
        MAIN, comparison__study=study, rater__isnull=False, revises=None, is_surplus=False
    )
