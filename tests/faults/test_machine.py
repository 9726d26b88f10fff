"""A clock that is moved while people judge, and a disk that is full in the middle of an export.

Time is an argument below the interface, so the steps are given and not waited for. A limit on the
size of files stands for the disk: a full one needs a disk of its own, and rights.
"""

import datetime as dt
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from django.db.models import Count, F
from django.test import Client

from annotation.judging.services import leasing
from annotation.models import Comparison, Judgment, Lease
from annotation.raters.visit_time import IMAGINED
from heart_site import schedule
from heart_site.celery import app
from heart_site.monitoring.heartbeats import Scheduler
from tests.faults.services import Stack
from tests.helpers.factories import HOUR, NOW, make_rater, make_study
from tests.helpers.judged import lease_next, make_comparisons, submit
from tests.helpers.processes import ROOT
from tests.helpers.visits import enrol, open_study, url

PER_PAIR = 5
SOONEST_S = schedule.BEAT_SLEEPS_S
YEARS = dt.timedelta(days=3650)


def check_books() -> None:
    """Of every pair, free slots, open leases and counted judgments add up to the quota."""
    for pair in Comparison.objects.annotate(n=Count("judgments")):
        held = pair.leases.filter(closed_at=None).count()
        assert pair.slots_left + held + pair.n == PER_PAIR
    assert not Judgment.objects.filter(submitted_at__lt=F("shown_at")).exists()


@pytest.mark.django_db
@pytest.mark.parametrize("step", [HOUR, -HOUR, YEARS, -YEARS], ids=str)
def test_steps_between_pair_and_answer_lose_nothing(step):
    study = make_study(judgments_per_pair=PER_PAIR)
    make_comparisons(study, 3)
    rater = make_rater(study=study)

    for moved in (step, dt.timedelta(), -step):
        lease = lease_next(rater, NOW)
        leasing.release_expired_leases(now=NOW + moved)
        first = submit(lease, now=NOW + moved)
        again = submit(lease, now=NOW)
        assert again == first
        assert not first.is_surplus

    assert Judgment.objects.count() == 3
    assert not Lease.objects.filter(closed_at=None).exists()
    check_books()


@pytest.mark.django_db
@pytest.mark.parametrize("step", [YEARS, -YEARS], ids=str)
def test_raters_stay_who_they_are(client: Client, step: dt.timedelta):
    study = open_study()
    enrol(client, study)
    then = {IMAGINED: NOW + step}

    assert client.get(url(study, "judge"), **then).status_code == 200  # type: ignore[arg-type]


class Silent(Scheduler):
    """A scheduler that sends nothing."""

    def apply_entry(self, *_entry: object, **_producer: object) -> None:
        """Send nothing."""


def test_ticks_go_on_after_the_clock_was_set_back(tmp_path):
    beat = Silent(app=app, schedule_filename=str(tmp_path / "schedule"))
    for entry in beat.schedule.values():
        entry.last_run_at += HOUR

    until_next_s = beat.tick()

    beat.close()
    assert until_next_s <= SOONEST_S


ROOM = 2_000
"""Bytes; the table has more."""


def leave_little_room() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, ROOM))


def export(stack: Stack, out: Path, *, is_full: bool) -> "subprocess.CompletedProcess[str]":
    command = ["manage.py", "export", "comparisons", "--study", "browser", "--out", str(out)]
    return subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        # What Python compiles would be cut off as well, and be there for every later process.
        env={**os.environ, **stack.env, "PYTHONDONTWRITEBYTECODE": "1"},
        preexec_fn=leave_little_room if is_full else None,
        capture_output=True,
        text=True,
        check=False,
    )


def test_an_export_on_a_full_disk_leaves_nothing_and_is_whole_when_there_is_room(stack, tmp_path):
    out = tmp_path / "comparisons.csv"

    refused = export(stack, out, is_full=True)

    assert refused.returncode != 0
    assert f"{out} cannot be written" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert list(tmp_path.iterdir()) == []

    written = export(stack, out, is_full=False)

    assert written.returncode == 0, written.stderr
    assert [one.name for one in tmp_path.iterdir()] == [out.name]
    assert out.stat().st_size > ROOM
