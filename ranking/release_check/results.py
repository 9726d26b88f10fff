"""Compute ratings and analyses of a release again, as far as its files say what they rest on."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import partialmethod
from math import isfinite
from typing import Any, NoReturn

import numpy as np

from completions.dialogues.normaliser import plain
from ranking.analyses import AnalysisInputs, analyse
from ranking.findings import AnalysisRefusedError
from ranking.fits.estimate import Estimate, EstimateRefusedError, estimate_ratings
from ranking.fits.people import RatedPeople, rate_people
from ranking.judgments.columns import JudgmentColumns
from ranking.judgments.groups import GroupedJudgments
from ranking.judgments.method import MOST_DRAWS, Method, declared, is_close, missing_of
from ranking.judgments.scores import implied_columns
from ranking.judgments.sources import ItemFacts, SystemFacts
from ranking.judgments.style import FEATURES, features
from ranking.release_check.bundle import Bundle, Row, UnreadableError
from ranking.release_check.frames import Frame, frame_of

OUTCOMES = ("wins", "losses", "ties")
OTHERS = ("systems", "outcomes", "replicates", "diagnostics")
OF_PEOPLE = ("elo", "elo_se", "elo_low", "elo_high", "n_judgments", "n_contexts", "detail")
DONE, REFUSED = "DONE", "REFUSED"
COMBINED = "COMBINED"


def problems_of_ratings(bundle: Bundle, fit: Mapping[str, Any]) -> tuple[list[str], int]:
    """Return what differs from what the judgments give, and how many numbers were compared."""
    name = f"ratings/{fit['fit']}.json"
    stored = bundle.document(name)
    frame = frame_of(bundle, stored)
    computed = computed_ratings(frame, stored)
    told = {key: stored[key] for key in computed}
    # What else a fit knows of its computation, such as who judged, is not computed here.
    told["diagnostics"] = {key: stored["diagnostics"].get(key) for key in computed["diagnostics"]}
    found = [f"{name}: {one}" for one in differences(told, computed)]
    found += [
        f"{name}: {key} is {stored[key]!r}, and release.json says {fit[key]!r}"
        for key in ("fit", "pool", "context_set", "state", "n_judgments", "is_simulated")
        if stored[key] != fit[key]
    ]
    found += [*_undeclared(frame, name, stored), *_denials(frame, name, stored)]
    return found, count_numbers(computed)


def _undeclared(frame: Frame, name: str, stored: Mapping[str, Any]) -> Iterator[str]:
    """Yield where the method is another than the study file decides."""
    content = frame.bundle.document("study/protocol.json")
    is_combined = frame.pool == COMBINED
    for key, value in declared(content, is_combined=is_combined, is_alone=frame.is_alone).items():
        used = stored["method"].get(key)
        if used != (list(value) if isinstance(value, tuple) else value):
            yield f"{name}: method.{key} is {used}, and study/protocol.json says {value}"


def _denials(frame: Frame, name: str, stored: Mapping[str, Any]) -> Iterator[str]:
    """Yield which files deny that anything is simulated, against what stands in others."""
    plan = frame.bundle.document("study/plan.json")
    if frame.has_simulated and not stored["is_simulated"]:
        yield f"{name}: is_simulated is False, and what was judged or who judged is simulated"
    if not frame.bundle.about["is_simulated"]:
        said = {name: stored, "study/plan.json": plan}
        yield from (
            f"release.json: is_simulated is False, and {one} says True"
            for one, document in said.items()
            if document["is_simulated"]
        )


def computed_ratings(frame: Frame, stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the judgments give, in the form in which it is stored."""
    judgments, method = frame.grouped(), _method(stored)
    size = {"n_judgments": judgments.n_judgments, "n_units": len(judgments.dialogues)}
    try:
        estimate = estimate_ratings(judgments, method)
    except EstimateRefusedError as refusal:
        why = {"components": refusal.components, "joining": refusal.joining}
        nothing: dict[str, Any] = {"ratings": [], "people": [], "diagnostics": why}
        return size | nothing | {"state": REFUSED, "refusal": str(refusal)}
    if stored["state"] == REFUSED and _is_below_minimum(frame, stored, size):
        return size | {"state": REFUSED, "ratings": [], "people": [], "diagnostics": {}}
    people = rate_people(judgments, estimate, method)
    refused = {str(kind): reason for kind, reason in people.refusals}
    return size | {
        "state": DONE,
        "refusal": "",
        "ratings": list(_ratings(estimate, judgments)),
        "people": _people(people),
        "diagnostics": estimate.diagnostics | {"people_refused": refused},
    }


