"""What became of everything that evaluators were asked: one place per call, so that they sum."""

import datetime as dt
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from django.db.models import Count, Exists, OuterRef, Q
from django.utils.translation import gettext_lazy as _

from annotation.choices import Protocol, Purpose
from annotation.judges import queries, verdict_queries
from annotation.judges.ensembles import Account, Fate, VoteStatus, judge_verdict
from annotation.judges.verdict_queries import JudgeAccountRow
from annotation.models import Judgment, Lease, Study
from completions.choices import LeaseOutcome
from ranking.judgments import analysis_set

ALWAYS = dt.datetime.max.replace(tzinfo=dt.UTC)
UNREADABLE = (Fate.INVALID, Fate.TRUNCATED, Fate.EMPTY)
UNASKED = (Fate.WAITING, Fate.IN_FLIGHT)
CLASSES = {
    "n_preferences": _("Preference"),
    "n_ties": _("Tie"),
    "n_unsettled": _("Unsettled by order"),
    "n_left_out": _("Left out"),
    "n_refused": _("Refused"),
    "n_malformed": _("Not readable"),
    "n_timed_out": _("Timed out"),
    "n_other": _("Failed otherwise"),
    "n_waiting": _("Not answered yet"),
}
"""The places in the order they are shown, with their headings; the cells are those of a row."""


@dataclass(frozen=True)
class AccountRow:
    """What became of the calls to one judge, or of the pairs that were handed to people.

    ``slug`` is the judge's, or empty for people. The answers that count for ratings are
    preferences, ties and those unsettled by order: of the last, the two orders of display named
    different winners. Left out are answers by excluded evaluators, beyond the number wanted, taken
    back, or about texts that were deleted since. ``others`` counts other failures by kind.
    """

    slug: str
    name: str
    is_simulated: bool
    is_excluded: bool
    n_calls: int
    n_preferences: int = 0
    n_ties: int = 0
    n_unsettled: int = 0
    n_left_out: int = 0
    n_refused: int = 0
    n_malformed: int = 0
    n_timed_out: int = 0
    n_waiting: int = 0
    others: Mapping[str, int] = field(default_factory=dict)

    @property
    def n_other(self) -> int:
        """How many failed in another way."""
        return sum(self.others.values())

    @property
    def cells(self) -> tuple[int, ...]:
        """The places in the order of ``CLASSES``; they sum to the calls."""
        return tuple(getattr(self, name) for name in CLASSES)


def verdict_accounting(study: Study) -> tuple[AccountRow, ...]:
    """Return the account of each LLM judge by name, then of people together, as of now.

    Eight queries, in which no call comes singly.
    """
    rows = verdict_queries.judge_rows(study, queries.panel_of(study))
    for (judge, is_erased, replies), n in queries.alike_tallies(study):
        status = judge_verdict(replies).status
        rows[judge].count_answers(n * replies.n_valid, status, is_erased=is_erased)
    people = _of_people(study)
    return (*map(_of_judge, rows.values()), *([people] if people.n_calls else []))


def _of_judge(row: JudgeAccountRow) -> AccountRow:
    account, answers = row.account, row.answers
    answered = account.n(Fate.VALID)
    tied, unsettled = answers[VoteStatus.TIED], answers[VoteStatus.UNSETTLED]
    counted = {
        "n_preferences": answered - tied - unsettled - row.n_erased,
        "n_ties": tied,
        "n_unsettled": unsettled,
        "n_left_out": row.n_erased,
    }
    return AccountRow(
        slug=row.judge.slug,
        name=row.judge.name,
        is_simulated=row.judge.is_simulated,
        is_excluded=row.is_excluded,
        n_calls=account.n_calls,
        n_refused=account.n(Fate.REFUSED),
        n_malformed=_sum(account, UNREADABLE),
        n_timed_out=account.n(Fate.TIMED_OUT),
        n_waiting=_sum(account, UNASKED),
        others=account.others,
        **({"n_left_out": answered} if row.is_excluded else counted),
    )


def _sum(account: Account, fates: tuple[Fate, ...]) -> int:
    return sum(account.n(fate) for fate in fates)


def _of_people(study: Study) -> AccountRow:
    """Count what became of the pairs handed out; a skip is a refusal, a lease that ran out is late.

    An answer that came late counts as an answer, and the rating of a message alone as one that
    names a preference.
    """
    answer = Judgment.objects.filter(lease=OuterRef("pk"))
    leases = Lease.objects.filter(
        comparison__study=study,
        comparison__purpose=Purpose.MAIN,
        comparison__second__isnull=study.protocol == Protocol.LIKERT,
        quality_check__isnull=True,
        repeats__isnull=True,
    )
    unanswered = leases.filter(~Exists(answer)).order_by().values_list("outcome")
    fates = Counter(dict(unanswered.annotate(n=Count("pk"))))
    n_answered = leases.filter(Exists(answer)).count()
    counting = analysis_set.analysis_set(study=study, as_of=ALWAYS).filter(rater__isnull=False)
    counts = counting.aggregate(n=Count("pk"), n_ties=Count("pk", filter=Q(verdict=0)))
    return AccountRow(
        slug="",
        name=str(_("People")),
        is_simulated=leases.filter(rater__is_simulated=True).exists(),
        is_excluded=False,
        n_calls=n_answered + fates.total(),
        n_preferences=counts["n"] - counts["n_ties"],
        n_ties=counts["n_ties"],
        n_left_out=n_answered - counts["n"],
        n_refused=fates[LeaseOutcome.SKIPPED],
        n_timed_out=fates[LeaseOutcome.EXPIRED],
        n_waiting=fates[""],
        others={name: n for name, n in fates.items() if name == LeaseOutcome.RELEASED},
    )
