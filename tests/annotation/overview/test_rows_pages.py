"""The lists of a study's comparisons and judgments."""

import csv

import pytest
from django.urls import reverse

from annotation.choices import Purpose
from annotation.overview.queries import COMPARISONS, JUDGMENTS
from tests.helpers.factories import (
    NOW,
    make_comparison,
    make_judge,
    make_judgment,
    make_lease,
    make_llm_judgment,
    make_rater,
    make_study,
)
from tests.helpers.pages import text

pytestmark = pytest.mark.django_db

LISTS = ["comparisons", "judgments"]


def address(name, study):
    return reverse(f"raters:{name}", args=[study.slug])


def rows(client, name, study, **asked):
    return client.get(address(name, study), asked).context["rows"]


def table(client, name, study, **asked):
    answer = client.get(address(f"{name}_csv", study), asked)
    return list(csv.DictReader(b"".join(answer).decode().splitlines()))


class TestComparisons:
    @pytest.fixture
    def study(self):
        study = make_study()
        kinds = {
            "open": {"slots_left": 2},
            "done": {"slots_left": 0},
            "held": {"slots_left": 1, "held_at": NOW},
            "planted": {"slots_left": 0, "purpose": Purpose.CHECK},
        }
        for key, fields in kinds.items():
            make_comparison(study=study, key=key, **fields)  # type: ignore[arg-type]
        leased = make_comparison(study=study, key="leased", slots_left=0)
        make_lease(comparison=leased, rater=make_rater(study=study))
        make_comparison(key="elsewhere")
        return study

    @pytest.mark.parametrize(
        ("show", "keys"),
        [
            ("", {"open", "done", "held", "leased"}),
            ("open", {"open", "held"}),
            ("done", {"done", "leased"}),
            ("leased", {"leased"}),
            ("held", {"held"}),
            ("planted", {"planted"}),
        ],
    )
    def test_are_those_asked_for(self, admin_client, study, show, keys):
        found = {row.key for row, *_ in rows(admin_client, "comparisons", study, show=show)}
        loaded = table(admin_client, "comparisons", study, show=show)

        assert found == keys == {row["comparison"] for row in loaded}

    def test_count_what_was_said_of_each(self, admin_client, study):
        comparison = study.comparisons.get(key="open")
        first = make_judgment(comparison=comparison)
        make_judgment(comparison=comparison, rater=first.rater, lease=first.lease, revises=first)
        make_llm_judgment(comparison=comparison)

        ((_row, *said),) = rows(admin_client, "comparisons", study, q="open")
        (loaded,) = table(admin_client, "comparisons", study, q="open")

        assert said == [1, 1]
        assert (loaded["judgments_by_people"], loaded["judgments_by_judges"]) == ("1", "1")

    def test_are_found_sorted_and_lead_on_as_asked(self, admin_client, study):
        comparison = study.comparisons.get(key="open")

        for q in (comparison.context.key, comparison.first.system.slug):
            ((found, *_said),) = rows(admin_client, "comparisons", study, q=q)
            assert found.key == "open"
        listed = rows(admin_client, "comparisons", study, sort="-left")
        left = [row.slots_left for row, *_ in listed]
        assert left == sorted(left, reverse=True)
        page = admin_client.get(address("comparisons", study)).content.decode()
        judgments = f"{address('judgments', study)}?q=open"
        assert f'href="{judgments}"' in page
        assert admin_client.get(judgments).status_code == 200


class TestJudgments:
    @pytest.fixture
    def study(self):
        study = make_study()
        comparison = make_comparison(study=study, key="pair")
        first = make_judgment(
            comparison=comparison, rater=make_rater(study=study, code="RAAA"), rationale="=1+1"
        )
        make_judgment(comparison=comparison, rater=first.rater, lease=first.lease, revises=first)
        make_judgment(comparison=comparison, is_surplus=True)
        make_llm_judgment(comparison=comparison, judge=make_judge(slug="ash", name="Judge Ash"))
        make_judgment()
        return study

    @pytest.mark.parametrize(
        ("show", "n"), [("", 4), ("people", 2), ("judges", 1), ("changed", 1), ("surplus", 1)]
    )
    def test_are_those_asked_for(self, admin_client, study, show, n):
        loaded = table(admin_client, "judgments", study, show=show)

        assert len(rows(admin_client, "judgments", study, show=show)) == len(loaded) == n
        reasons = {row["rationale"] for row in loaded}
        assert "=1+1" not in reasons, "a download defuses formulas"
        assert show or "'=1+1" in reasons

    @pytest.mark.parametrize(("q", "n"), [("RAAA", 2), ("ash", 1), ("pair", 4), ("x", 0)])
    def test_are_found_by_who_and_what(self, admin_client, study, q, n):
        assert len(rows(admin_client, "judgments", study, q=q)) == n

    @pytest.mark.parametrize("sort", ["at", "-at", "who", "-context"])
    def test_can_be_sorted(self, admin_client, study, sort):
        assert len(rows(admin_client, "judgments", study, sort=sort)) == 4


class TestBoth:
    @pytest.mark.parametrize("name", [*LISTS, *(f"{one}_csv" for one in LISTS)])
    @pytest.mark.parametrize("asked", [{"show": "x"}, {"sort": "x"}])
    def test_of_what_does_not_exist_are_not_found(self, admin_client, name, asked):
        assert admin_client.get(address(name, make_study()), asked).status_code == 404

    @pytest.mark.parametrize("listed", [COMPARISONS, JUDGMENTS], ids=LISTS)
    def test_offer_every_choice_and_say_so_when_nothing_matches(self, admin_client, listed):
        name = LISTS[listed is JUDGMENTS]

        answer = admin_client.get(address(name, make_study()))

        assert "matches" in text(answer)
        page = answer.content.decode()
        assert all(f'<option value="{show}"' in page for show in listed.shows)

    @pytest.mark.parametrize("name", LISTS)
    def test_have_pages(self, admin_client, name):
        comparison = make_comparison()
        for n in range(51):
            make_judgment(comparison=comparison)
            make_comparison(study=comparison.study, key=f"pair-{n}")

        page = admin_client.get(address(name, comparison.study), {"page": "2", "sort": "context"})

        assert len(page.context["rows"]) == (2 if name == "comparisons" else 1)
        assert "page=1" in page.content.decode()

    @pytest.mark.parametrize("name", LISTS)
    @pytest.mark.parametrize("n", [1, 30])
    def test_ask_the_database_as_often_for_many_as_for_one(
        self, admin_client, name, n, django_assert_max_num_queries
    ):
        study = make_study()
        for _ in range(n):
            make_judgment(comparison=make_comparison(study=study))

        with django_assert_max_num_queries(9):
            admin_client.get(address(name, study))
