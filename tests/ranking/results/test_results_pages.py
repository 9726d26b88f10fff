"""The pages of results: what they show, what they say beside it, and what they cost."""

import re

import pytest
from django.urls import reverse

from annotation.models import Study
from completions.choices import SystemKind
from completions.models import Context
from ranking.choices import FitState
from ranking.fits import selectors, services
from ranking.models import Fit
from tests.helpers.factories import (
    HOUR,
    NOW,
    make_judge,
    make_llm_judgment,
    make_rater,
    make_study,
    make_system,
)
from tests.helpers.factories_written_once import make_fit
from tests.helpers.judged import judge_all_pairs, make_judged_study
from tests.helpers.rated import DIAGNOSTICS, METHOD, close
from tests.ranking.results.charts import inline

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def keys(module_rows):
    """Keys of two studies with ratings: judged by people, and by people and a judge."""
    systems = [make_system(name=name) for name in ("Hazel", "Maple", "Willow")]
    of_people = refit(make_judged_study(systems=systems), NOW + HOUR)
    return of_people.pk, refit(make_judged_study(with_llm=True), NOW + HOUR).pk


@pytest.fixture
def of_people(keys):
    return Study.objects.get(pk=keys[0])


@pytest.fixture
def of_both(keys):
    return Study.objects.get(pk=keys[1])


def refit(study, now):
    services.refit_study(study=study, clock=lambda: now)
    return close(study)


def page(client, study, query=""):
    return client.get(reverse("ranking:leaderboard", args=[study.slug]) + query)


def text(response):
    return " ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split())


