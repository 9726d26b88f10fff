"""What has to hold in the database after a run, whatever the load was."""

from collections.abc import Collection, Iterator

from django.db.models import Count, F, Q
from django.db.models.functions import Abs

from annotation.choices import Purpose
from annotation.models import Comparison, Judgment, Study
from completions.choices import LeaseOutcome

MAIN = Q(leases__quality_check=None, leases__repeats=None)


def broken(study: Study, acknowledged: Collection[str]) -> Iterator[tuple[str, int]]:
    """Yield each rule with the number of rows that break it.

    ``acknowledged`` are the tokens of the answers that the site said it had.
    """
    main = Comparison.objects.filter(study=study, purpose=Purpose.MAIN)
    counted = Q(judgments__is_surplus=False, judgments__revises=None) & Q(
        judgments__lease__quality_check=None, judgments__lease__repeats=None
    )
    judged = main.annotate(n=Count("judgments", filter=counted))
    yield "comparisons over their quota", judged.filter(n__gt=study.judgments_per_pair).count()
    held = MAIN & Q(leases__outcome__in=("", LeaseOutcome.SUBMITTED))
    leased = main.annotate(n=Count("leases", filter=held))
    wrong = leased.exclude(slots_left=study.judgments_per_pair - F("n"))
    yield "comparisons whose free slots are miscounted", wrong.count()
    judgments = Judgment.objects.filter(comparison__study=study, revises=None)
    counting = judgments.filter(lease__quality_check=None, lease__repeats=None)
    twice = counting.values("rater", "comparison").annotate(n=Count("pk")).filter(n__gt=1)
    yield "raters twice on a comparison", twice.count()
    stored = {str(token) for token in judgments.values_list("lease__token", flat=True)}
    yield "acknowledged answers that are missing", len(set(acknowledged) - stored)
    apart = Abs(F("shown_first_as_a") - F("shown_first_as_b"))
    yield "pairs whose sides are out of balance", main.annotate(d=apart).filter(d__gt=1).count()
