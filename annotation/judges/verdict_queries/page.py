"""The page on a study's judges: where calls went, position, the ensemble, names of pairs."""

from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from django.core.paginator import Page, Paginator
from django.db.models import Count, Exists, OuterRef, Q

from annotation.judges.ensembles import Account, EnsembleOutcome, Position, VoteStatus, account
from annotation.judges.verdict_queries.tallies import Judged, Panel, judged_comparisons, panel_of
from annotation.models import Judge, JudgeCall, Study
from completions.choices import Stratum

_COLUMNS = (
    "pk",
    "key",
    "context__key",
    "context__stratum",
    "first__system__slug",
    "first__system__name",
    "second__system__slug",
    "second__system__name",
    "context__is_simulated",
    "first__system__is_simulated",
    "second__system__is_simulated",
)


class ComparisonNames(NamedTuple):
    """A comparison by its names."""

    pk: int
    key: str
    context: str
    stratum: str
    first_system: str
    first_name: str
    second_system: str
    second_name: str
    is_simulated_context: bool
    is_simulated_first: bool
    is_simulated_second: bool

    @property
    def is_simulated(self) -> bool:
        """Whether the seeker, or a system that is compared, is simulated."""
        return self.is_simulated_context or self.is_simulated_first or self.is_simulated_second


def facts_of(study: Study, *, only: Collection[int] | None = None) -> dict[int, ComparisonNames]:
    """Return the comparisons of the study that were put to judges, in one query."""
    calls = JudgeCall.objects.filter(comparison=OuterRef("pk"))
    meant = study.comparisons.filter(Exists(calls)).order_by("pk")
    rows = (meant if only is None else meant.filter(pk__in=only)).values_list(*_COLUMNS)
    return {fact.pk: fact for fact in map(ComparisonNames._make, rows)}


PER_PAGE = 50
SHOWS = ("", "no-majority", "inconsistent")
"""Which comparisons are listed: all that need a look, or one kind of them."""


@dataclass
class JudgeAccountRow:
    """One judge: what became of its calls, and how it judges."""

    judge: Judge
    is_excluded: bool
    account: Account
    n_repaired: int = 0
    """Valid answers that were not to the letter what was asked for."""
    answers: Counter[VoteStatus] = field(default_factory=Counter)
    """Valid answers by what they came to, together with the others on their comparison."""
    n_erased: int = 0
    """Valid answers on a text that was deleted since."""
    comparisons: Counter[VoteStatus] = field(default_factory=Counter)
    position: Position = field(default_factory=Position)

    @property
    def n_answers(self) -> int:
        """How many valid answers there are: those on the comparisons, and on deleted texts."""
        return self.answers.total() + self.n_erased

    def add(self, one: Judged) -> None:
        """Take what the judge said of one comparison into account."""
        replies, status = one.replies[self.judge.pk], one.verdicts[self.judge.pk].status
        self.count_answers(replies.n_valid, status, is_erased=one.is_erased)
        if not one.is_erased:
            self.comparisons[status] += 1
            self.position.add(replies)

    def count_answers(self, n: int, status: VoteStatus, *, is_erased: bool) -> None:
        """Count valid answers to comparisons on which the judge stands like that."""
        if is_erased:
            self.n_erased += n
        else:
            self.answers[status] += n


@dataclass
class EnsembleRow:
    """What the judges together said of the comparisons of a stratum, or of all."""

    label: str
    outcomes: Counter[EnsembleOutcome] = field(default_factory=Counter)
    n_unanimous: int = 0
    """Those with a majority in which every judge asked has a vote, and the same."""
    n_tried: int = 0
    """Those on which some judge is known in both orders."""
    n_inconsistent: int = 0
    """Those of them on which a judge's winner changed with the order."""

    def add(self, one: Judged) -> None:
        """Take one comparison into account that has something to state."""
        if (found := one.ensemble) is None:
            return
        self.outcomes[found.outcome] += 1
        is_majority = found.outcome in (EnsembleOutcome.FIRST, EnsembleOutcome.SECOND)
        self.n_unanimous += is_majority and max(found.n_first, found.n_second) == found.n_judges
        self.n_tried += found.is_consistent is not None
        self.n_inconsistent += found.is_consistent is False

    @property
    def n(self) -> int:
        """How many comparisons there are."""
        return self.outcomes.total()

    @property
    def n_majority(self) -> int:
        """How many have a majority."""
        return self.outcomes[EnsembleOutcome.FIRST] + self.outcomes[EnsembleOutcome.SECOND]


