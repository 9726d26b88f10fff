"""The load run, small: a few raters for a moment, and every rule looked at afterwards."""

import os
import re
from urllib.parse import urlsplit, urlunsplit

import pytest
from django.db import connection

from annotation.models import Judgment
from benchmarks.load.__main__ import arguments, load
from benchmarks.load.floor_sql import NAMES

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.postgres,
    pytest.mark.skipif(connection.vendor == "sqlite", reason="crowds need PostgreSQL"),
]
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


@pytest.mark.usefixtures("_without_the_floor", "redis_url")
def test_a_small_crowd_is_served_and_nothing_is_lost(capsys, tmp_path):
    url = urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{connection.settings_dict['NAME']}")

    code = load(arguments().parse_args(SMALL.split()), url=urlunsplit(url), folder=tmp_path)

    said = capsys.readouterr().out
    assert code == 0, said
    assert "--workers 1 --blocking-threads 6" in said
    assert len(re.findall(r"^site +(1|4) ", said, re.MULTILINE)) == 2
    assert len(re.findall(r"^bare floor +(1|4) ", said, re.MULTILINE)) == 2
    assert re.search(r"^crowd +4 ", said, re.MULTILINE)
    assert [rule for rule in RULES if f"     0 {rule}\n" not in said] == []
    acknowledged = int(re.search(r"(\d+) answers acknowledged", said)[1])
    assert 0 < acknowledged <= Judgment.objects.count()
