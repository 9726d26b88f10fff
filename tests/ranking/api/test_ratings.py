"""The JSON endpoint of ratings."""

import pytest

from annotation.models import Study
from ranking.choices import EvaluatorPool
from ranking.models import Fit
from tests.helpers.factories import HOUR, NOW, make_study, make_system
from tests.helpers.judged import fit_one, make_judged_study, make_study_of_people
from tests.helpers.rated import close

pytestmark = pytest.mark.django_db


def get(client, study, query=""):
    return client.get(f"/api/v1/studies/{study}/ratings/{query}")


@pytest.fixture(scope="module")
def kept(module_rows):
    """A study with ratings by judges, and by everybody."""
    systems = [make_system(slug="ash", name="Ash"), make_system(slug="beech", name="Beech")]
    study = make_judged_study(systems=systems, with_llm=True, verdict=lambda *_: 1)
    for pool in (EvaluatorPool.LLM, EvaluatorPool.COMBINED):
        fit_one(study, NOW + HOUR, pool)
    return close(study).pk


@pytest.fixture
def study(kept):
    return Study.objects.get(pk=kept)


class TestRatings:
    def test_gives_the_newest_ratings_field_by_field_with_their_conditions(
        self, client, study, django_assert_max_num_queries
    ):
        with django_assert_max_num_queries(9):  # as the page
            answer = get(client, study.slug, "?pool=llm").json()

        fit = Fit.objects.get(pool="LLM", context_set="ALL")
        assert set(answer) == {
            "study", "fit", "is_implied", "is_embargoed", "refusal", "components", "joining",
            "conditions", "ratings", "people", "people_refused", "analyses",
        }  # fmt: skip
        assert (answer["study"], answer["fit"], answer["refusal"]) == (study.slug, fit.key, "")
        assert answer["conditions"]["n_judgments"] == 4
        assert answer["conditions"]["inputs_hash"] == fit.inputs_hash
        assert answer["conditions"]["is_simulated"] is False
        best = answer["ratings"][0]
        assert set(best) == {
            "system", "name", "kind", "is_simulated", "tier", "rank", "rank_low", "rank_high",
            "elo", "elo_se", "elo_low", "elo_high", "joint_low", "joint_high", "sandwich_se",
            "win_per_cent",
            "n_judgments", "wins", "losses", "ties", "dimensions",
        }  # fmt: skip
        assert (best["system"], best["rank"], best["win_per_cent"]) == ("ash", 1, 100.0)
        marks = {"key": "H", "name": "Dimension H", "per_cent": 100.0, "n_marks": 4}
        assert best["dimensions"][0] == marks

    def test_names_what_is_made_from_people_as_derived(self, client):
        study = make_study_of_people()
        fit_one(close(study), NOW + HOUR)

        answer = get(client, study.slug).json()

        assert len(answer["ratings"]) == 3
        assert [one["derived"] for one in answer["people"]] == [
            "AVERAGE",
            "MEAN_TEXT",
            "RANDOM_TEXT",
            "BEST_CROSS_FITTED",
            "BEST_PLAIN",
        ]
        assert set(answer["people"][0]) == {
            "derived", "name", "elo", "elo_se", "elo_low", "elo_high", "is_optimistic",
            "n_judgments", "n_contexts", "contexts", "opponents_per_text",
        }  # fmt: skip
        assert [one["is_optimistic"] for one in answer["people"]] == [False] * 4 + [True]
        assert answer["people_refused"] == []

    def test_says_what_of_people_could_not_be_rated(self, client):
        study = make_study_of_people(n_raters=1)
        fit_one(close(study), NOW + HOUR)

        (refused,) = get(client, study.slug).json()["people_refused"]

        assert refused["derived"] == "BEST_CROSS_FITTED"
        assert "One evaluator" in refused["reason"]

    def test_says_why_there_are_none(self, client, study):
        others = [make_system(), make_system()]
        make_judged_study(systems=others, study=study)
        fit_one(study, NOW + HOUR, EvaluatorPool.HUMAN)

        answer = get(client, study.slug, "?pool=human").json()

        assert answer["ratings"] == []
        assert "2 groups" in answer["refusal"]
        assert answer["components"][0] == ["Ash", "Beech"]
        assert [set(pair) for pair in answer["joining"]] == [{"winner", "loser", "is_either_way"}]
        assert answer["joining"][0]["is_either_way"] is True

    @pytest.mark.parametrize(
        ("slug", "query", "status", "code"),
        [
            ("nothing", "", 404, "not_found"),
            ("empty", "", 404, "no_fit"),
            ("empty", "?pool=martians", 400, "unknown_filter"),
        ],
    )
    def test_refuses_by_name(self, slug, query, status, code, client):
        make_study(slug="empty")

        response = get(client, slug, query)

        assert response.status_code == status
        assert response.json()["code"] == code
        assert response.json()["detail"]