def _method(ratings: Mapping[str, Any]) -> Method:
    """Read how a fit was computed.

    Raises
    ------
    UnreadableError
        If computing it again would hardly end: no site draws as often.
    """
    method = Method.of(ratings["method"])
    for name, most in MOST_DRAWS.items():
        if getattr(method, name) > most:
            msg = (
                f"ratings/{ratings['fit']}.json: method.{name} is over {most:,}, the most there is"
            )
            raise UnreadableError(msg)
    return method


def _is_below_minimum(frame: Frame, stored: Mapping[str, Any], size: Mapping[str, int]) -> bool:
    """Say whether the study wants more before systems are ranked."""
    content, known = frame.bundle.document("study/protocol.json"), stored["diagnostics"]
    n, n_dialogues = size["n_judgments"], size["n_units"]
    return bool(missing_of(content, known, n_judgments=n, n_dialogues=n_dialogues))


def _ratings(estimate: Estimate, judgments: GroupedJudgments) -> Iterator[dict[str, Any]]:
    columns = [one.name for one in fields(Estimate) if one.name not in OTHERS]
    for index, slug in enumerate(estimate.systems):
        row: dict[str, Any] = {name: _plain(getattr(estimate, name)[index]) for name in columns}
        counted = {name: int(getattr(estimate.outcomes, name)[index]) for name in OUTCOMES}
        marks = {
            mark.dimension: {"wins": mark.wins, "n_marks": mark.n_marks}
            for mark in judgments.marks
            if mark.system == slug
        }
        n = {"n_judgments": sum(counted.values())}
        yield {"system": slug, "dimensions": marks} | row | counted | n


def _people(people: RatedPeople) -> list[dict[str, Any]]:
    rows = sorted(people.ratings, key=lambda one: str(one.kind))
    return [
        {"kind": str(one.kind)} | {name: getattr(one, name) for name in OF_PEOPLE} for one in rows
    ]


def _plain(number: Any) -> float | int | None:  # noqa: ANN401 (of NumPy)
    value: float | int = number.item()
    return value if isfinite(value) else None


def count_numbers(value: object) -> int:
    """Count the numbers in nested values."""
    if isinstance(value, dict):
        return sum(map(count_numbers, value.values()))
    if isinstance(value, list | tuple):
        return sum(map(count_numbers, value))
    return isinstance(value, int | float) and not isinstance(value, bool)


def differences(stored: Any, computed: Any, where: str = "") -> Iterator[str]:  # noqa: ANN401 (JSON)
    """Yield the places at which two nested values differ, with both values."""
    if isinstance(stored, dict) and isinstance(computed, dict):
        for key in sorted(stored.keys() | computed.keys()):
            place = f"{where}.{key}" if where else str(key)
            if key in stored and key in computed:
                yield from differences(stored[key], computed[key], place)
            else:
                yield f"{place}: is {'stored alone' if key in stored else 'not stored'}"
    elif isinstance(stored, list) and isinstance(computed, list):
        if len(stored) != len(computed):
            yield f"{where}: has {len(stored)} entries, computed {len(computed)}"
        for number, (one, other) in enumerate(zip(stored, computed, strict=False)):
            yield from differences(one, other, f"{where}[{_name(one, number)}]")
    elif not is_close(stored, computed):
        yield f"{where}: is {stored!r}, computed {computed!r}"


