"""Everything that can be checked about a release, and the report of it."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from completions.files.refusals import shown
from ranking.judgments.method import code_version
from ranking.release_check.bundle import (
    Bundle,
    UnreadableError,
    problems_of_external,
    problems_of_files,
    problems_of_hashes,
    problems_of_kinds,
    problems_of_names,
    problems_of_references,
    problems_of_shape,
)
from ranking.release_check.results import problems_of_analysis, problems_of_ratings
from ranking.released.tables import ABOUT

SHOWN = 40
LONGEST = 400
"""How much of a problem is told, and how many."""
Tell = Callable[[str], None]
Found = tuple[list[str], int | None]
"""Problems, and how many numbers were computed again; None where none can be."""
CHECKS: Mapping[str, Callable[[Bundle], Iterable[str]]] = {
    ABOUT: problems_of_names,
    "data": problems_of_references,
    "external": problems_of_external,
    "hashes": problems_of_hashes,
}


@dataclass(frozen=True)
class Report:
    """What checking a release found.

    ``recomputed`` are the files whose numbers were computed again, ``checksummed`` the analyses
    of which that cannot be done from what is released, ``n_numbers`` how many were compared.
    """

    key: str
    problems: tuple[str, ...]
    recomputed: tuple[str, ...] = ()
    checksummed: tuple[str, ...] = ()
    n_numbers: int = 0
    is_other_code: bool = False

    @property
    def is_sound(self) -> bool:
        """Whether nothing differs."""
        return not self.problems

    def as_text(self) -> str:
        """Return the report for people, the shortest summary at its end."""
        lines = [f"  {_printable(one)}" for one in self.problems[:SHOWN]]
        if len(self.problems) > SHOWN:
            lines.append(f"  and {len(self.problems) - SHOWN} more")
        lines += self._table()
        if self.is_other_code:
            lines.append("Another version of the estimators computed the release.")
        name = _printable(self.key) or "This folder"
        if self.is_sound:
            lines.append(f"{name} holds: {self.n_numbers} numbers computed again are the same.")
        else:
            lines.append(f"{name} does not hold: {len(self.problems)} problems.")
        return "\n".join(lines)

    def _table(self) -> list[str]:
        """Return a line for each fit, and one for all of them."""
        columns = (self.recomputed, self.checksummed, self._differing())
        counts = [Counter(map(_fit_of, names)) for names in columns]
        fits = list(dict.fromkeys(map(_fit_of, (*self.recomputed, *self.checksummed))))
        if not fits:
            return []
        width = max(map(len, fits))
        return [
            f"{'fit':<{width}}  recomputed  only checksummed  differing",
            *(_line(_printable(fit).ljust(width), [one[fit] for one in counts]) for fit in fits),
            _line("all".ljust(width), [one.total() for one in counts]),
        ]

    def _differing(self) -> tuple[str, ...]:
        """Return the files of results of which something was found to differ."""
        files = {*self.recomputed, *self.checksummed}
        named = {problem.partition(":")[0].partition(" ")[0] for problem in self.problems}
        return tuple(sorted(files & named))

    def as_json(self) -> dict[str, object]:
        """Return all of the report, with the names of all files."""
        return {
            "release": self.key,
            "is_sound": self.is_sound,
            "problems": list(self.problems),
            "recomputed": list(self.recomputed),
            "checksummed": list(self.checksummed),
            "n_numbers": self.n_numbers,
            "is_other_code": self.is_other_code,
        }


def _line(fit: str, counts: Sequence[int]) -> str:
    recomputed, checksummed, differing = counts
    return f"{fit}  {recomputed:>10}  {checksummed:>16}  {differing:>9}"


def _fit_of(name: str) -> str:
    """Return the key of the fit that a file of results belongs to."""
    return name.split("/")[1].removesuffix(".json")


def verify(folder: Path, *, is_quick: bool = False, tell: Tell = lambda _: None) -> Report:
    """Check a release by its files alone.

    Checksums, shapes, references and hashes come first. Numbers are computed again even where a
    checksum is wrong, so that everything that was changed is named; only files that cannot be
    read stop that. ``is_quick`` leaves out all analyses but agreement; ``tell`` hears what is
    looked at.
    """
    if odd := tuple(problems_of_kinds(folder)):
        return Report("", odd)
    tell("checksums")
    problems = list(problems_of_files(folder))
    try:
        bundle = Bundle.read(folder)
    except UnreadableError as error:
        return Report("", (*problems, str(error)))
    tell("tables")
    shapes = list(_shapes(bundle))
    problems += shapes
    if shapes:
        return Report(str(bundle.about.get("key", "")), tuple(problems))
    return _recomputed(bundle, problems, is_quick=is_quick, tell=tell)


def _shapes(bundle: Bundle) -> Iterator[str]:
    try:
        yield from problems_of_shape(bundle)
    except (KeyError, TypeError, AttributeError) as error:
        yield f"release.json: lacks what every release has: {_in_words(error)}"


def _recomputed(bundle: Bundle, problems: list[str], *, is_quick: bool, tell: Tell) -> Report:
    for what, check in CHECKS.items():
        problems += _guarded(what, partial(_listed, check, bundle))[0]
    recomputed, checksummed, n_numbers = list[str](), list[str](), 0
    for name, compute in _computations(bundle, is_quick=is_quick):
        tell(_printable(name))
        found, n = _guarded(name, compute)
        problems += found
        n_numbers += n or 0
        is_left_out = n is None and name.startswith("analyses/")
        (checksummed if is_left_out else recomputed).append(name)
    return Report(
        key=bundle.about["key"],
        problems=tuple(problems),
        recomputed=tuple(recomputed),
        checksummed=tuple(checksummed),
        n_numbers=n_numbers,
        is_other_code=bundle.about["code_version"] != code_version(),
    )


def _computations(bundle: Bundle, *, is_quick: bool) -> Iterator[tuple[str, Callable[[], Found]]]:
    """Yield the files of results, each with what computes it again."""
    for fit in bundle.about["fits"]:
        yield f"ratings/{fit['fit']}.json", partial(problems_of_ratings, bundle, fit)
        for kind in fit["analyses"]:
            again = partial(problems_of_analysis, bundle, fit, kind, is_quick=is_quick)
            yield f"analyses/{fit['fit']}/{kind}.json", again


def _listed(check: Callable[[Bundle], Iterable[str]], bundle: Bundle) -> Found:
    return list(check(bundle)), None


def _guarded(what: str, check: Callable[[], Found]) -> Found:
    """Return what a part of the check found, or that it could not be done."""
    try:
        return check()
    except UnreadableError as error:
        return [str(error)], None
    except Exception as error:
        return [f"{what}: cannot be checked: {_in_words(error)}"], None


def _in_words(error: Exception) -> str:
    """Say what is odd in a file, without the words of the language that found it."""
    if isinstance(error, KeyError):
        return f"there is no {error.args[0]!r}"
    return "a value is of another kind than in every release"


def _printable(text: str) -> str:
    """Return one line that is not long and that any terminal shows as it is."""
    return shown(text if len(text) <= LONGEST else f"{text[:LONGEST]}...")