@dataclass(frozen=True)
class ListedComparison:
    """A comparison that needs a look."""

    fact: ComparisonNames
    judged: Judged


@dataclass(frozen=True)
class JudgesFigures:
    """All that the page counts, and the keys of the comparisons to list, by what is asked for."""

    rows: tuple[JudgeAccountRow, ...]
    ensembles: tuple[EnsembleRow, ...]
    listed: Mapping[str, "array[int]"]
    n_erased: int
    is_simulated: bool

    @property
    def panel(self) -> Panel:
        """Return the judges as they were counted."""
        excluded = frozenset(row.judge.pk for row in self.rows if row.is_excluded)
        return Panel({row.judge.pk: row.judge for row in self.rows}, excluded)


@dataclass(frozen=True)
class JudgesPage:
    """All that the page shows; ``listed`` are keys, and ``shown`` those of one page of them."""

    figures: JudgesFigures
    listed: Page[int]
    shown: tuple[ListedComparison, ...]

    @property
    def rows(self) -> tuple[JudgeAccountRow, ...]:
        """Return the judges, by name."""
        return self.figures.rows


def judge_rows(study: Study, panel: Panel) -> dict[int, JudgeAccountRow]:
    """Return the judges with the accounts of their calls, in one query."""
    counts = JudgeCall.objects.filter(comparison__study=study).order_by()
    found, repaired = dict[int, list[tuple[str, str, int]]](), Counter[int]()
    rows = counts.values_list("judge", "state", "error_kind").annotate(
        n=Count("pk"), n_repaired=Count("pk", filter=Q(honoured__has_key="repaired"))
    )
    for judge, state, kind, n, n_repaired in rows:
        found.setdefault(judge, []).append((state, kind, n))
        repaired[judge] += n_repaired
    return {
        pk: JudgeAccountRow(judge, pk in panel.excluded, account(found.get(pk, ())), repaired[pk])
        for pk, judge in panel.judges.items()
    }


def judges_figures(study: Study) -> JudgesFigures:
    """Count what judges said of the study, in five queries however many calls there are."""
    panel, facts = panel_of(study), facts_of(study)
    rows = judge_rows(study, panel)
    whole, strata = EnsembleRow(""), {one.value: EnsembleRow(one.label) for one in Stratum}
    listed, n_erased = {show: array("q") for show in SHOWS}, 0
    for one in judged_comparisons(study, panel):
        for pk in one.verdicts:
            rows[pk].add(one)
        whole.add(one)
        strata[facts[one.comparison].stratum].add(one)
        n_erased += one.is_erased
        for show in SHOWS:
            if _is_listed(one, show):
                listed[show].append(one.comparison)
    return JudgesFigures(
        rows=tuple(rows.values()),
        ensembles=(whole, *(row for row in strata.values() if row.n)),
        listed=listed,
        n_erased=n_erased,
        is_simulated=_is_simulated(study, panel, facts.values()),
    )


def judges_page(
    study: Study, *, show: str, page: str, figures: JudgesFigures | None = None
) -> JudgesPage:
    """Return what the page shows of figures, or of new ones; two queries more for its list."""
    found = figures or judges_figures(study)
    listed: Page[int] = Paginator(found.listed[show], PER_PAGE).get_page(page)
    keys = list(listed)
    facts = facts_of(study, only=keys) if keys else {}
    judged = judged_comparisons(study, found.panel, only=keys) if keys else ()
    # A text that was deleted since leaves nothing to look at.
    shown = (ListedComparison(facts[one.comparison], one) for one in judged if one.ensemble)
    return JudgesPage(found, listed, tuple(shown))


def _is_listed(one: Judged, show: str) -> bool:
    if one.ensemble is None:
        return False
    holds = {
        "no-majority": one.ensemble.outcome is EnsembleOutcome.NO_MAJORITY,
        "inconsistent": one.ensemble.is_consistent is False,
    }
    return holds[show] if show else any(holds.values())


def _is_simulated(study: Study, panel: Panel, facts: Iterable[ComparisonNames]) -> bool:
    return study.is_simulated or panel.has_simulated or any(fact.is_simulated for fact in facts)
