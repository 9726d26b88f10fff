"""Write all files of a release to a folder, beside its place, and move them there at the end."""

import json
import shutil
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.db.models import Q

from ranking import figures
from ranking.boards import missing_from, refusal_of
from ranking.choices import FitState
from ranking.figures import FigureFormat, FigureRefusedError
from ranking.findings import Findings, Picture, Table
from ranking.fits import analysis_queries
from ranking.models import Analysis, DimensionRate, Fit, HumanRating, Rating
from ranking.release_check.bundle import Bundle
from ranking.release_check.results import OF_PEOPLE, problems_of_analysis
from ranking.released.identities import names_in, renamed
from ranking.released.tables import BY_NAME
from ranking.released.writing import SUMS, document, files_of, lines, sha256_of, sums
from ranking.releases import documents, rows
from ranking.releases.contents import Contents
from ranking.report import figures as report_figures

Tell = Callable[[str], None]
READERS: Mapping[str, Callable[[Contents], Iterable[dict[str, Any]]]] = {
    "systems": rows.systems,
    "contexts": rows.contexts,
    "completions": rows.completions,
    "comparisons": rows.comparisons,
    "raters": rows.raters,
    "judges": rows.judges,
    "judgments": rows.judgments,
    "exclusions": rows.exclusions,
    "checks": rows.checks,
    "external_batches": rows.external_batches,
    "external_judgments": rows.external_judgments,
}
Computed = dict[str, dict[str, list[str]]]
OF_FACTS = "latency"
"""The analysis that rests on figures of systems which a catalogue may change after it."""
OUTDATED = "Analyses of latency ({n}): what is known of the systems changed after them."
RATED = (
    *("theta", "elo", "elo_se", "elo_low", "elo_high", "rank", "rank_low", "rank_high"),
    *("joint_low", "joint_high", "tier", "sandwich_se"),
    *("n_judgments", "wins", "losses", "ties"),
)
KEPT_BACK = ("stamp",)  # keys of rows, which mean nothing elsewhere
SCANNED = (".json", ".jsonl", ".md", ".svg", ".txt")


class LeakError(Exception):
    """A pseudonym of the platform stands in a file that was to be released."""


