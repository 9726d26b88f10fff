"""What the report of an audit says, and as lines of a terminal; free of the framework."""

from collections.abc import Iterable, Mapping, Sequence
from textwrap import shorten
from typing import Any

SHOWN = 20  # findings of a kind
WIDEST = 60  # characters of what was tested
HEADS = ("what might tell", "n", "found", "chance", "p", "")
HOLDS = "Nothing but the texts tells who wrote what."
NOTHING = "No pair was handed out yet: there is nothing to audit."


def verdicts(report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the tests of a report with whether they tell, those that do first.

    The many tests of tags are one line as long as none of them tells: the one with the smallest
    p-value stands for all.
    """
    telling = report.get("telling", ())
    tests = [one | {"tells": one["what"] in telling} for one in report.get("tests", ())]
    quiet = [one for one in tests if "<" in one["what"] and not one["tells"]]
    rest = sorted((one for one in tests if one not in quiet), key=lambda one: not one["tells"])
    if not quiet:
        return rest
    what = f"tags of the page: the most telling of {len(quiet)} counts and numbers"
    return [*rest, min(quiet, key=lambda one: one["p_value"]) | {"what": what}]


def lines(report: Mapping[str, Any]) -> list[str]:
    """Return the report as it is kept, with its tests as a table."""
    said = [f"{report['n_pages']:,} pages replayed, of {report['n_leases']:,} pairs handed out."]
    if report["is_simulated"]:
        said.append("The raters are simulated.")
    for kind, found in report["faults"].items():
        said.append(f"{kind}: {len(found)}")
        said.extend(f"  {one}" for one in found[:SHOWN])
    said.extend(_table(report))
    said.extend(f"text: {one}" for one in report["texts"][:SHOWN])
    said.extend(f"public, though the study goes on: {one}" for one in report.get("published", ()))
    said.append(_guesses(report["guesses"]))
    if report["holds"]:
        said.append(HOLDS if report["n_pages"] else NOTHING)
    return said


def _table(report: Mapping[str, Any]) -> Iterable[str]:
    """Yield the tests in columns."""
    rows = [_row(one) for one in verdicts(report)]
    if not rows:
        return
    widths = [max(len(row[column]) for row in (HEADS, *rows)) for column in range(len(HEADS))]
    for row in (HEADS, *rows):
        first, *numbers, verdict = row
        cells = (cell.rjust(width) for cell, width in zip(numbers, widths[1:-1], strict=True))
        yield "  ".join((first.ljust(widths[0]), *cells, verdict)).rstrip()


def _row(one: Mapping[str, Any]) -> Sequence[str]:
    verdict = "TELLS" if one["tells"] else "tells nothing"
    what = shorten(one["what"], WIDEST, placeholder=" ...")
    numbers = (f"{one['n']:,}", f"{one['value']:.3f}", f"{one['chance']:.2f}")
    return (what, *numbers, f"{one['p_value']:.3g}", verdict)


def _guesses(one: Mapping[str, Any] | None) -> str:
    if one is None:
        return "Raters were not asked, or said too little, to test their guesses."
    low, high = one["interval"]
    beside = f"95 % from {low:.3f} to {high:.3f}; {one['chance']:.3f} by chance, n={one['n']:,}"
    return f"{one['what']}: {one['value']:.3f} right ({beside}, p={one['p_value']:.3g})"