def _name(entry: object, number: int) -> str:
    """Return what an entry of a list goes by: its own name, or its place."""
    if isinstance(entry, dict):
        return str(entry.get("system", entry.get("kind", entry.get("key", number))))
    if isinstance(entry, list) and entry and isinstance(entry[0], str):
        return entry[0]
    return str(number)


class NotReleasedError(AnalysisRefusedError):
    """An analysis asks for what a release does not hold."""


@dataclass(frozen=True)
class ReleaseSources:
    """The sources of one selection of a release.

    ``lacking`` hears what an analysis asks for in vain: some do without, and find less.
    """

    frame: Frame
    lacking: list[str] = field(default_factory=list)

    def systems(self) -> Mapping[str, SystemFacts]:
        """Return the facts of each system by its slug."""
        rows = self.frame.bundle.by_key("systems")
        return {slug: _facts(rows[slug]) for slug in self.frame.columns.systems}

    def judge_families(self) -> Mapping[str, str]:
        """Return the family of each LLM judge by its slug."""
        rows = self.frame.bundle.by_key("judges")
        known = self.frame.columns.evaluators
        return {slug: rows[slug]["family"] for slug in known if slug in rows}

    def items(self) -> ItemFacts:
        """Return the pairs and their messages, in the order of the columns."""
        bundle, frame = self.frame.bundle, self.frame
        judged = {row["comparison"] for row in frame.rows}
        of_key: dict[str, Row] = {}
        for row in bundle.tables["comparisons"]:
            if row["id"] in judged:
                of_key.setdefault(row["key"], row)
        items = [of_key[key] for key in sorted(of_key)]
        strata = {key: row["stratum"] for key, row in bundle.by_key("contexts").items()}
        texts = {row["id"]: n for n, row in enumerate(bundle.tables["completions"])}
        places = {row["key"]: n for n, row in enumerate(bundle.tables["contexts"])}
        contexts = sorted({places[one["context"]] for one in items})
        messages = sorted({texts[one[side]] for one in items for side in ("first", "second")})
        written = [bundle.tables["completions"][n] for n in messages]
        pairs = [texts[one[side]] for one in items for side in ("first", "second")]
        return ItemFacts(
            context=np.searchsorted(contexts, [places[one["context"]] for one in items]),
            is_adversarial=np.array(
                [strata[one["context"]] == "ADVERSARIAL" for one in items], dtype=np.bool_
            ),
            message=np.searchsorted(messages, pairs).reshape(-1, 2),
            system=np.array(
                [frame.columns.systems.index(one["system"]) for one in written], dtype=np.int64
            ),
        )

    def _refuse(self, what: str) -> NoReturn:
        self.lacking.append(what)
        msg = f"A release holds no {what}."
        raise NotReleasedError(msg)

    judgments = partialmethod(_refuse, "reasons and exact times")  # coarse, or not all released
    strategies = partialmethod(_refuse, "labels of strategies")
    themes = partialmethod(_refuse, "labels of themes")
    chips = partialmethod(_refuse, "reasons")  # beside whose words they are analysed


def _facts(row: Row) -> SystemFacts:
    return SystemFacts(**{one.name: row[one.name] for one in fields(SystemFacts)})


AGREEMENT = "agreement"
STYLED = ("STYLE", "BIAS", "RATIONALES", "JUDGE")
# They draw among judgments or evaluators in an order that a release does not have, or ask for
# the orders of other studies.
OF_AN_ORDER = ("RANKERS", "FACTORS", "LIKERT")


