"""Compute the analyses of a release again, as far as its files go."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from completions.dialogues.normaliser import plain
from ranking.analyses import Ground, analyse
from ranking.findings import AnalysisRefusedError
from ranking.judgments.columns import JudgmentColumns
from ranking.judgments.implied import implied_columns
from ranking.judgments.style import FEATURES, features
from ranking.release_check.bundle import Bundle
from ranking.release_check.comparing import differences
from ranking.release_check.frames import Frame
from ranking.release_check.ratings import count_numbers, method_of
from ranking.release_check.sources import NotReleasedError, ReleaseSources

STYLED = ("STYLE", "BIAS", "RATIONALES", "JUDGE")
# They draw among judgments or evaluators in an order that a release does not have, or ask for
# the orders of other studies.
OF_AN_ORDER = ("RANKERS", "FACTORS", "LIKERT")


def problems_of_analysis(bundle: Bundle, fit: str, kind: str) -> tuple[list[str], int] | None:
    """Return what differs and how many numbers were compared; None where it cannot be computed."""
    name = f"analyses/{fit}/{kind}.json"
    stored = bundle.document(name)
    try:
        computed = _computed(bundle, fit, str(stored["kind"]))
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
    sources = ReleaseSources(Frame(bundle, ratings["pool"], ratings["context_set"]))
    found = analyse(kind, _ground(sources, kind, ratings)).as_json()
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


def _ground(sources: ReleaseSources, kind: str, ratings: Mapping[str, Any]) -> Ground:
    frame, method = sources.frame, method_of(ratings)
    if frame.is_alone:
        return Ground(implied_columns(frame.scores), method, dimensions={}, scores=frame.scores)
    columns = frame.with_strengths(method)
    if kind in STYLED:
        columns = _styled(frame, columns)
    return Ground(columns, method, frame.dimensions(method), sources)


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
