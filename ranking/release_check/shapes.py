"""Whether tables have the fields that they should, and every reference leads somewhere."""

from collections import Counter
from collections.abc import Iterator, Mapping

from ranking.release_check.bundle import Bundle, Row
from ranking.released.files.names import ABOUT, names_of_files
from ranking.released.files.tables import BY_NAME, TABLES
from ranking.released.writing import files_of

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
    """Yield what is wrong with the fields of rows, line by line, and with numbers of rows."""
    for table in TABLES:
        rows = bundle.tables[table.name]
        for number, row in enumerate(rows, start=1):
            for problem in table.problems(row):
                yield f"{table.path}: line {number}: {problem}"
        told = bundle.about["counts"].get(table.name, 0 if table.is_optional else None)
        if told != len(rows):
            yield f"{table.path}: has {len(rows)} rows, and release.json says {told}"


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
    yield from _answers(bundle)


def _lost(bundle: Bundle, name: str, field: str, target: str) -> Iterator[str]:
    if (name, field) == OUTSIDE:
        return
    known = bundle.by_key(target)
    for number, row in enumerate(bundle.tables[name], start=1):
        if row[field] is not None and row[field] not in known:
            yield f"{BY_NAME[name].path}: line {number}: {field} {row[field]!r} is in no {target}"


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
    if row["protocol"] in SCALES:
        low, high = SCALES[row["protocol"]]
        if row["verdict"] is None or not low <= row["verdict"] <= high:
            yield f"verdict {row['verdict']} is off the scale"
    if row["side_of_first"] not in {"A", "B"}:
        yield "side_of_first is neither A nor B"
    if row["counts"] and (is_out or any(row[name] for name in NEVER)):
        yield "counts, and must not"
