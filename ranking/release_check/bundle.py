"""The files of a release, read, and what is wrong with tables, references and texts in them."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from completions.files.toml import content_hash
from ranking.released.identities import id_of
from ranking.released.tables import (
    ABOUT,
    BY_NAME,
    FORMAT,
    TABLES,
    ReleaseTable,
    names_of_files,
    problems_of_about,
)
from ranking.released.writing import (
    SUMS,
    files_of,
    read_json,
    read_sums,
    sha256,
    sha256_of,
    text_of,
)

Row = Mapping[str, Any]


class UnreadableError(Exception):
    """A file of a release cannot be read; the message names it and says why."""


@dataclass(frozen=True)
class Bundle:
    """A release: its folder, what it says of itself, and its tables by their names."""

    folder: Path
    about: Mapping[str, Any]
    tables: Mapping[str, tuple[Row, ...]]

    @classmethod
    def read(cls, folder: Path) -> "Bundle":
        """Read a release.

        Raises
        ------
        UnreadableError
            If it is no release of a format that is known, or a file of it cannot be read.
        """
        about = read_document(folder, "release.json")
        if about.get("format") != FORMAT:
            msg = f"release.json: its format is not {FORMAT!r}"
            raise UnreadableError(msg)
        return cls(folder, about, {one.name: _rows_of(folder, one) for one in TABLES})

    def document(self, name: str) -> Mapping[str, Any]:
        """Return a file of JSON."""
        return read_document(self.folder, name)

    def by_key(self, table: str) -> Mapping[str, Row]:
        """Return the rows of a table by its key."""
        return self._indices[table]

    @cached_property
    def frames(self) -> dict[tuple[str, str], Any]:
        """Hold what `frame_of` made of the tables."""
        return {}

    @cached_property
    def _indices(self) -> dict[str, dict[str, Row]]:
        return {
            name: {row[BY_NAME[name].key]: row for row in rows}
            for name, rows in self.tables.items()
        }


def _rows_of(folder: Path, table: ReleaseTable) -> tuple[Row, ...]:
    if table.is_optional and not (folder / table.path).exists():
        return ()
    return tuple(read_rows(folder, table.path))


def read_document(folder: Path, name: str) -> Mapping[str, Any]:
    """Return a file of JSON that holds an object.

    Raises
    ------
    UnreadableError
        If it is not there or holds something else.
    """
    with _reading(name):
        found = read_json(_content_of(folder, name))
    if not isinstance(found, dict):
        msg = f"{name}: holds no object"
        raise UnreadableError(msg)
    return found


def read_rows(folder: Path, name: str) -> Iterator[Row]:
    """Yield the rows of a file of JSON lines.

    Raises
    ------
    UnreadableError
        If it is not there, or a line holds something else.
    """
    with _reading(name), (folder / name).open("rb") as file:
        for number, line in enumerate(iter(partial(file.readline, LONGEST), b""), start=1):
            with _reading(f"{name}: line {number}"):
                row = read_json(line)
            if not isinstance(row, dict):
                msg = f"{name}: line {number} holds no object"
                raise UnreadableError(msg)
            yield row


LONGEST = 10_000_000
"""Bytes of a line: a context of a thousand long turns has fewer."""
LARGEST = 100_000_000
"""Bytes of a document: what an analysis found has a hundredth."""


@contextmanager
def _reading(name: str) -> Iterator[None]:
    """Say of which file it is, and in words why, that something cannot be read."""
    try:
        yield
    except OSError as error:
        msg = f"{name}: cannot be read ({error.strerror})"
        raise UnreadableError(msg) from error
    except ValueError as error:
        msg = f"{name}: cannot be read ({error})"
        raise UnreadableError(msg) from error


def _content_of(folder: Path, name: str) -> bytes:
    """Return what is in a document of the release, and of no other place."""
    place = folder / name
    if ".." in Path(name).parts or not place.is_relative_to(folder) or not place.is_file():
        msg = "there is no such file in the release"
        raise ValueError(msg)
    with place.open("rb") as file:
        content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        msg = f"it has more than {LARGEST:,} bytes"
        raise ValueError(msg)
    return content


REFERENCES: Mapping[str, Mapping[str, str]] = {
    "contexts": {"source_context": "contexts"},
    "completions": {"context": "contexts", "system": "systems"},
    "comparisons": {"context": "contexts", "first": "completions", "second": "completions"},
    "judgments": {
        "comparison": "comparisons",
        "rater": "raters",
        "judge": "judges",
        "revises": "judgments",
    },
    "exclusions": {"rater": "raters", "judge": "judges"},
    "checks": {"comparison": "comparisons"},
    "external_judgments": {"batch": "external_batches", "comparison": "comparisons"},
}
OUTSIDE = ("contexts", "source_context")  # the source of a rewrite need not be compared
SCALES = {"PREFERENCE": (-2, 2), "RUBRIC": (-5, 5)}
NEVER = ("is_surplus", "is_check", "is_repeat")  # what is so does not count


def problems_of_shape(bundle: Bundle) -> Iterator[str]:
    """Yield what is wrong with the fields of rows, line by line, and with numbers of rows.

    Raises
    ------
    KeyError, TypeError, AttributeError
        If what the release says of itself is of another kind.
    """
    yield from problems_of_about(bundle.about)
    names_of_files(bundle.about)
    for table in TABLES:
        rows = bundle.tables[table.name]
        for number, row in enumerate(rows, start=1):
            for problem in table.problems(row):
                yield f"{table.path}: line {number}: {problem}"
        told = bundle.about["counts"].get(table.name, 0 if table.is_optional else None)
        if told != len(rows):
            yield f"{table.path}: has {len(rows)} rows, and release.json says {told}"


def problems_of_kinds(folder: Path) -> Iterator[str]:
    """Yield what is no file: reading a link, a pipe or a device may lead elsewhere or never end."""
    for name in files_of(folder):
        place = folder / name
        if place.is_symlink():
            yield f"{name}: is a link and not a file"
        elif not place.is_file():
            yield f"{name}: is a pipe or a device and not a file"


def problems_of_names(bundle: Bundle) -> Iterator[str]:
    """Yield which files are not there, or one too many, by what the release says of itself."""
    told, there = names_of_files(bundle.about), frozenset(files_of(bundle.folder))
    for name in sorted(told ^ there):
        if name in told:
            yield f"{name}: is not in the folder, and {ABOUT} tells of it"
        else:
            yield f"{name}: {ABOUT} tells of no such file"


def problems_of_references(bundle: Bundle) -> Iterator[str]:
    """Yield what is wrong with keys and references, of rows whose shape is right."""
    for table in TABLES:
        keys = Counter(row[table.key] for row in bundle.tables[table.name])
        for key, n in keys.items():
            if n > 1:
                yield f"{table.path}: {n} rows have the {table.key} {key!r}"
    for name, fields in REFERENCES.items():
        for field, target in fields.items():
            yield from _lost(bundle, name, field, target)
    yield from _decisions(bundle)
    yield from _answers(bundle)


def _lost(bundle: Bundle, name: str, field: str, target: str) -> Iterator[str]:
    if (name, field) == OUTSIDE:
        return
    known = bundle.by_key(target)
    for number, row in enumerate(bundle.tables[name], start=1):
        if row[field] is not None and row[field] not in known:
            yield f"{BY_NAME[name].path}: line {number}: {field} {row[field]!r} is in no {target}"


def _decisions(bundle: Bundle) -> Iterator[str]:
    newest = {one["rater"] or one["judge"]: one for one in bundle.tables["exclusions"]}
    for name in ("raters", "judges"):
        for who, row in bundle.by_key(name).items():
            if row["is_excluded"] != (who in newest and newest[who]["is_excluded"]):
                yield f"{BY_NAME[name].path}: {who}: is_excluded is not what exclusions say last"


def _answers(bundle: Bundle) -> Iterator[str]:
    """Look at what judgments say: one evaluator each, a verdict on the scale, right numbers."""
    given = Counter[str]()
    out = {row["id"] for row in bundle.tables["raters"] if row["is_excluded"]}
    out |= {row["slug"] for row in bundle.tables["judges"] if row["is_excluded"]}
    if not bundle.document("study/plan.json")["is_simulated"]:
        out |= {row["id"] for row in bundle.tables["raters"] if row["is_simulated"]}
    for number, row in enumerate(bundle.tables["judgments"], start=1):
        where = f"{BY_NAME['judgments'].path}: line {number}"
        if (row["rater"] is None) == (row["judge"] is None):
            yield f"{where}: is by a rater or by a judge"
            continue
        who = row["rater"] or row["judge"]
        given[who] += 1
        yield from (
            f"{where}: {problem}" for problem in _of_answer(row, given[who], is_out=who in out)
        )
    for rater in bundle.tables["raters"]:
        if given[rater["id"]] != rater["n_judgments"]:
            yield (
                f"{BY_NAME['raters'].path}: {rater['id']} has {given[rater['id']]} judgments, "
                f"and n_judgments says {rater['n_judgments']}"
            )


def _of_answer(row: Row, number: int, *, is_out: bool) -> Iterator[str]:
    """Yield what is wrong with one judgment by an evaluator who gave so many before."""
    if row["number"] != number:
        yield f"number is {row['number']}, and it is that evaluator's {number}."
    if row["protocol"] not in {*SCALES, "LIKERT"}:
        yield f"protocol {row['protocol']!r} is not known"
    if not _is_on_scale(row, row):
        yield f"verdict {row['verdict']} is off the scale"
    if row["side_of_first"] not in {"A", "B"}:
        yield "side_of_first is neither A nor B"
    if row["counts"] and (is_out or any(row[name] for name in NEVER)):
        yield "counts, and must not"


def problems_of_files(folder: Path) -> Iterator[str]:
    """Yield what is wrong: a file that is missing, one too many, or another than the listed one."""
    try:
        with _reading(SUMS):
            listed = read_sums(text_of(_content_of(folder, SUMS)))
    except UnreadableError as error:
        yield str(error)
        return
    there = set(files_of(folder)) - {SUMS}
    for name in sorted(there | listed.keys()):
        if name not in there:
            yield f"{name}: is in {SUMS} and not in the folder"
        elif name not in listed:
            yield f"{name}: is in the folder and not in {SUMS}"
        elif sha256_of(folder / name) != listed[name]:
            yield f"{name}: its checksum is not the one in {SUMS}"


def problems_of_hashes(bundle: Bundle) -> Iterator[str]:
    """Yield what is not what its hash says: texts, contexts, protocol, rubric, prompts."""
    yield from _texts(bundle)
    yield from _turns(bundle)
    yield from _study(bundle)
    yield from _prompts(bundle)


def _texts(bundle: Bundle) -> Iterator[str]:
    originals = {row["slug"] for row in bundle.tables["systems"] if row["kind"] == "ORIGINAL"}
    kept = set() if bundle.about["dataset"]["has_text"] else originals
    for number, row in enumerate(bundle.tables["completions"], start=1):
        where = f"{BY_NAME['completions'].path}: line {number}: {row['id']}"
        if row["text"] is not None and sha256(row["text"].encode()) != row["content_hash"]:
            yield f"{where}: the text is not the one of its content_hash"
        if row["text"] is None and not row["is_erased"] and row["system"] not in kept:
            yield f"{where}: the text is null, and neither deleted nor kept by the licence"
        if row["is_erased"] and (row["text"] or row["content_hash"]):
            yield f"{where}: was deleted, and something of it is left"


def _turns(bundle: Bundle) -> Iterator[str]:
    has_text = bundle.about["dataset"]["has_text"]
    for number, row in enumerate(bundle.tables["contexts"], start=1):
        where = f"{BY_NAME['contexts'].path}: line {number}: {row['key']}"
        if row["turns"] is None and has_text:
            yield f"{where}: the turns are null, and the licence does not keep them"
        if row["turns"] is not None and _of_turns(row["turns"]) != row["content_hash"]:
            yield f"{where}: the turns are not those of its content_hash"


def _of_turns(turns: list[Any]) -> str:
    """Return the hash by which the site knows turns: of their JSON, without spaces or escapes."""
    return sha256(json.dumps(turns, ensure_ascii=False, separators=(",", ":")).encode())


def _study(bundle: Bundle) -> Iterator[str]:
    protocol, rubric = bundle.document("study/protocol.json"), bundle.document("study/rubric.json")
    about = bundle.about
    if content_hash(protocol) != about["protocol_hash"]:
        yield "study/protocol.json: is not the one of protocol_hash in release.json"
    if content_hash(rubric) != about["rubric_hash"]:
        yield "study/rubric.json: is not the one of rubric_hash in release.json"
    if protocol.get("rubric") != rubric:
        yield "study/rubric.json: is not the rubric in study/protocol.json"
    seed = bundle.document("study/plan.json").get("seed")
    if seed is not None and sha256(str(seed).encode()) != protocol.get("seed_sha256"):
        yield "study/plan.json: the seed is not the one of seed_sha256 in study/protocol.json"
    others = {row["protocol_hash"] for row in bundle.tables["judgments"]} - {about["protocol_hash"]}
    for other in sorted(others):
        yield f"{BY_NAME['judgments'].path}: judgments name another protocol_hash: {other}"


def _prompts(bundle: Bundle) -> Iterator[str]:
    for name, digest in sorted(bundle.about["prompts"].items()):
        with _reading(f"prompts/{name}"):
            text = text_of(_content_of(bundle.folder, f"prompts/{name}"))
        if sha256(text.encode()) != digest:
            yield f"prompts/{name}: is not the one of its hash in release.json"
        if name == "judge.txt":
            yield from _rubric_in(text, bundle)


def _rubric_in(text: str, bundle: Bundle) -> Iterator[str]:
    """Look for what the rubric asks in the prompt of the judges."""
    for dimension in bundle.document("study/rubric.json").get("dimensions", []):
        if dimension["asks"] not in text:
            yield f"prompts/judge.txt: does not ask what the rubric asks of {dimension['key']}"


def problems_of_external(bundle: Bundle) -> Iterator[str]:
    """Yield rows that are not what their ids say, or off the scale, and wrong numbers of rows."""
    path = BY_NAME["external_judgments"].path
    batches = bundle.by_key("external_batches")
    given, once = Counter[str](), Counter[tuple[str, str, str]]()
    for number, row in enumerate(bundle.tables["external_judgments"], start=1):
        given[row["batch"]] += 1
        once[row["batch"], row["comparison"], row["rater"]] += 1
        if id_of(row) != row["id"]:
            yield f"{path}: line {number}: {row['id']} is not the row of that id: it was changed"
        if not _is_on_scale(row, batches.get(row["batch"], {})):
            yield f"{path}: line {number}: verdict {row['verdict']} is off the scale"
    for (batch, comparison, rater), n in once.items():
        if n > 1:
            yield f"{path}: {batch} has {n} verdicts of {rater} on {comparison}"
    for name, batch_row in batches.items():
        if given[name] != batch_row["n_judgments"]:
            told = f"{given[name]} judgments, and n_judgments says {batch_row['n_judgments']}"
            yield f"{BY_NAME['external_batches'].path}: {name} has {told}"


def _is_on_scale(row: Row, batch: Row) -> bool:
    scale = SCALES.get(batch.get("protocol", ""))
    if scale is None:
        return row["verdict"] is None
    return row["verdict"] is not None and scale[0] <= row["verdict"] <= scale[1]
