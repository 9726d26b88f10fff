"""Write all files of a release to a folder, beside its place, and move them there at the end."""

import json
import shutil
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ranking.release_check.analyses import problems_of_analysis
from ranking.release_check.bundle import Bundle
from ranking.released.identities import names_in
from ranking.released.tables import BY_NAME
from ranking.released.writing import SUMS, document, files_of, lines, sha256_of, sums
from ranking.releases import documents, results, rows
from ranking.releases.contents import Contents

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
        _put(folder / f"ratings/{fit.key}.json", document(results.ratings(contents, fit)).encode())
        found[fit.key] = {"analyses": [], "figures": []}
        for kind, analysis in results.analyses(contents, fit):
            _put(folder / f"analyses/{fit.key}/{kind}.json", document(analysis).encode())
            found[fit.key]["analyses"].append(kind)
        for name, content in results.drawn(fit):
            _put(folder / f"figures/{fit.key}/{name}.svg", content)
            found[fit.key]["figures"].append(name)
    return found


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
