"""What the one request that raters make all day may cost."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.choices import Purpose
from annotation.models import Lease
from tests.helpers.factories import make_comparison, make_quality_check
from tests.helpers.visits import ANSWERS, HTMX, enrol, open_study, study_content, url

pytestmark = pytest.mark.django_db

CONTROL = re.compile(r"^(SAVEPOINT|RELEASE|BEGIN|COMMIT|ROLLBACK)", re.IGNORECASE)
MOST = 8


def queries_of_submit_and_next(client, study, kind):
    client.get(url(study, "judge"))
    lease = Lease.objects.get(closed_at=None)
    with CaptureQueriesContext(
        connection,
    ) as captured:
        answer = client.post(url(study, "submit", lease.token), ANSWERS[kind], headers=HTMX)
    assert answer.status_code == 200
    assert str(Lease.objects.get(closed_at=None).token) in answer.content.decode()
    return [one["sql"] for one in captured if not CONTROL.match(one["sql"])]


@pytest.mark.parametrize("kind", ["preference", "rubric", "likert"])
def test_submit_and_next_takes_at_most_eight_queries(client, kind):
    study = open_study(kind, n_pairs=6)
    enrol(client, study)
    queries_of_submit_and_next(client, study, kind)  # the study's page is made once

    queries = queries_of_submit_and_next(client, study, kind)

    assert len(queries) <= MOST, "\n".join(queries)


def test_planted_pairs_cost_no_more(client):
    content = study_content("preference", checks={"rate": 0.5, "repeat_rate": 0.2, "gold_set": "x"})
    study = open_study("preference", n_pairs=6, content=content)
    for _ in range(6):
        planted = make_comparison(study=study, purpose=Purpose.CHECK, slots_left=0)
        make_quality_check(comparison=planted)
    enrol(client, study)
    costs = [len(queries_of_submit_and_next(client, study, "preference")) for _ in range(5)]

    assert max(costs[1:]) <= MOST