class TestLeaderboard:
    def test_shows_each_system_with_its_rank_rating_and_share(self, client, of_people):
        shown = text(page(client, of_people))

        ratings = of_people.fits.get(pool="HUMAN", context_set="ALL").ratings.all()
        assert len(ratings) == 3
        for rating in ratings:
            assert f"{rating.elo:.0f} {rating.elo_low:.0f} to {rating.elo_high:.0f}" in shown
            assert rating.system.name in shown

    def test_ranks_nothing_below_the_minimum_of_the_protocol(self, client, now):
        study = refit(make_judged_study(), now)
        n = study.fits.get(pool="HUMAN", context_set="ALL").n_judgments
        minimum = {"judgments": n + 1, "raters": 1000, "dialogues": 1}
        Study.objects.filter(pk=study.pk).update(content=study.content | {"results": minimum})

        shown = text(page(client, study))

        assert "Not enough judgments to rank these systems yet" in shown
        assert f"{n} of {n + 1} judgments" in shown
        assert "of 1000 people who judge" in shown
        assert "source dialogues" in shown  # the conditions stay
        for rating in study.fits.get(pool="HUMAN", context_set="ALL").ratings.all():
            assert f"{rating.elo_low:.0f} to {rating.elo_high:.0f}" not in shown

    def test_has_no_ratings_in_any_form_below_the_minimum(self, client, now):
        study = refit(make_judged_study(), now)
        fit = study.fits.get(pool="HUMAN", context_set="ALL")
        minimum = {"results": {"judgments": 1, "raters": 1000, "dialogues": 1}}
        Study.objects.filter(pk=study.pk).update(content=study.content | minimum)

        def get(name, *more):
            return client.get(reverse(f"ranking:{name}", args=[study.slug, *more]))

        csv = b"".join(get("ratings_csv", fit.key).streaming_content).decode()
        assert len(csv.splitlines()) == 1
        said = get("ratings_json", fit.key).json()
        assert (said["ratings"], said["people"]) == ([], [])
        assert said["refusal"].endswith(
            f"yet: {said['conditions']['n_raters']} of 1000 people who judge."
        )
        assert get("ratings_figure", fit.key, "svg").status_code == 422
        assert said["refusal"] in selectors.leaderboard_text(Fit.objects.get(pk=fit.pk))
        assert "1500" not in text(get("history"))
        history = b"".join(get("history_csv").streaming_content).decode()
        assert len(history.splitlines()) == 1

    def test_lists_the_best_first(self, client, now):
        systems = [make_system(name=name) for name in ("Worst", "Middle", "Best")]
        study = refit(make_judged_study(systems=systems, verdict=lambda *_: -1), now)

        shown = text(page(client, study))

        assert shown.index("Best") < shown.index("Middle") < shown.index("Worst")

    def test_marks_what_people_wrote_as_the_baseline(self, client, now):
        systems = [
            make_system(),
            make_system(name="Average Human", kind=SystemKind.HUMAN),
            make_system(name="Original dataset", kind=SystemKind.ORIGINAL),
        ]
        study = refit(make_judged_study(systems=systems), now)

        response = page(client, study)

        assert response.content.decode().count('class="baseline"') == 2
        assert "Average Human people" in text(response)
        assert "Original dataset original reply" in text(response)
        assert "human baseline is missing" not in text(response)

    def test_says_when_the_human_baseline_is_missing(self, client, of_people):
        assert "human baseline is missing" in text(page(client, of_people))

    def test_shows_the_share_of_marks_won_per_dimension(self, client, of_both):
        response = page(client, of_both, "?pool=llm")

        assert "H Dimension H" in text(response)
        assert len(re.findall(r'class="number heat h\d"', response.content.decode())) == 3

    def test_has_no_columns_for_dimensions_without_marks(self, client, of_people):
        response = page(client, of_people)

        assert "share of marks" not in text(response)

    def test_stands_beside_its_caution_and_conditions(self, client, of_people):
        shown = text(page(client, of_people))

        assert "whether a system is safe for people at risk" in shown
        assert "12, on 4 source dialogues" in shown
        assert "1 person" in shown
        assert "Only 4 source dialogues" in shown

    def test_has_nothing_inline_that_the_security_policy_forbids(self, client, of_both):
        response = page(client, of_both)

        assert not inline(response)

    def test_costs_no_more_queries_for_more_systems(
        self, client, now, django_assert_max_num_queries
    ):
        systems = [make_system() for _ in range(6)]
        study = refit(make_judged_study(systems=systems, with_llm=True), now)

        # study, fitted selections, newest fit, ratings with systems, dimension rates, ratings
        # of people, decisions on raters and deletions since the fit, which fit was analysed
        # (twice, as there is none), and its analyses
        with django_assert_max_num_queries(11):
            assert page(client, study).status_code == 200

    def test_is_read_and_never_posted_to(self, client):
        assert client.post(reverse("ranking:leaderboard", args=["x"])).status_code == 405

    def test_of_an_unknown_study_is_not_found(self, client):
        assert client.get(reverse("ranking:leaderboard", args=["nothing"])).status_code == 404


class TestSimulated:
    def test_says_so_of_each_system_and_of_the_table(self, client, now):
        simulated = make_system(name="Simulated Ash", is_simulated=True)
        study = refit(make_judged_study(systems=[simulated, make_system()]), now)

        shown = text(page(client, study))

        assert "Simulated Ash simulated" in shown
        assert "Systems marked as simulated are answered by a program" in shown

    def test_says_so_of_judges(self, client, now):
        study = make_judged_study()
        judge = make_judge(name="Simulated judge", is_simulated=True)
        for comparison in study.comparisons.all():
            make_llm_judgment(comparison=comparison, judge=judge)

        shown = text(page(client, refit(study, now), "?pool=llm"))

        assert "Raters or judges behind this table are simulated" in shown

    def test_says_so_of_dialogues(self, client, now):
        study = make_judged_study()
        Context.objects.filter(comparisons__study=study).update(is_simulated=True)

        shown = text(page(client, refit(study, now)))

        assert "Some hostile conversations are simulated" in shown

    def test_is_not_said_of_real_ones(self, client, of_people):
        assert "simulated" not in text(page(client, of_people)).lower()


