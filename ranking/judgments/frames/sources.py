"""What analyses may know beyond who preferred what, read from the database."""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean, median
from typing import NamedTuple

import numpy as np
from django.db.models import QuerySet

from annotation.models import Comparison, Judge, RationaleCall, ThemeLabel
from annotation.quality.rules.exclusions import active_seconds
from annotation.rationales.themes import load_codebook as load_theme_codebook
from annotation.studies.queries import content_of
from completions.choices import CallState, Presence, Stratum
from completions.models import GenerationCall, StrategyLabel, System
from completions.strategies.codebook import load_codebook
from ranking.judgments.analysis_set import Selection, selected
from ranking.judgments.columns import JudgmentColumns
from ranking.judgments.frames.integers import SAID
from ranking.judgments.sources import (
    ItemFacts,
    JudgmentFacts,
    StrategyLabels,
    SystemFacts,
    ThemeLabels,
    TickedReasons,
)
from ranking.numerics.arrays import Floats, Integers


class _Item(NamedTuple):
    """A pair that was judged: keys of rows, and what its parts are."""

    key: str
    context: int
    stratum: str
    first: int
    second: int
    first_system: str
    second_system: str


class _Said(NamedTuple):
    """What goes with a judgment."""

    rationale: str
    shown_at: dt.datetime
    submitted_at: dt.datetime
    hidden_ms: int
    paused_ms: int
    rater: int | None
    probability: float | None

    @property
    def seconds(self) -> float:
        """Return how long a person looked; a judge does not look."""
        if self.rater is None:
            return float("nan")
        away = {"hidden_ms": self.hidden_ms, "paused_ms": self.paused_ms}
        return active_seconds(self.shown_at, self.submitted_at, **away)


ITEM = (
    "key",
    "context",
    "context__stratum",
    "first",
    "second",
    "first__system__slug",
    "second__system__slug",
)
SAID_WITH = (
    "rationale",
    "shown_at",
    "submitted_at",
    "hidden_ms",
    "paused_ms",
    "rater",
    "judge_call__first_probability",
)


@dataclass(frozen=True)
class DatabaseSources:
    """The sources of one selection; ``columns`` are its judgments, read before."""

    selection: Selection
    columns: JudgmentColumns

    def systems(self) -> Mapping[str, SystemFacts]:
        """Return the facts of each system by its slug; two queries."""
        measured = measured_ttft(self.selection.study.dataset_id)
        rows = System.objects.filter(slug__in=self.columns.systems)
        return {row.slug: _system_facts(row, measured.get(row.pk)) for row in rows}

    def judge_families(self) -> Mapping[str, str]:
        """Return the family of each LLM judge by its slug; one query."""
        found = Judge.objects.filter(slug__in=self.columns.evaluators)
        return dict(found.values_list("slug", "family"))

    def items(self) -> ItemFacts:
        """Return the pairs and their messages; one query."""
        items, messages = self._items, self._messages
        contexts = sorted({item.context for item in items})
        strata = [item.stratum == Stratum.ADVERSARIAL for item in items]
        pairs = [pk for item in items for pk in (item.first, item.second)]
        return ItemFacts(
            context=_places((item.context for item in items), contexts),
            is_adversarial=np.array(strata, dtype=np.bool_),
            message=_places(pairs, list(messages)).reshape(-1, 2),
            system=_places(messages.values(), self.columns.systems),
        )

    def judgments(self) -> JudgmentFacts:
        """Return reasons, times and probabilities; one query."""
        rows = selected(self.selection).order_by("submitted_at", "pk").values_list(*SAID_WITH)
        said = [_Said(*row) for row in rows]
        probabilities = [np.nan if one.probability is None else one.probability for one in said]
        return JudgmentFacts(
            rationales=tuple(one.rationale for one in said),
            seconds=np.array([one.seconds for one in said], dtype=np.float64),
            place=_counted(self.columns.evaluator),
            probability=np.array(probabilities, dtype=np.float64),
        )

    def strategies(self) -> StrategyLabels | None:
        """Return the strategy labels, averaged over the models that labelled; two queries."""
        labels = StrategyLabel.objects.filter(
            call__completion__in=list(self._messages), call__ended_at__lte=self.selection.as_of
        )
        found = defaultdict[tuple[int, str], list[float]](list)
        labellers = set()
        rows = labels.values_list(
            "call__completion", "strategy", "presence", "call__assistant__name"
        )
        for completion, strategy, presence, labeller in rows.iterator():
            found[completion, strategy].append(SAID[Presence(presence)])
            labellers.add(labeller)
        if not found:
            return None
        book = load_codebook()
        table = [[_mean(found.get((pk, key))) for key in book.keys] for pk in self._messages]
        names = tuple(one.name for one in book.strategies)
        return StrategyLabels(book.keys, names, np.array(table), tuple(sorted(labellers)))

    def themes(self) -> ThemeLabels | None:
        """Return what models found in the rationales; three queries."""
        return read_themes(self.selection)

    def chips(self) -> TickedReasons | None:
        """Return the reasons that raters ticked; one query, where the study has some to tick."""
        chips = content_of(self.selection.study).get("chips", ())
        if not chips:
            return None
        rows = selected(self.selection).order_by("submitted_at", "pk")
        given = [set(said.split()) for said in rows.values_list("chips", flat=True)]
        ticked = np.array([[chip["key"] in said for chip in chips] for said in given])
        return TickedReasons(
            words=tuple(chip["words"] for chip in chips),
            themes=tuple(chip["theme"] for chip in chips),
            ticked=ticked.reshape(len(given), len(chips)),
        )

    @cached_property
    def _items(self) -> list[_Item]:
        """The pairs in the order of the columns: by key, those of equal texts being one."""
        judged = selected(self.selection).values("comparison")
        rows = Comparison.objects.filter(pk__in=judged).order_by("key", "-pk").values_list(*ITEM)
        return list({row[0]: _Item(*row) for row in rows}.values())

    @cached_property
    def _messages(self) -> dict[int, str]:
        """System of each message that was judged, by its key, in order."""
        found = {one.first: one.first_system for one in self._items}
        found |= {one.second: one.second_system for one in self._items}
        return dict(sorted(found.items()))


