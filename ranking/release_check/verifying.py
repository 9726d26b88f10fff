"""Everything that can be checked about a release, and the report of it."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ranking.judgments.code import code_version
from ranking.release_check.analyses import problems_of_analysis
from ranking.release_check.bundle import Bundle, Row, UnreadableError
from ranking.release_check.files import problems_of_external, problems_of_files, problems_of_hashes
from ranking.release_check.ratings import problems_of_ratings
from ranking.release_check.shapes import (
    problems_of_names,
    problems_of_references,
    problems_of_shape,
)
from ranking.released.files.names import ABOUT

SHOWN = 40
Tell = Callable[[str], None]


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
        lines = [f"  {one}" for one in self.problems[:SHOWN]]
        if len(self.problems) > SHOWN:
            lines.append(f"  and {len(self.problems) - SHOWN} more")
        lines += self._table()
        if self.is_other_code:
            lines.append("Another version of the estimators computed the release.")
        name = self.key or "This folder"
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
            *(_line(fit.ljust(width), [one[fit] for one in counts]) for fit in fits),
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
        yield f"release.json: lacks what every release has ({error!r})"


def _guarded(what: str, found: Callable[[], Iterable[str]]) -> list[str]:
    """Return what a part of the check found, or that it could not be done."""
    try:
        return list(found())
    except UnreadableError as error:
        return [str(error)]
    except Exception as error:
        return [f"{what}: cannot be checked ({error!r})"]


def _recomputed(bundle: Bundle, problems: list[str], *, is_quick: bool, tell: Tell) -> Report:
    problems += _guarded(ABOUT, lambda: problems_of_names(bundle))
    problems += _guarded("data", lambda: problems_of_references(bundle))
    problems += _guarded("external", lambda: problems_of_external(bundle))
    problems += _guarded("hashes", lambda: problems_of_hashes(bundle))
    recomputed, checksummed, counted = list[str](), list[str](), list[int]()
    for fit in bundle.about["fits"]:
        name = f"ratings/{fit['fit']}.json"
        tell(name)
        problems += _guarded(name, partial(_rated, counted, bundle, fit))
        recomputed.append(name)
        for kind in fit["analyses"]:
            name = f"analyses/{fit['fit']}/{kind}.json"
            tell(name)
            n_before = len(counted)
            problems += _guarded(
                name, partial(_analysed, counted, bundle, fit, kind, is_quick=is_quick)
            )
            (recomputed if len(counted) > n_before else checksummed).append(name)
    return Report(
        key=bundle.about["key"],
        problems=tuple(problems),
        recomputed=tuple(recomputed),
        checksummed=tuple(checksummed),
        n_numbers=sum(counted),
        is_other_code=bundle.about["code_version"] != code_version(),
    )


def _rated(counted: list[int], bundle: Bundle, fit: Row) -> list[str]:
    return _count(counted, problems_of_ratings(bundle, fit))


def _analysed(
    counted: list[int], bundle: Bundle, fit: Row, kind: str, *, is_quick: bool
) -> list[str]:
    return _count(counted, problems_of_analysis(bundle, fit, kind, is_quick=is_quick))


def _count(counted: list[int], found: tuple[list[str], int | None]) -> list[str]:
    problems, n_numbers = found
    if n_numbers is not None:
        counted.append(n_numbers)
    return problems