class TestFilters:
    def test_are_part_of_the_address(self, client, of_both):
        people, judges = (page(client, of_both, f"?pool={pool}") for pool in ("human", "llm"))

        assert "People, All contexts" in text(people)
        assert "LLM judges, All contexts" in text(judges)

    def test_mark_the_choice_that_is_shown(self, client, of_both):
        html = page(client, of_both, "?pool=human&contexts=regular").content.decode()

        current = re.findall(r'<a href="([^"]+)" aria-current="true">', html)
        assert current == ["?pool=human&amp;contexts=regular"] * 2

    def test_default_to_the_widest_that_has_ratings(self, client, of_both):
        assert "People and LLM judges, All contexts" in text(page(client, of_both))

    def test_lead_nowhere_that_has_no_ratings(self, client, of_people):
        html = page(client, of_people).content.decode()

        assert "pool=llm" not in html
        assert "contexts=adversarial" not in html

    @pytest.mark.parametrize("query", ["?pool=martians", "?contexts=ALL", "?pool="])
    def test_refuse_what_does_not_exist(self, query, client, of_people):
        assert page(client, of_people, query).status_code == 404


class TestEmptyState:
    def test_says_what_will_be_here_and_how_to_get_there(self, client):
        shown = text(page(client, close(make_study())))

        assert "No ratings yet" in shown
        assert "two or more dialogues" in shown

    def test_leads_from_an_empty_filter_to_the_ratings_there_are(self, client, of_people):
        response = page(client, of_people, "?pool=llm")

        assert "No ratings of these judgments yet" in text(response)
        assert "Show the ratings there are" in text(response)

    def test_a_fit_under_way_is_not_shown(self, client, now):
        study = close(make_judged_study())
        services.claim_changed_fits(study=study, now=now)

        assert "No ratings yet" in text(page(client, study))


class TestRefusal:
    def test_names_the_reason_and_the_groups_by_name(self, client, now):
        names = ("Ash", "Beech", "Cedar", "Dogwood")
        systems = [make_system(slug=name.lower(), name=name) for name in names]  # listed by slug
        study = make_judged_study(systems=systems[:2])
        refit(make_judged_study(systems=systems[2:], study=study), now)

        shown = text(page(client, study))

        assert "Not enough judgments to rank these systems yet" in shown
        assert "Ash, Beech Cedar, Dogwood" in shown
        assert "Elo" not in shown

    def test_names_each_judgment_that_would_join_them_and_which_way_it_has_to_go(self, client):
        names = ("Ash", "Beech", "Cedar")
        for name in names:
            make_system(slug=name.lower(), name=name)
        pairs = [("ash", "beech", True), ("cedar", "ash", False)]
        known = {
            "components": [["ash"], ["beech"], ["cedar"]],
            "joining": [
                {"winner": one, "loser": other, "is_either_way": way} for one, other, way in pairs
            ],
        }
        refused = {"state": FitState.REFUSED, "refusal": "No scale.", "ended_at": NOW}
        fit = make_fit(
            study=close(make_study()), method=METHOD, diagnostics=DIAGNOSTICS | known, **refused
        )

        shown = text(page(client, fit.study))

        assert "Ash against Beech: their groups never met." in shown
        assert "Cedar against Ash: a tie, or a win for Cedar." in shown


class TestFitPage:
    def test_keeps_showing_the_same_ratings(self, client, of_people):
        study = of_people
        old = study.fits.get(pool="HUMAN", context_set="ALL")
        context = study.comparisons.first().context
        new_systems = [make_system(name="Newcomer"), make_system()]
        judge_all_pairs(study, context, new_systems, lambda *_: 1, make_rater(study=study))
        refit(study, NOW + 2 * HOUR)

        response = client.get(reverse("ranking:fit", args=[study.slug, old.key]))

        assert "12, on 4 source dialogues" in text(response)
        assert "Newcomer" not in text(response)
        assert "Newcomer" in text(page(client, study))

    def test_names_what_it_rests_on(self, client, of_people):
        fit = of_people.fits.earliest("pk")

        shown = text(client.get(reverse("ranking:fit", args=[of_people.slug, fit.key])))

        for value in (fit.key, fit.inputs_hash, fit.code_version, of_people.protocol_hash):
            assert value in shown

    def test_of_another_study_is_not_found(self, client, of_people):
        fit = of_people.fits.earliest("pk")
        address = reverse("ranking:fit", args=[make_study().slug, fit.key])

        assert client.get(address).status_code == 404
