"""From the rows of a release to the arrays that estimators read."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ranking.judgments.columns import JudgmentColumns
from ranking.judgments.groups import GroupedJudgments, MarkGroup, PairCounts, TextGroup
from ranking.judgments.method import Method
from ranking.judgments.scores import ScoreColumns, implied_groups
from ranking.numerics.arrays import Integers
from ranking.numerics.strength import grade_to_strength
from ranking.release_check.bundle import Bundle, Row

GRADED, ALONE = "PREFERENCE", "LIKERT"
HUMAN, LLM, EVERY = "HUMAN", "LLM", "ALL"


@dataclass(frozen=True)
class Frame:
    """The judgments of one selection: a pool of evaluators and a set of contexts."""

    bundle: Bundle
    pool: str
    context_set: str

    @property
    def is_alone(self) -> bool:
        """Whether messages were rated one by one."""
        return bool(self.bundle.document("study/plan.json")["protocol"] == ALONE)

    @cached_property
    def rows(self) -> list[Row]:
        """The judgments that count, in the order in which they were given."""
        return [row for row in self.bundle.tables["judgments"] if self._is_in(row)]

    def _is_in(self, row: Row) -> bool:
        if not row["counts"]:
            return False
        if self.pool in {HUMAN, LLM} and (row["judge"] is not None) != (self.pool == LLM):
            return False
        return self.context_set in {EVERY, self.context_of(row)["stratum"]}

    def comparison_of(self, row: Row) -> Row:
        """Return what was judged."""
        return self.bundle.by_key("comparisons")[row["comparison"]]

    def context_of(self, row: Row) -> Row:
        """Return the context of what was judged."""
        return self.bundle.by_key("contexts")[self.comparison_of(row)["context"]]

    def system_of(self, completion: str) -> str:
        """Return whose completion it is."""
        return str(self.bundle.by_key("completions")[completion]["system"])

    @cached_property
    def pairs(self) -> list[tuple[str, str]]:
        """The systems of the first and the second completion of each judgment."""
        compared = (self.comparison_of(row) for row in self.rows)
        return [(self.system_of(one["first"]), self.system_of(one["second"])) for one in compared]

    @property
    def has_simulated(self) -> bool:
        """Whether a system, a context, a rater or a judge behind the judgments is simulated."""
        compared = [self.comparison_of(row) for row in self.rows]
        texts = {one[side] for one in compared for side in ("first", "second")} - {None}
        behind = {
            "systems": {self.system_of(one) for one in texts},
            "contexts": {one["context"] for one in compared},
            "raters": {row["rater"] for row in self.rows} - {None},
            "judges": {row["judge"] for row in self.rows} - {None},
        }
        return any(
            self.bundle.by_key(table)[key]["is_simulated"]
            for table, keys in behind.items()
            for key in keys
        )

    @cached_property
    def columns(self) -> JudgmentColumns:
        """The judgments one by one; grades are as given (`with_strengths` translates them)."""
        units, unit = _coded([self.context_of(row)["dialogue"] for row in self.rows])
        _, item = _coded([self.comparison_of(row)["key"] for row in self.rows])
        systems, both = _coded([slug for pair in self.pairs for slug in pair])
        evaluators, evaluator = _coded([_who(row) for row in self.rows])
        sides = both.reshape(-1, 2)
        return JudgmentColumns(
            systems=systems,
            units=units,
            evaluators=tuple(name for name, _ in evaluators),
            is_judge=np.array([is_judge for _, is_judge in evaluators], dtype=np.bool_),
            unit=unit,
            item=item,
            first=sides[:, 0],
            second=sides[:, 1],
            evaluator=evaluator,
            strength=_integers([row["verdict"] for row in self.rows]),
            shown=_integers([1 if row["side_of_first"] == "A" else -1 for row in self.rows]),
        )

    def with_strengths(self, method: Method) -> JudgmentColumns:
        """Return the judgments with grades as the strengths that the method has them stand for."""
        if method not in self._by_method:
            self._by_method[method] = self._with_strengths(method)
        return self._by_method[method]

    @cached_property
    def _by_method(self) -> dict[Method, JudgmentColumns]:
        return {}

    def _with_strengths(self, method: Method) -> JudgmentColumns:
        strength = self.columns.strength.copy()
        graded = np.array([row["protocol"] == GRADED for row in self.rows], dtype=np.bool_)
        strength[graded] = grade_to_strength(
            strength[graded], slightly=method.slightly, much=method.much
        )
        return replace(self.columns, strength=strength)

    def dimensions(self, method: Method) -> dict[str, JudgmentColumns]:
        """Return the marks on each dimension as judgments of it alone, in the rubric's order."""
        columns, found = self.with_strengths(method), {}
        for key in self.keys_of_dimensions:
            places, marks = self._marked[key]
            if len(places):
                found[key] = columns.taken(places, strength=marks)
        return found

    @cached_property
    def _marked(self) -> dict[str, tuple[Integers, Integers]]:
        """The places of the judgments that have a mark on each dimension, and the marks."""
        told = [row["marks"] for row in self.rows]
        marked = {
            key: [(n, marks[key]) for n, marks in enumerate(told) if key in marks]
            for key in self.keys_of_dimensions
        }
        arrays = {key: _integers(pairs).reshape(-1, 2) for key, pairs in marked.items()}
        return {key: (pairs[:, 0], pairs[:, 1]) for key, pairs in arrays.items()}

    @cached_property
    def keys_of_dimensions(self) -> list[str]:
        """The keys of the rubric's dimensions, in its order."""
        return [one["key"] for one in self.bundle.document("study/rubric.json")["dimensions"]]

    def grouped(self) -> GroupedJudgments:
        """Return the judgments added up: what a fit rests on."""
        if self.is_alone:
            return implied_groups(self.scores, newest=0, sum_of_keys=0)
        columns = self.columns
        ahead, behind = columns.strength > 0, columns.strength < 0
        size = np.abs(columns.strength)
        graded = np.array([row["protocol"] == GRADED for row in self.rows], dtype=np.bool_)
        by_judge = columns.is_judge[columns.evaluator]
        rows = (columns.unit, columns.first, columns.second, graded, by_judge)
        answers = (np.ones_like(columns.unit), ahead, behind)
        sizes = (np.where(ahead, size, 0), np.where(behind, size, 0))
        return GroupedJudgments(
            systems=columns.systems,
            dialogues=columns.units,
            counts=PairCounts.added_up([*rows, *answers, *sizes]),
            marks=self._marks(),
            texts=self._texts(),
        )

    def _marks(self) -> tuple[MarkGroup, ...]:
        wins, totals = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
        for row, (first, second) in zip(self.rows, self.pairs, strict=True):
            for dimension, advantage in row["marks"].items():
                if advantage:
                    totals.update([(first, dimension), (second, dimension)])
                    wins[(first if advantage > 0 else second), dimension] += 1
        return tuple(MarkGroup(*key, wins[key], totals[key]) for key in sorted(totals))

    def _texts(self) -> tuple[TextGroup, ...] | None:
        """Return the judgments of people's texts one by one; None where no system is of people."""
        kinds = {slug: row["kind"] for slug, row in self.bundle.by_key("systems").items()}
        if not any(kinds[slug] == HUMAN for slug in self.columns.systems):
            return None
        contexts = _places(self.bundle.tables["contexts"], "key")
        texts = _places(self.bundle.tables["completions"], "id")
        found = Counter[tuple[Any, ...]]()
        for row, pair in zip(self.rows, self.pairs, strict=True):
            of_people = [kinds[slug] == HUMAN for slug in pair]
            if of_people[0] == of_people[1]:
                continue
            compared, context = self.comparison_of(row), self.context_of(row)
            side = 0 if of_people[0] else 1
            text, sign = texts[compared[("first", "second")[side]]], 1 - 2 * side
            name, is_judge = _who(row)
            place = (context["dialogue"], contexts[context["key"]], text, pair[1 - side])
            found[(*place, is_judge, name, row["protocol"], sign * row["verdict"])] += 1
        return tuple(sorted(TextGroup(*(*key, n)) for key, n in found.items()))

    @cached_property
    def scores(self) -> ScoreColumns:
        """The ratings of messages read alone."""
        rubric = self.bundle.document("study/rubric.json")["dimensions"]
        compared = [self.comparison_of(row) for row in self.rows]
        units, unit = _coded([self.context_of(row)["dialogue"] for row in self.rows])
        systems, system = _coded([self.system_of(one["first"]) for one in compared])
        evaluators, evaluator = _coded([_who(row) for row in self.rows])
        contexts = _places(self.bundle.tables["contexts"], "key")
        texts = _places(self.bundle.tables["completions"], "id")
        keys = [one["key"] for one in rubric]
        points = [[row["marks"].get(key, 0) for key in keys] for row in self.rows]
        return ScoreColumns(
            systems=systems,
            units=units,
            evaluators=tuple(name for name, _ in evaluators),
            dimensions=tuple(keys),
            labels=tuple(one["name"] for one in rubric),
            is_judge=np.array([is_judge for _, is_judge in evaluators], dtype=np.bool_),
            unit=unit,
            context=_renumbered([contexts[one["context"]] for one in compared]),
            message=_renumbered([texts[one["first"]] for one in compared]),
            system=system,
            evaluator=evaluator,
            points=np.array(points, dtype=np.int64).reshape(-1, len(keys)),
        )