def write_release(contents: Contents, folder: Path, tell: Tell) -> str:
    """Write a release, and return the SHA-256 of its list of checksums.

    The files are written beside the folder and get its name at the end, all at once: whoever is
    stopped in between leaves no half release. ``tell`` hears what is being written.

    Raises
    ------
    LeakError
        If a rater's pseudonym would leave.
    FileExistsError
        If the folder exists and is not empty.
    """
    if folder.exists() and any(folder.iterdir()):
        raise FileExistsError(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    beside = folder.parent / f".{folder.name}.{uuid.uuid4().hex[:8]}.part"
    try:
        beside.mkdir()
        _write(contents, beside, tell)
        if folder.exists():
            folder.rmdir()
        beside.rename(folder)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return sha256_of(folder / SUMS)


def _write(contents: Contents, folder: Path, tell: Tell) -> None:
    counts: dict[str, int] = {}
    for name, read in READERS.items():
        tell(name)
        path = folder / BY_NAME[name].path
        counts[name] = _put_lines(path, read(contents))
        if BY_NAME[name].is_optional and not counts[name]:
            path.unlink()
            del counts[name]
    tell("ratings")
    computed = _put_results(contents, folder)
    tell("documents")
    _put_documents(contents, counts, computed, folder)
    if n := _leave_out_outdated(folder, computed):
        told = replace(contents, notes=(*contents.notes, OUTDATED.format(n=n)))
        _put_documents(told, counts, computed, folder)
    tell("checks of what was written")
    _refuse_leaks(contents, folder)
    tell("checksums")
    _put(folder / SUMS, sums(folder).encode())


def _put_results(contents: Contents, folder: Path) -> Computed:
    """Write what was computed, and return the names of the analyses and figures of each fit."""
    found: Computed = {}
    for fit in contents.fits:
        _put(folder / f"ratings/{fit.key}.json", document(_ratings(contents, fit)).encode())
        found[fit.key] = {"analyses": [], "figures": []}
        if missing_from(fit):
            continue
        for kind, analysis in _analyses(contents, fit):
            _put(folder / f"analyses/{fit.key}/{kind}.json", document(analysis).encode())
            found[fit.key]["analyses"].append(kind)
        for name, content in _figures(fit):
            _put(folder / f"figures/{fit.key}/{name}.svg", content)
            found[fit.key]["figures"].append(name)
    return found


def _ratings(contents: Contents, fit: Fit) -> dict[str, Any]:
    """Return a fit with all its ratings: none of one below the minimum of its study."""
    refusal = refusal_of(fit)
    told = Q(pk__in=()) if refusal else Q(fit=fit)
    rows = Rating.objects.filter(told).select_related("system").order_by("system__slug")
    people = HumanRating.objects.filter(told).order_by("kind")
    rates = DimensionRate.objects.filter(rating__in=Rating.objects.filter(told).values("pk"))
    found: dict[int, dict[str, Any]] = {}
    for rating, dimension, wins, n in rates.values_list("rating", "dimension", "wins", "n_marks"):
        found.setdefault(rating, {})[dimension] = {"wins": wins, "n_marks": n}
    known = {key: fit.diagnostics[key] for key in fit.diagnostics if key not in KEPT_BACK}
    return {
        "fit": fit.key,
        "pool": fit.pool,
        "context_set": fit.context_set,
        "as_of": fit.as_of.isoformat(),
        "code_version": fit.code_version,
        "method": fit.method,
        "is_simulated": fit.is_simulated,
        "n_judgments": fit.n_judgments,
        "n_units": fit.n_units,
        "state": FitState.REFUSED if refusal else fit.state,
        "refusal": refusal,
        "diagnostics": renamed(known, contents.codes),
        "ratings": [
            {"system": row.system.slug, "dimensions": found.get(row.pk, {})}
            | {name: getattr(row, name) for name in RATED}
            for row in rows
        ],
        "people": [
            {"kind": row.kind} | {name: getattr(row, name) for name in OF_PEOPLE} for row in people
        ],
    }


def _analyses(contents: Contents, fit: Fit) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the analyses of a fit that have ended, by their kinds in small letters.

    Raters go by their ids here as everywhere. What pages compute from beside the tables stays.
    """
    newest: dict[str, Analysis] = {}
    ended = Analysis.objects.filter(fit=fit).exclude(state=FitState.RUNNING)
    for row in ended.order_by("claimed_at", "pk"):
        newest[row.kind] = row
    for kind in sorted(newest):
        row = newest[kind]
        found = dict(row.result)
        found.pop("kept", None)
        yield (
            kind.lower(),
            {
                "fit": fit.key,
                "kind": kind,
                "code_version": row.code_version,
                "is_simulated": fit.is_simulated,
                "refusal": row.refusal,
                "findings": _without_codes(found, contents.codes) if found else None,
            },
        )


def _without_codes(found: dict[str, Any], codes: Mapping[str, str]) -> dict[str, Any]:
    cleaned: dict[str, Any] = renamed(found, codes)
    for table in cleaned["tables"]:
        if any(column["kind"] == "evaluator" for column in table["columns"]):
            table["rows"] = sorted(table["rows"], key=str)  # not in the order of pseudonyms
    return cleaned


def _figures(fit: Fit) -> Iterator[tuple[str, bytes]]:
    """Yield the figures of a fit as SVG by their names: its ratings, and what analyses draw.

    They are those of the public pages: no person is in them alone. What cannot be drawn in print
    is left out.
    """
    if fit.state == FitState.DONE:
        groups, caption, sign = report_figures.ratings_to_draw(fit)
        with suppress(FigureRefusedError):
            drawing = figures.board_drawing(groups, caption, sign)
            yield "ratings", figures.rendered(drawing, FigureFormat.SVG)
    for shown in analysis_queries.analyses_of(fit):
        for table in _with_pictures(shown.findings):
            named = report_figures.table_to_draw(fit, shown.kind.lower(), table.key)
            with suppress(FigureRefusedError):
                if named is not None:
                    drawing = figures.table_drawing(*named)
                    name = f"{shown.kind.lower()}-{table.key}"
                    yield name, figures.rendered(drawing, FigureFormat.SVG)


def _with_pictures(found: Findings | None) -> list[Table]:
    tables = found.tables if found else ()
    return [one for one in tables if one.picture not in {Picture.NONE, Picture.RADAR}]


def _put_documents(
    contents: Contents, counts: Mapping[str, int], computed: Computed, folder: Path
) -> None:
    for name, text in documents.files(contents, counts, computed, folder).items():
        _put(folder / name, text.encode())


def _leave_out_outdated(folder: Path, computed: Computed) -> int:
    """Delete analyses that what is known of systems by now gainsays; return of how many fits."""
    if not any(OF_FACTS in names["analyses"] for names in computed.values()):
        return 0
    bundle = Bundle.read(folder)
    outdated = [
        fit["fit"]
        for fit in bundle.about["fits"]
        if OF_FACTS in fit["analyses"] and problems_of_analysis(bundle, fit, OF_FACTS)[0]
    ]
    for fit in outdated:
        (folder / f"analyses/{fit}/{OF_FACTS}.json").unlink()
        for figure in (folder / f"figures/{fit}").glob(f"{OF_FACTS}-*"):
            figure.unlink()
        for names in computed[fit].values():
            names[:] = [name for name in names if not name.startswith(OF_FACTS)]
    return len(outdated)


def _put_lines(path: Path, rows: Iterable[dict[str, Any]]) -> int:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="\n") as file:
        return sum(bool(file.write(one)) for one in lines(rows))


def _put(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def _refuse_leaks(contents: Contents, folder: Path) -> None:
    """Search every file for the pseudonyms of the study's raters.

    Texts that were judged may hold any word; they were there before any rater came.
    """
    judged = {BY_NAME["contexts"].path, BY_NAME["completions"].path}
    for name in files_of(folder):
        if name in judged or not name.endswith(SCANNED):
            continue
        if any(names_in(one, contents.codes.keys()) for one in _said(folder / name)):
            msg = f"{name} holds a rater's pseudonym: nothing was released."
            raise LeakError(msg)


def _said(path: Path) -> Iterator[Any]:
    """Yield what a file says, in parts; of JSON its values, whose texts have no escapes."""
    with path.open(encoding="utf-8") as file:
        if path.suffix == ".json":
            yield json.load(file)
        else:
            yield from map(json.loads, file) if path.suffix == ".jsonl" else file