def measured_ttft(dataset: int) -> dict[int, float]:
    """Return the median time to the first token of each system's calls for a dataset, in ms."""
    calls = GenerationCall.objects.filter(
        context__dataset=dataset, state=CallState.DONE, ttft_ms__isnull=False
    )
    times = defaultdict[int, list[int]](list)
    for system, ttft_ms in calls.values_list("system", "ttft_ms").iterator():
        times[system].append(int(ttft_ms or 0))
    return {system: float(median(found)) for system, found in times.items()}


def _system_facts(row: System, measured: float | None) -> SystemFacts:
    return SystemFacts(
        name=row.name,
        kind=row.kind,
        family=row.family,
        is_simulated=row.is_simulated,
        intelligence_index=fact_of(row, "intelligence_index"),
        published_ttft_ms=fact_of(row, "median_ttft_ms"),
        measured_ttft_ms=measured,
    )


def fact_of(row: System, name: str) -> float | None:
    """Return the value of an external fact, which is stored with its source."""
    fact = row.facts.get(name)
    return None if fact is None else float(fact["value"])


def _places(keys: "Iterable[int | str]", among: "Sequence[int | str]") -> Integers:
    """Return the place of each key among those that there are."""
    place = {key: index for index, key in enumerate(among)}
    return np.fromiter((place[key] for key in keys), dtype=np.int64)


def _counted(evaluator: Integers) -> Integers:
    """Return how many judgments the same evaluator gave before each."""
    order = np.argsort(evaluator, kind="stable")
    counts = np.bincount(evaluator)
    starts = np.repeat(np.cumsum(counts) - counts, counts)
    place = np.empty(len(evaluator), dtype=np.int64)
    place[order] = np.arange(len(evaluator)) - starts
    return place


def _mean(said: list[float] | None) -> float:
    return fmean(said) if said else float("nan")


CODED = ("assistant__name", "judgment")
THEMES_FOUND = ("call__assistant__name", "call__judgment", "theme", "presence")


def read_themes(selection: Selection) -> ThemeLabels | None:
    """Return the labels by the newest codebook that were there as of the selection's time.

    Rows are the selection's judgments, in the order of its columns. Three queries; an answer has
    a label for every theme, most of them absent, so that only the others are read.
    """
    judgments = selected(selection).order_by("submitted_at", "pk").values_list("pk", flat=True)
    row = {pk: place for place, pk in enumerate(judgments)}
    book = load_theme_codebook()
    column = {key: place for place, key in enumerate(book.keys)}
    calls = _calls(selection, book.reference)
    found: dict[str, Floats] = {}
    for coder, judgment in calls.values_list(*CODED).iterator():
        if judgment in row:
            if coder not in found:
                found[coder] = np.full((len(row), len(column)), np.nan)
            found[coder][row[judgment]] = SAID[Presence.ABSENT]
    labels = ThemeLabel.objects.filter(call__in=calls).exclude(presence=Presence.ABSENT)
    for coder, judgment, theme, presence in labels.values_list(*THEMES_FOUND).iterator():
        if judgment in row:
            found[coder][row[judgment], column[theme]] = SAID[Presence(presence)]
    return _stacked(found)


def _calls(selection: Selection, codebook: str) -> QuerySet[RationaleCall]:
    return RationaleCall.objects.filter(
        judgment__comparison__study=selection.study,
        codebook=codebook,
        state=CallState.DONE,
        ended_at__lte=selection.as_of,
    )


def _stacked(found: Mapping[str, Floats]) -> ThemeLabels | None:
    coders = tuple(sorted(found))
    return ThemeLabels(coders, np.stack([found[one] for one in coders])) if coders else None