def problems_of_analysis(
    bundle: Bundle, fit: Row, kind: str, *, is_quick: bool = False
) -> tuple[list[str], int | None]:
    """Return what differs, and how many numbers were compared: None where none are computed.

    Which analysis it is, its name says: what the file says of itself may be forged.
    """
    name = f"analyses/{fit['fit']}/{kind}.json"
    stored = bundle.document(name)
    labels = {"fit": fit["fit"], "kind": kind.upper(), "is_simulated": fit["is_simulated"]}
    found = [
        f"{name}: {key} is {stored[key]!r}, and release.json says {label!r}"
        for key, label in labels.items()
        if stored[key] != label
    ]
    is_left = is_quick and kind != AGREEMENT
    compared = None if is_left else _compared(bundle, name, labels, stored)
    return (found, None) if compared is None else (found + compared[0], compared[1])


def _compared(bundle: Bundle, name: str, labels: Row, stored: Row) -> tuple[list[str], int] | None:
    """Return what differs from what the judgments give; None where it cannot be computed."""
    try:
        computed = _computed(bundle, labels["fit"], labels["kind"])
    except NotReleasedError:
        return None
    except AnalysisRefusedError as refusal:
        told = {"refusal": stored["refusal"], "findings": None}
        return _told(name, told, {"refusal": str(refusal), "findings": None})
    if stored["refusal"] and stored["findings"] is None:
        return [f"{name}: is stored as refused, and the judgments allow it"], 0
    told = {"refusal": stored["refusal"], "findings": sorted_rows(stored["findings"])}
    return _told(name, told, {"refusal": "", "findings": computed})


def _told(name: str, stored: object, computed: object) -> tuple[list[str], int]:
    return [f"{name}: {one}" for one in differences(stored, computed)], count_numbers(computed)


def _computed(bundle: Bundle, fit: str, kind: str) -> dict[str, Any]:
    if kind in OF_AN_ORDER:
        raise NotReleasedError(kind)
    ratings = bundle.document(f"ratings/{fit}.json")
    sources = ReleaseSources(frame_of(bundle, ratings))
    found = analyse(kind, _inputs(sources, kind, ratings)).as_json()
    if sources.lacking:
        raise NotReleasedError(kind)
    found.pop("kept", None)
    plain_values: dict[str, Any] = json.loads(json.dumps(found, allow_nan=False))
    return sorted_rows(plain_values)


def sorted_rows(findings: dict[str, Any]) -> dict[str, Any]:
    """Return findings with the rows of tables about evaluators sorted: people have no order."""
    tables = [
        table | {"rows": sorted(table["rows"], key=str)}
        if any(column["kind"] == "evaluator" for column in table["columns"])
        else table
        for table in findings["tables"]
    ]
    return findings | {"tables": tables}


def _inputs(sources: ReleaseSources, kind: str, ratings: Mapping[str, Any]) -> AnalysisInputs:
    frame, method = sources.frame, _method(ratings)
    if frame.is_alone:
        return AnalysisInputs(
            implied_columns(frame.scores), method, dimensions={}, scores=frame.scores
        )
    columns = frame.with_strengths(method)
    if kind in STYLED:
        columns = _styled(frame, columns)
    return AnalysisInputs(columns, method, frame.dimensions(method), sources)


def _styled(frame: Frame, columns: JudgmentColumns) -> JudgmentColumns:
    """Add the style of both texts of each pair.

    Raises
    ------
    NotReleasedError
        If the text of one is not released.
    """
    texts = {row["id"]: row for row in frame.bundle.tables["completions"]}
    judged = {row["comparison"] for row in frame.rows}
    pairs = {
        row["key"]: row
        for row in reversed(frame.bundle.tables["comparisons"])
        if row["id"] in judged
    }
    measured: dict[str, tuple[float, ...]] = {}
    for one in pairs.values():
        for completion in (texts[one["first"]], texts[one["second"]]):
            if completion["text"] is None:
                msg = "A release holds no text of some completions."
                raise NotReleasedError(msg)
            measured[completion["id"]] = features(plain(completion["text"]))
    rows = [[measured[pairs[key][side]] for side in ("first", "second")] for key in sorted(pairs)]
    array = np.array(rows, dtype=np.float64).reshape(-1, 2, len(FEATURES))
    return replace(columns, features=array, feature_names=FEATURES)
