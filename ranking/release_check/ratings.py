"""Compute the ratings of a release again, and hold stored values against computed ones."""

from collections.abc import Iterator, Mapping
from dataclasses import fields
from math import isfinite
from typing import Any

from ranking.fits.estimate import Estimate, EstimateRefusedError, estimate_ratings
from ranking.fits.people import RatedPeople, rate_people
from ranking.judgments.code import is_close
from ranking.judgments.groups import GroupedJudgments
from ranking.judgments.method import Method
from ranking.release_check.bundle import Bundle
from ranking.release_check.frames import Frame, frame_of

OUTCOMES = ("wins", "losses", "ties")
OTHERS = ("systems", "outcomes", "replicates", "diagnostics")
OF_PEOPLE = ("elo", "elo_se", "elo_low", "elo_high", "n_judgments", "n_contexts", "detail")
DONE, REFUSED = "DONE", "REFUSED"


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
    return [*found, *_denials(frame, name, stored)], count_numbers(computed)


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
    judgments, method = frame.grouped(), Method.of(stored["method"])
    size = {"n_judgments": judgments.n_judgments, "n_units": len(judgments.dialogues)}
    try:
        estimate = estimate_ratings(judgments, method)
    except EstimateRefusedError as refusal:
        why = {"components": refusal.components, "joining": refusal.joining}
        nothing: dict[str, Any] = {"ratings": [], "people": [], "diagnostics": why}
        return size | nothing | {"state": REFUSED, "refusal": str(refusal)}
    people = rate_people(judgments, estimate, method)
    refused = {str(kind): reason for kind, reason in people.refusals}
    return size | {
        "state": DONE,
        "refusal": "",
        "ratings": list(_ratings(estimate, judgments)),
        "people": _people(people),
        "diagnostics": estimate.diagnostics | {"people_refused": refused},
    }


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
