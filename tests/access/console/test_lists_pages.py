"""Tables of the console sort, filter and page on the server, and leave as CSV in the same order."""

import pytest
from django.test import Client
from django.urls import reverse

from access.choices import Role
from annotation.rationales import services
from completions.choices import RunState
from tests.helpers.factories import (
    NOW,
    make_comparison,
    make_judge,
    make_judgment,
    make_study,
    make_system,
)
from tests.helpers.factories_of_calls import make_generation_run, make_judge_run
from tests.helpers.factories_of_site import make_token_row
from tests.helpers.factories_written_once import make_member

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner():
    client = Client()
    client.force_login(make_member("olga"))
    return client


def make_rows():
    """Make two rows for each table; return the part of its address that names the study."""
    make_member("ada", role=Role.ANALYST)
    for name in ("first", "second"):
        make_token_row(name=name, prefix=f"heart_{name[:4]}")
        make_system(name=f"{name} system", slug=f"{name}-system")
        make_judge(name=f"{name} judge", slug=f"{name}-judge")
    study = make_study()
    for text in ("Write to ann@example.com.", "Call ann@example.com."):
        make_judgment(comparison=make_comparison(study=study), rationale=text)
    services.scan_rationales(clock=lambda: NOW)
    for state in (RunState.RUNNING, RunState.CANCELLED):
        over = None if state == RunState.RUNNING else NOW
        make_judge_run(study=study, state=state, ended_at=over)
        make_generation_run(state=state, ended_at=over)
    return study


TABLES = [
    ("members:all", "members:csv", "-member", {"show": "analysts"}),
    ("tokens:all", "tokens:csv", "token", {"q": "first"}),
    ("people:retention", "people:retention_csv", "-n", {"show": "contact"}),
    ("console:personal_data", "console:personal_data_csv", "-judgment", {"q": "nobody"}),
    ("console:judge_runs", "console:judge_runs_csv", "run", {"show": "running"}),
    ("models:runs", "models:runs_csv", "run", {"show": "running"}),
    ("models:systems", "models:systems_csv", "-name", {"q": "first"}),
    ("console:all_judges", "console:all_judges_csv", "-name", {"q": "first"}),
]
OF_A_STUDY = ("console:personal_data", "console:judge_runs")


def lines(owner, address, query):
    return b"".join(owner.get(address, query)).decode().splitlines()[1:]


@pytest.mark.parametrize(("page", "csv", "sort", "few"), TABLES)
def test_a_table_sorts_filters_and_is_downloaded(owner, page, csv, sort, few):
    study = make_rows()
    parts = [study.slug] if page in OF_A_STUDY else []
    shown, taken = reverse(page, args=parts), reverse(csv, args=parts)

    rows = lines(owner, taken, {})
    assert lines(owner, taken, {"sort": sort}) == rows[::-1]
    assert len(lines(owner, taken, few)) < len(rows) or not rows
    found = owner.get(shown, {"sort": sort, **few})
    assert found.status_code == 200
    assert f"{taken}?" in found.content.decode() or not rows
    for wrong in ({"sort": "x"}, {"show": "x"}):
        assert owner.get(shown, wrong).status_code == 404
        assert owner.get(taken, wrong).status_code == 404


def test_a_search_keeps_what_a_page_shows(owner):
    study = make_rows()

    page = owner.get(reverse("console:personal_data", args=[study.slug]), {"state": "RELEASED"})

    assert '<input type="hidden" name="state" value="RELEASED">' in page.content.decode()