def frame_of(bundle: Bundle, fit: Mapping[str, Any]) -> Frame:
    """Return the judgments of a fit; the newest are kept, since its analyses share them."""
    selection = (fit["pool"], fit["context_set"])
    if selection not in bundle.frames:
        bundle.frames.clear()
        bundle.frames[selection] = Frame(bundle, *selection)
    frame: Frame = bundle.frames[selection]
    return frame


def _who(row: Row) -> tuple[str, bool]:
    return (row["rater"], False) if row["judge"] is None else (row["judge"], True)


def _coded(names: Sequence[Any]) -> tuple[tuple[Any, ...], Integers]:
    """Return the names that occur, sorted, and the place of each."""
    labels = tuple(sorted(set(names)))
    place = {label: index for index, label in enumerate(labels)}
    return labels, _integers([place[name] for name in names])


def _places(rows: Sequence[Row], key: str) -> Mapping[str, int]:
    """Return the place of each row in its file: files are in the order of the site's rows."""
    return {row[key]: place for place, row in enumerate(rows)}


def _renumbered(keys: Sequence[int]) -> Integers:
    numbered: Integers = np.unique(_integers(keys), return_inverse=True)[1].astype(np.int64)
    return numbered.reshape(-1)


def _integers(values: Sequence[int] | Sequence[tuple[int, int]]) -> Integers:
    return np.array(values, dtype=np.int64)
