"""The first page of the site."""

import pytest

from annotation.choices import StudyState
from tests.helpers.factories import (
    CONTENT,
    make_comparison,
    make_completion,
    make_context,
    make_study,
    make_system,
)

pytestmark = pytest.mark.django_db


def test_an_empty_site_says_how_to_begin(client):
    assert "Members of the team make one in the console." in client.get("/").content.decode()


@pytest.mark.parametrize(
    "fields",
    [
        {"state": StudyState.DRAFT, "locked_at": None, "protocol_hash": ""},
        {"state": StudyState.LOCKED},
        {"is_simulated": True, "slug": "simulated-kindness-12-3"},
    ],
    ids=["a draft", "one that is locked and was never open", "a rehearsal"],
)
def test_what_is_not_for_people_is_not_shown(client, fields):
    study = make_study(title="Simulated raters: X", **fields)

    page = client.get("/").content.decode()

    assert study.title not in page
    assert study.slug not in page


@pytest.mark.parametrize(
    ("state", "offered"), [(StudyState.OPEN, True), (StudyState.CLOSED, False)]
)
def test_judging_is_offered_while_a_study_is_open(client, state, offered):
    study = make_study(state=state)

    page = client.get("/").content.decode()

    assert f"/results/{study.slug}/" in page
    assert (f"/s/{study.slug}/" in page) is offered


def test_simulated_systems_are_named_as_such(client, django_assert_max_num_queries):
    context = make_context()
    simulated = make_system(name="Simulated one", is_simulated=True)
    make_comparison(
        first=make_completion(context=context, system=simulated),
        second=make_completion(context=context),
        study=make_study(dataset=context.dataset),
    )

    with django_assert_max_num_queries(1):  # the studies, with all that a card shows
        page = client.get("/").content.decode()

    assert "simulated systems" in page


def test_judging_is_offered_only_where_a_visitor_can_come_in(client):
    crowd = CONTENT["crowd"] | {"platform": "prolific"}
    study = make_study(state=StudyState.OPEN, content=CONTENT | {"crowd": crowd})

    assert f"/s/{study.slug}/" not in client.get("/").content.decode()


def test_studies_of_one_title_are_told_apart(client):
    for slug in ("kindness", "kindness-v2"):
        make_study(slug=slug, title="Kindness", state=StudyState.CLOSED)

    page = client.get("/").content.decode()

    assert "kindness · Closed" in page
    assert "kindness-v2 · Closed" in page


def test_results_without_a_name_list_the_studies(client):
    study = make_study(state=StudyState.CLOSED)

    assert f"/results/{study.slug}/" in client.get("/results/").content.decode()


@pytest.mark.parametrize(
    ("protocol", "offered"), [("PREFERENCE", "Judge pairs"), ("LIKERT", "Judge replies")]
)
def test_what_is_judged_is_called_by_its_name(client, protocol, offered):
    make_study(protocol=protocol)

    assert offered in client.get("/").content.decode()
