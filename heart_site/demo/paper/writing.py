"""Write the numbers as a page and as JSON, and the release beside them."""

import datetime as dt
import json
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict
from itertools import groupby
from pathlib import Path

from django.template.loader import render_to_string
from django.utils import timezone

from annotation.models import Study
from completions.management.acting import put
from heart_site.demo.paper import judged, rated
from heart_site.demo.paper.number import COUNT, POINTS, SHARE, Beside, Number
from heart_site.demo.paper.study import SEED, Paper
from ranking.judgments.method import code_version
from ranking.release_check.verifying import verify
from ranking.releases import services as release_services

JSON, PAGE, RELEASE = "numbers.json", "numbers.html", "release"
Tell = Callable[[str], None]
TOPICS = (
    judged.size,
    judged.agreement,
    judged.judges,
    judged.people_and_models,
    rated.elo,
    rated.win_rates,
    rated.dimensions,
    rated.peoples_messages,
    judged.reasons,
    judged.strategies,
    judged.labels,
    rated.speed,
    rated.factors,
    rated.intervals,
    rated.recovery,
    judged.cheaters,
    judged.biases,
)


class UnsoundReleaseError(Exception):
    """The release does not verify in another folder; the message is the report."""


def write_release(study: Study, out: Path, *, tell: Tell) -> str:
    """Write the study's release below ``out``, verify a copy elsewhere, and return its name.

    Raises
    ------
    ranking.releases.services.ReleaseRefusedError
        If there is nothing to release, or not now.
    UnsoundReleaseError
        If the copy does not verify.
    """
    folder = out / RELEASE
    shutil.rmtree(folder, ignore_errors=True)
    release = release_services.build_here(study=study, folder=folder, clock=timezone.now, tell=tell)
    with tempfile.TemporaryDirectory() as elsewhere:
        copy = shutil.copytree(folder, Path(elsewhere) / release.key)
        report = verify(copy, tell=tell)
    if not report.is_sound:
        raise UnsoundReleaseError(report.as_text())
    return str(release.key)


def every_number(beside: Beside) -> list[Number]:
    """Return all of them, in the order of the page."""
    return [number for topic in TOPICS for number in topic(beside)]


def write_numbers(
    numbers: Sequence[Number], out: Path, *, paper: Paper, about: dict[str, str]
) -> None:
    """Write the page and the JSON of all numbers into the folder.

    ``about`` has the study's slug and the name of its release.
    """
    known = {
        **about,
        "is_simulated": True,
        "size": asdict(paper.size),
        "source": paper.file.name,
        "seed": SEED,
        "code_version": code_version(),
        "at": paper.clock(),
    }
    held = [one.holds for one in numbers if one.holds is not None]
    counts = {"n_intervals": len(held), "n_holding": sum(held)}
    rows = [asdict(one) | {"holds": one.holds} for one in numbers]
    content = json.dumps({**known, **counts, "numbers": rows}, indent=1, default=_as_text)
    put([f"{content}\n".encode()], out / JSON, is_forced=True)
    grouped = [(topic, list(some)) for topic, some in groupby(numbers, lambda one: one.topic)]
    topics = [
        (topic, [(one, _cells(one)) for one in some], list(dict.fromkeys(one.page for one in some)))
        for topic, some in grouped
    ]
    context = {**known, **counts, "topics": topics}
    page = render_to_string("demo/numbers.html", context)
    put([page.encode()], out / PAGE, is_forced=True)


def _cells(one: Number) -> dict[str, str]:
    ends = (_told(end, one.unit) for end in (one.low, one.high))
    return {
        **{name: _told(getattr(one, name), one.unit) for name in ("printed", "planted", "found")},
        "interval": "" if one.low is None or one.high is None else " to ".join(ends),
    }


def _told(value: float | None, unit: str) -> str:
    if value is None:
        return ""
    if unit == SHARE:
        return f"{100 * value:.1f} %"
    if unit == COUNT:
        return f"{value:,.0f}"
    return f"{value:,.1f}" if unit == POINTS else f"{value:.3f}"


def _as_text(value: object) -> str:
    return value.isoformat() if isinstance(value, dt.datetime) else str(value)
