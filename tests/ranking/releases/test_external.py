"""Judgments made elsewhere in a release: with their provenance, apart, and named when changed."""

import json

import pytest

from annotation.models import Comparison
from ranking.release_check.verifying import verify
from ranking.released.writing import line
from tests.helpers.factories_of_site import make_batch, make_batch_decision, make_external
from tests.helpers.released import build, forge_sums

pytestmark = pytest.mark.django_db
ROWS, BATCHES = "data/external_judgments.jsonl", "data/external_batches.jsonl"


def read(folder, name):
    return [json.loads(one) for one in (folder / name).read_text(encoding="utf-8").splitlines()]


def write(folder, name, rows):
    (folder / name).write_text("".join(line(row) + "\n" for row in rows), encoding="utf-8")
    forge_sums(folder)


def problems(folder):
    return " ".join(verify(folder, is_quick=True).problems)


def test_rows_that_may_leave_do_with_their_source_and_a_change_is_named(study, tmp_path):
    pairs = list(Comparison.objects.filter(study=study).order_by("pk"))[:2]
    shared = make_batch(study=study)
    for pair in pairs:
        make_external(batch=shared, comparison=pair, rater="e0001")
    for batch in (make_batch(study=study), make_batch(study=study, licence="all rights reserved")):
        make_external(batch=batch, comparison=pairs[0])
        if batch.licence == shared.licence:
            make_batch_decision(batch=batch)
    folder = tmp_path / "release"
    build(study, folder, is_drawn=False)

    told = [(one["n_judgments"], one["is_excluded"]) for one in read(folder, BATCHES)]
    assert told == [(2, False), (0, True), (0, False)]
    assert verify(folder, is_quick=True).problems == ()
    readme = (folder / "README.md").read_text(encoding="utf-8")
    assert "The rows of 2 batches" in readme
    assert "data/external_batches.jsonl names" in readme

    rows = read(folder, ROWS)
    write(folder, ROWS, [rows[0] | {"verdict": -2}, rows[1]])
    assert f"{ROWS}: line 1: {rows[0]['id']} is not the row" in problems(folder)
    write(folder, ROWS, [rows[0], rows[1] | {"comparison": "p999999"}])
    assert f"{ROWS}: line 2: comparison 'p999999' is in no comparisons" in problems(folder)
    write(folder, ROWS, rows[:1])
    assert f"{ROWS}: has 1 rows, and release.json says 2" in problems(folder)
    (folder / ROWS).unlink()
    forge_sums(folder)
    assert f"{ROWS}: has 0 rows, and release.json says 2" in problems(folder)


def test_another_batch_makes_another_release_and_without_one_there_is_no_file(study, tmp_path):
    first = build(study, tmp_path / "first", is_drawn=False)
    pair = Comparison.objects.filter(study=study).first()
    make_external(batch=make_batch(study=study), comparison=pair)
    second = build(study, tmp_path / "second", is_drawn=False)

    assert not (tmp_path / "first" / BATCHES).exists()
    assert (tmp_path / "second" / BATCHES).exists()
    assert (first.version, second.version) == (1, 2)
