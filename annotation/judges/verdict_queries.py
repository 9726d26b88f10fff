"""Reads of what LLM judges said: accounts, position, the ensemble, and one comparison's calls."""

import json
from array import array
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import groupby
from typing import Any, NamedTuple

from django.core.paginator import Page, Paginator
from django.db.models import Count, Exists, OuterRef, Q

from annotation.choices import Side
from annotation.judges.ensembles import (
    Account,
    EnsembleOutcome,
    Fate,
    Position,
    VoteStatus,
    account,
    fate,
)
from annotation.judges.queries import Judged, Panel, judged_comparisons, panel_of
from annotation.models import Comparison, Judge, JudgeCall, Judgment, Study
from annotation.models.study import goes_by
from annotation.studies.queries import shown_text
from completions.choices import Stratum
from completions.dialogues.display import DialogueView

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


def named_comparisons(
    study: Study, panel: Panel, *, only: Collection[int] | None = None
) -> Iterator[tuple[ComparisonNames, Judged]]:
    """Yield the comparisons that were put to judges, with what was said of them; two queries.

    What was put to judges between the two is passed over.
    """
    calls = JudgeCall.objects.filter(comparison=OuterRef("pk"))
    meant = study.comparisons.filter(Exists(calls)).order_by("pk")
    rows = (meant if only is None else meant.filter(pk__in=only)).values_list(*_COLUMNS)
    names = {one.pk: one for one in map(ComparisonNames._make, rows)}
    for one in judged_comparisons(study, panel, only=only):
        if one.comparison in names:
            yield names[one.comparison], one


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
    panel = panel_of(study)
    rows, is_simulated = judge_rows(study, panel), study.is_simulated or panel.has_simulated
    whole, strata = EnsembleRow(""), {one.value: EnsembleRow(one.label) for one in Stratum}
    listed, n_erased = {show: array("q") for show in SHOWS}, 0
    for names, one in named_comparisons(study, panel):
        is_simulated = is_simulated or names.is_simulated
        for pk in one.verdicts:
            rows[pk].add(one)
        whole.add(one)
        strata[names.stratum].add(one)
        n_erased += one.is_erased
        for show in SHOWS:
            if _is_listed(one, show):
                listed[show].append(one.comparison)
    return JudgesFigures(
        rows=tuple(rows.values()),
        ensembles=(whole, *(row for row in strata.values() if row.n)),
        listed=listed,
        n_erased=n_erased,
        is_simulated=is_simulated,
    )


def listed_comparisons(
    study: Study, figures: JudgesFigures, *, show: str, page: str
) -> tuple[Page[int], list[tuple[ComparisonNames, Judged]]]:
    """Return a page of the keys to list, and what was said of these, in two queries."""
    listed: Page[int] = Paginator(figures.listed[show], PER_PAGE).get_page(page)
    keys = list(listed)
    found = named_comparisons(study, figures.panel, only=keys) if keys else ()
    # A text that was deleted since leaves nothing to look at.
    return listed, [(names, one) for names, one in found if one.ensemble]


def _is_listed(one: Judged, show: str) -> bool:
    if one.ensemble is None:
        return False
    holds = {
        "no-majority": one.ensemble.outcome is EnsembleOutcome.NO_MAJORITY,
        "inconsistent": one.ensemble.is_consistent is False,
    }
    return holds[show] if show else any(holds.values())


@dataclass(frozen=True)
class CallRow:
    """One call: how the pair was shown, what was asked, and what came."""

    is_first_a: bool
    sample: int
    """From 1."""
    fate: Fate
    verdict: int | None
    marks: tuple[tuple[str, int], ...]
    """Dimensions with the advantage of the first completion, where one was ahead."""
    probability: float | None
    rationale: str
    raw_answer: str
    fault: str
    asked: str
    prompt_hash: str
    is_addressed: bool
    """Whether one of the texts spoke to the judge."""
    attempts: int
    latency_ms: int | None
    cost_usd: Decimal | None

    @property
    def strength(self) -> int:
        """The size of the verdict."""
        return abs(self.verdict or 0)


def judged_pair(study: Study, key: str) -> dict[str, Any] | None:
    """Return what the page on the study's comparison of that public key shows, in six queries.

    None unless judges were asked of it.
    """
    related = ("context", "first__system", "second__system")
    pairs = study.comparisons.select_related(*related).filter(goes_by(key), second__isnull=False)
    comparison = pairs.order_by("pk").first()
    if comparison is None:
        return None
    panel = panel_of(study)
    judged = next(judged_comparisons(study, panel, only=[comparison.pk]), None)
    if judged is None:
        return None
    (first, second), context = comparison.pair, comparison.context
    simulated = (context, first.system, second.system, study)
    return {
        "comparison": comparison,
        "dialogue": DialogueView.of(context.turns, is_simulated=context.is_simulated),
        "first": shown_text(first),
        "second": shown_text(second),
        "is_simulated": panel.has_simulated or any(one.is_simulated for one in simulated),
        "judged": judged,
        "judges": [
            (judge, judge.pk in panel.excluded, judged.verdicts[judge.pk], calls)
            for judge, calls in _calls(comparison, is_erased=judged.is_erased)
            if judge.pk in judged.verdicts
        ],
    }


def _calls(comparison: Comparison, *, is_erased: bool) -> Iterator[tuple[Judge, list[CallRow]]]:
    """Yield the calls that put a comparison to each judge, by name, sides and samples in order."""
    calls = JudgeCall.objects.filter(comparison=comparison).select_related("judge", "judgment")
    rows = calls.prefetch_related("judgment__marks").order_by(
        "judge__name", "judge", "first_side", "sample"
    )
    for judge, of_judge in groupby(rows, key=lambda row: row.judge):
        yield judge, [_call(row, is_erased=is_erased) for row in of_judge]


def _call(call: JudgeCall, *, is_erased: bool) -> CallRow:
    """Return what is shown of a call; of a deleted text nothing that may quote it."""
    judgment: Judgment | None = getattr(call, "judgment", None)
    return CallRow(
        is_first_a=call.first_side == Side.A,
        sample=call.sample + 1,
        fate=fate(call.state, call.error_kind),
        verdict=None if judgment is None else judgment.verdict,
        marks=() if judgment is None else _marks(judgment),
        probability=call.first_probability,
        rationale="" if is_erased or judgment is None else judgment.rationale,
        raw_answer="" if is_erased else call.raw_answer,
        fault=": ".join(filter(None, (call.error_kind, "" if is_erased else call.error_detail))),
        asked="" if is_erased else _asked(call),
        prompt_hash=call.prompt_hash,
        is_addressed=bool(call.asked.get("addressed")),
        attempts=call.attempts,
        latency_ms=call.latency_ms,
        cost_usd=call.cost_usd,
    )


def _marks(judgment: Judgment) -> tuple[tuple[str, int], ...]:
    marks = ((mark.dimension, mark.advantage) for mark in judgment.marks.all())
    return tuple(sorted(mark for mark in marks if mark[1]))


def _asked(call: JudgeCall) -> str:
    """Return the parameters as wanted, as stored; an unusable first answer is one of them."""
    if not call.asked:
        return ""
    return json.dumps(call.asked, ensure_ascii=False, indent=2, sort_keys=True)
