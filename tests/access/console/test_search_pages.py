"""The console's search: studies, contexts, raters, writers and texts, by names or words."""

import pytest
from django.urls import reverse

from tests.helpers.factories import (
    make_completion,
    make_context,
    make_rater,
    make_study,
    make_writer,
)
from tests.helpers.factories_written_once import make_member
from tests.helpers.pages import text

pytestmark = pytest.mark.django_db

SEARCH = reverse("console:search")


@pytest.fixture
def staff(client):
    client.force_login(make_member())
    return client


def found(staff, asked):
    groups = staff.get(SEARCH, {"q": asked}).context["groups"]
    return {label: [one.url for one in rows] for label, rows in groups}


def test_a_study_is_found_by_its_title_and_its_address(staff):
    study = make_study(slug="pilot-two", title="A pilot with nurses")
    page = reverse("console:study", args=["pilot-two"])

    assert found(staff, "NURSES") == found(staff, "pilot-tw") == {"Studies": [page]}
    assert study.title in text(staff.get(SEARCH, {"q": "nurses"}))


def test_a_context_is_found_by_its_key_and_a_text_by_its_words(staff):
    context = make_context(key="ctx-lamp")
    make_completion(context=context, text="I hear how heavy this is.")
    page = reverse("contexts:context", args=[context.dataset.slug, "ctx-lamp"])

    assert found(staff, "ctx-l") == {"Contexts": [page]}
    assert found(staff, "how heavy") == {"Texts": [page]}


def test_people_are_found_by_the_beginning_of_their_code(staff):
    rater, writer = make_rater(code="ABCD1"), make_writer(code="ABCD2")

    assert found(staff, "abcd") == {
        "Raters": [reverse("raters:rater", args=[rater.study.slug, "ABCD1"])],
        "Writers": [reverse("writing:writer", args=[writer.dataset.slug, "ABCD2"])],
    }


def test_nobody_is_found_by_an_id_of_a_platform(staff):
    make_rater(platform="PROLIFIC", external_id="5f0c")

    assert found(staff, "5f0c") == {}


@pytest.mark.parametrize("asked", ["", " ", "\0", "%", "<script>"])
def test_nothing_found_is_said_and_nothing_asked_is_not(staff, asked):
    page = text(staff.get(SEARCH, {"q": asked}))

    assert ("Nothing has" in page) == bool(asked.strip(" \0"))


def test_a_few_of_each_kind_are_shown(staff):
    for _ in range(12):
        make_study(title="The same")

    page = staff.get(SEARCH, {"q": "same"})

    assert len(page.context["groups"][0][1]) == 10
    assert "More words find fewer." in text(page)
