"""The load run, small: a few raters for a moment, and every rule looked at afterwards.

The rules find what breaks them.
"""

import os
import re
from urllib.parse import urlsplit, urlunsplit

import pytest
from django.db import connection

from annotation.choices import Side
from annotation.models import Comparison, Judgment
from benchmarks.load.__main__ import arguments, load
from benchmarks.load.floor_sql import NAMES
from benchmarks.load.rows import broken
from completions.choices import LeaseOutcome
from tests.helpers.factories import NOW, make_comparison, make_judgment, make_lease, make_study

SMALL = (
    "--comparisons 300 --raters 1 4 --seconds 1 --no-workers --web 1 6"
    " --crowd 4 --arrive 0.5 --think 0.1 0.2 --over 2"
)
RULES = (
    "comparisons over their quota",
    "comparisons whose free slots are miscounted",
    "raters twice on a comparison",
    "acknowledged answers that are missing",
    "pairs whose sides are out of balance",
)


@pytest.fixture
def _without_the_floor():
    yield
    with connection.cursor() as cursor:
        cursor.execute(f"DROP TABLE IF EXISTS {', '.join(NAMES)}")


@pytest.mark.postgres
@pytest.mark.skipif(connection.vendor == "sqlite", reason="crowds need PostgreSQL")
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("_without_the_floor", "redis_url")
def test_a_small_crowd_is_served_and_nothing_is_lost(capsys, tmp_path):
    url = urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{connection.settings_dict['NAME']}")

    code = load(arguments().parse_args(SMALL.split()), url=urlunsplit(url), folder=tmp_path)

    said = capsys.readouterr().out
    assert code == 0, said
    assert "--workers 1 --blocking-threads 6" in said
    assert len(re.findall(r"^site +(1|4) ", said, re.MULTILINE)) == 2
    floors = re.findall(r"^bare floor +(?:1|4) .* (\S+) +\d+$", said, re.MULTILINE)
    assert len(floors) == 2
    assert any(map(float, floors)), "the database's part was not found by its connections' name"
    assert re.search(r"^crowd +4 ", said, re.MULTILINE)
    assert [rule for rule in RULES if f"     0 {rule}\n" not in said] == []
    acknowledged = int(re.search(r"(\d+) answers acknowledged", said)[1])
    assert 0 < acknowledged <= Judgment.objects.count()


@pytest.fixture
def study(db):
    """One pair of two wanted judgments, with one given."""
    study = make_study(judgments_per_pair=2)
    comparison = make_comparison(study=study, slots_left=1, shown_first_as_a=1)
    make_judgment(comparison=comparison)
    return study


def found(study, acknowledged=()):
    return [rule for rule, n in broken(study, acknowledged) if n]


def test_nothing_is_found_where_all_is_well(study):
    tokens = [str(lease.token) for lease in study.comparisons.get().leases.all()]
    assert found(study, tokens) == []


def test_too_many_judgments_are_found(study):
    comparison = study.comparisons.get()
    for _more in range(2):
        make_judgment(comparison=comparison)

    assert "comparisons over their quota" in found(study)


@pytest.mark.parametrize(
    ("changed", "rule"),
    [
        ({"slots_left": 0}, "comparisons whose free slots are miscounted"),
        ({"shown_first_as_a": 2}, "pairs whose sides are out of balance"),
    ],
    ids=["a slot neither free nor taken", "one side more often"],
)
def test_counts_that_do_not_add_up_are_found(study, changed, rule):
    Comparison.objects.update(**changed)
    assert found(study) == [rule]


def test_an_open_lease_holds_a_slot(study):
    make_lease(comparison=study.comparisons.get())
    assert found(study) == ["comparisons whose free slots are miscounted"]


def test_a_rater_who_judged_a_comparison_twice_is_found(study):
    comparison = study.comparisons.get()
    rater = comparison.judgments.get().rater
    again = make_lease(rater=rater, closed_at=NOW, outcome=LeaseOutcome.SUBMITTED)
    make_judgment(comparison=comparison, rater=rater, lease=again)

    assert "raters twice on a comparison" in found(study)


def test_an_answer_that_was_acknowledged_and_is_not_there_is_found(study):
    lost = make_lease(comparison=study.comparisons.get(), first_side=Side.B)
    Comparison.objects.update(slots_left=0)

    assert found(study, [str(lost.token)]) == ["acknowledged answers that are missing"]
