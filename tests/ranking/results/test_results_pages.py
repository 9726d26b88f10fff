"""The pages of results: what they show, what they say beside it, and what they cost."""

import re

import pytest
from django.urls import reverse

from annotation.models import Study
from completions.choices import SystemKind
from ranking.choices import ContextSet, EvaluatorPool, FitState, PeopleKind
from ranking.fits import queries, services
from ranking.models import Fit
from ranking.results.http import UnknownSelectionError, read_filters
from tests.helpers.factories import HOUR, NOW, make_study, make_system
from tests.helpers.factories_written_once import make_fit, make_human_rating
from tests.helpers.judged import make_judged_study, make_study_of_people
from tests.helpers.pages import rows_of, text
from tests.helpers.rated import DIAGNOSTICS, METHOD, close, make_rated_fit, make_rated_system

pytestmark = pytest.mark.django_db

HUMAN, LLM, COMBINED = EvaluatorPool.HUMAN, EvaluatorPool.LLM, EvaluatorPool.COMBINED
ALL, REGULAR = ContextSet.ALL, ContextSet.REGULAR
FITTED = [(HUMAN, ALL), (HUMAN, REGULAR), (LLM, ALL)]


@pytest.fixture(scope="module")
def keys(module_rows):
    """Keys of studies with ratings: judged by people, by a judge too, and with texts by people."""
    systems = [make_system(name=name) for name in ("Hazel", "Maple", "Willow")]
    made = (
        make_judged_study(systems=systems),
        make_judged_study(with_llm=True),
        make_study_of_people(),
    )
    return [refit(study).pk for study in made]


@pytest.fixture
def of_people(keys):
    return Study.objects.get(pk=keys[0])


@pytest.fixture
def of_both(keys):
    return Study.objects.get(pk=keys[1])


def refit(study):
    services.refit_study(study=study, clock=lambda: NOW + HOUR)
    return close(study)


def page(client, study, query=""):
    return client.get(reverse("ranking:leaderboard", args=[study.slug]) + query)


class TestLeaderboard:
    def test_shows_each_system_beside_its_caution_and_conditions(self, client, of_people):
        shown = text(page(client, of_people))

        ratings = of_people.fits.get(pool="HUMAN", context_set="ALL").ratings.all()
        assert len(ratings) == 3
        for rating in ratings:
            assert f"{rating.elo:.0f} {rating.elo_low:.0f} to {rating.elo_high:.0f}" in shown
            assert rating.system.name in shown
        for said in (
            "whether a system is safe for people at risk",
            "12, on 4 source dialogues",
            "1 person",
            "Only 4 source dialogues",
            "human baseline is missing",
        ):
            assert said in shown
        assert "share of marks" not in shown  # people gave none
        assert "simulated" not in shown.lower()

    def test_has_no_ratings_in_any_form_below_the_minimum_of_the_protocol(self, client, of_people):
        fit = of_people.fits.get(pool="HUMAN", context_set="ALL")
        minimum = {"results": {"judgments": 13, "raters": 1000, "dialogues": 1}}
        Study.objects.filter(pk=of_people.pk).update(content=of_people.content | minimum)

        def get(name, *more):
            return client.get(reverse(f"ranking:{name}", args=[of_people.slug, *more]))

        shown = text(get("leaderboard"))
        assert "Not enough judgments to rank these systems yet" in shown
        assert "12 of 13 judgments" in shown
        assert "1 of 1,000 people who judge" in shown
        assert "source dialogues" in shown  # the conditions stay
        for rating in fit.ratings.all():
            assert f"{rating.elo_low:.0f} to {rating.elo_high:.0f}" not in shown
        as_json = get("ratings_json", fit.key).json()
        assert (as_json["ratings"], as_json["people"]) == ([], [])
        assert "12 of 13 judgments" in as_json["refusal"]
        assert as_json["refusal"] in queries.leaderboard_text(Fit.objects.get(pk=fit.pk))
        assert rows_of(get("ratings_csv", fit.key)) == []
        assert get("ratings_figure", fit.key, "svg").status_code == 422
        assert "1500" not in text(get("history"))
        assert rows_of(get("history_csv")) == []

    def test_folds_how_to_read_the_table_and_leaves_warnings_open(self, client, of_people):
        address = reverse("ranking:leaderboard", args=[of_people.slug])
        below = client.get(address).content.decode().partition("</table>")[2]
        fold, _, rest = below.partition("<details>")[2].partition("</details>")

        assert "How to read it" in fold
        assert "Elo compares systems" in fold
        for warning in ("whether a system is safe for people at risk", "Conditions in full"):
            assert warning not in fold
            assert warning in rest

    def test_lists_the_best_first_and_marks_what_people_wrote_as_the_baseline(self, client):
        systems = [
            make_system(name="Worst"),
            make_system(name="Average Human", kind=SystemKind.HUMAN),
            make_system(name="Original dataset", kind=SystemKind.ORIGINAL),
        ]
        study = refit(make_judged_study(systems=systems, verdict=lambda *_: -1))

        response = page(client, study)

        assert response.content.decode().count('class="baseline"') == 2
        shown = text(response)
        rows = ("Original dataset original reply", "Average Human people", "Worst")
        assert [*map(shown.rindex, rows)] == sorted(map(shown.rindex, rows))
        assert "human baseline is missing" not in shown

    def test_shows_the_share_of_marks_won_per_dimension(self, client, of_both):
        response = page(client, of_both, "?pool=llm")

        assert "H Dimension H" in text(response)
        assert len(re.findall(r'class="number heat h\d"', response.content.decode())) == 3

    def test_costs_the_same_queries_for_any_number(self, client, django_assert_max_num_queries):
        systems = [make_system() for _ in range(6)]
        fit = make_rated_fit(systems, study=close(make_study()))
        for kind in PeopleKind:
            make_human_rating(fit=fit, kind=kind)

        # study, fitted selections, newest fit, ratings with systems, dimension rates, ratings
        # of people, decisions on raters and deletions since the fit, which fit was analysed
        # (twice, as there is none), and its analyses
        with django_assert_max_num_queries(11):
            assert page(client, fit.study).status_code == 200


class TestTiers:
    def test_group_systems_with_intervals_that_hold_for_all(self, client):
        fit = make_rated_fit([make_system(name="Ash")])
        make_rated_system(fit, make_system(name="Beech"), elo=1500.0, rank=2, tier=1)
        make_rated_system(fit, make_system(name="Cedar"), elo=1460.0, rank=3, tier=2)

        response = page(client, fit.study)

        shown = text(response)
        table = shown[shown.index("Tier 1") :]
        places = [table.index(word) for word in ("Tier 1", "Ash", "Beech", "Tier 2", "Cedar")]
        assert places == sorted(places)
        assert shown.count("Tier 1") == 1
        for said in (
            "Ash and Beech cannot be told apart; Cedar is clearly behind.",
            "A tier holds the systems",
            "covers all systems jointly",
            "are 90 % of the resampled ones",
        ):
            assert said in shown
        assert response.content.decode().count("<tbody>") == 2
        assert response.content.decode().count('class="joint"') == 3

    def test_and_such_intervals_are_not_there_for_an_older_fit(self, client):
        ended = {"state": FitState.DONE, "ended_at": NOW}
        known = {"diagnostics": DIAGNOSTICS, "method": METHOD}
        fit = make_fit(study=close(make_study()), **ended, **known)
        old = {"tier": None, "joint_low": None, "joint_high": None, "sandwich_se": None}
        make_rated_system(fit, make_system(), elo=1500.0, rank=1, **old)

        response = page(client, fit.study)

        assert "1500 1480 to 1520" in text(response)
        assert "ier" not in text(response).replace("earlier", "")
        assert 'class="joint"' not in response.content.decode()
        assert "Cross-check" not in text(response)


@pytest.mark.parametrize(
    ("of_systems", "diagnostics", "said"),
    [
        (True, {}, "Systems marked as simulated are answered by a program"),
        (
            False,
            {"has_simulated_evaluators": True},
            "Raters or judges behind this table are simulated",
        ),
        (False, {"has_simulated_contexts": True}, "Some hostile conversations are simulated"),
    ],
    ids=["systems", "judges", "dialogues"],
)
def test_a_table_says_what_of_it_is_simulated(client, of_systems, diagnostics, said):
    ash = make_system(name="Simulated Ash", is_simulated=of_systems)
    fit = make_rated_fit([ash], is_simulated=True, diagnostics=DIAGNOSTICS | diagnostics)

    shown = text(page(client, fit.study))

    assert said in shown
    assert ("Simulated Ash simulated" in shown) is of_systems


class TestFilters:
    @pytest.mark.parametrize(
        ("query", "fitted", "selected"),
        [
            ({}, FITTED, (HUMAN, ALL)),
            ({"pool": "llm"}, FITTED, (LLM, ALL)),
            ({"contexts": "regular"}, FITTED, (HUMAN, REGULAR)),
            ({"pool": "human", "contexts": "regular"}, FITTED, (HUMAN, REGULAR)),
            ({"pool": "combined"}, FITTED, (COMBINED, ALL)),
            ({"pool": "llm", "contexts": "regular"}, FITTED, (LLM, REGULAR)),
            ({}, [], (COMBINED, ALL)),
        ],
        ids=["nothing", "pool", "contexts", "both", "unfitted pool", "unfitted pair", "no fits"],
    )
    def test_left_open_by_the_address_are_the_first_that_fit(self, query, fitted, selected):
        assert read_filters(query, fitted=fitted).selected == selected

    def test_change_one_at_a_time_and_keep_the_other(self):
        filters = read_filters({"pool": "human", "contexts": "regular"}, fitted=FITTED)

        assert [choice.query for choice in filters.context_sets] == [
            "?pool=human&contexts=all",
            "?pool=human&contexts=regular",
            "?pool=human&contexts=adversarial",
        ]
        assert [choice.is_current for choice in filters.pools] == [True, False, False]
        assert [choice.has_fit for choice in filters.pools] == [True, False, False]

    @pytest.mark.parametrize(
        "query", [{"pool": "HUMAN"}, {"pool": ""}, {"contexts": "hostile"}, {"contexts": "ALL"}]
    )
    def test_that_do_not_exist_are_refused_with_those_that_do(self, query):
        with pytest.raises(UnknownSelectionError, match=r"all, regular|human, llm"):
            read_filters(query, fitted=FITTED)

    def test_are_part_of_the_address_and_mark_the_choice_that_is_shown(self, client, of_both):
        shown = page(client, of_both, "?pool=human&contexts=regular")

        assert "People, Regular contexts" in text(shown)
        current = re.findall(r'<a href="([^"]+)" aria-current="true">', shown.content.decode())
        assert current == ["?pool=human&amp;contexts=regular"] * 2

    def test_lead_nowhere_that_has_no_ratings(self, client, of_people):
        html = page(client, of_people).content.decode()

        assert "pool=llm" not in html
        assert "contexts=adversarial" not in html

    def test_that_do_not_exist_are_not_found(self, client, of_people):
        assert page(client, of_people, "?pool=martians").status_code == 404


class TestWithoutRatings:
    def test_the_page_says_what_will_be_here_and_how_to_get_there(self, client):
        shown = text(page(client, close(make_study())))

        assert "No ratings yet" in shown
        assert "two or more dialogues" in shown

    def test_an_empty_filter_leads_to_the_ratings_there_are(self, client, of_people):
        shown = text(page(client, of_people, "?pool=llm"))

        assert "No ratings of these judgments yet" in shown
        assert "Show the ratings there are" in shown

    def test_a_fit_under_way_is_not_shown(self, client):
        fit = make_fit(study=close(make_study()))

        assert "No ratings yet" in text(page(client, fit.study))

    def test_a_refusal_names_its_groups_and_each_judgment_that_would_join_them(self, client):
        for name in ("Ash", "Beech", "Cedar", "Dogwood"):
            make_system(slug=name.lower(), name=name)
        pairs = [("ash", "beech", True), ("cedar", "ash", False)]
        known = {
            "components": [["ash"], ["beech"], ["cedar", "dogwood"]],
            "joining": [
                {"winner": one, "loser": other, "is_either_way": way} for one, other, way in pairs
            ],
        }
        refused = {"state": FitState.REFUSED, "refusal": "No scale.", "ended_at": NOW}
        fit = make_fit(
            study=close(make_study()), method=METHOD, diagnostics=DIAGNOSTICS | known, **refused
        )

        shown = text(page(client, fit.study))

        assert "Not enough judgments to rank these systems yet" in shown
        assert "Ash Beech Cedar, Dogwood" in shown
        assert "Ash against Beech: their groups never met." in shown
        assert "Cedar against Ash: a tie, or a win for Cedar." in shown
        assert "Elo" not in shown


class TestFitPage:
    def test_keeps_showing_the_same_ratings(self, client):
        old = make_rated_fit()
        newcomer = make_system(name="Newcomer")
        make_rated_fit([newcomer], study=old.study, as_of=NOW + HOUR, n_judgments=20)

        shown = text(client.get(reverse("ranking:fit", args=[old.study.slug, old.key])))

        assert "10, on 2 source dialogues" in shown
        assert "Newcomer" not in shown
        assert "Newcomer" in text(page(client, old.study))
        for value in (old.key, old.inputs_hash, old.code_version, old.study.protocol_hash):
            assert value in shown


class TestSystemsMadeFromPeople:
    @pytest.fixture
    def study(self, keys):
        return Study.objects.get(pk=keys[2])

    def shown(self, client, study):
        html = page(client, study).content.decode()
        _, mark, people = html.partition('<figure class="board people')
        return " ".join(re.sub(r"<[^>]+>", " ", mark + people.partition("</figure>")[0]).split())

    def test_stand_under_the_table_with_how_to_read_them(self, client, study):
        shown = self.shown(client, study)

        for rating in study.fits.get(pool="HUMAN", context_set="ALL").human_ratings.all():
            assert f"{rating.elo:.0f} {rating.elo_low:.0f} to {rating.elo_high:.0f}" in shown
        names = ["Average Human", "Best Human, cross-fitted", "Best Human, plain too high"]
        assert [*map(shown.index, names)] == sorted(map(shown.index, names))
        for said in (
            "All contexts: 80 judgments on 4 source dialogues.",
            "no rank",
            "luck counts as skill",
            "4 of 4",
            "Each text met 2.0 systems on average",
        ):
            assert said in shown

    def test_say_why_one_is_missing(self, client):
        refused = {"people_refused": {PeopleKind.BEST_CROSS_FITTED: "One evaluator."}}
        fit = make_rated_fit(diagnostics=DIAGNOSTICS | refused)

        assert "Best Human, cross-fitted: One evaluator." in self.shown(client, fit.study)

    def test_say_when_they_are_simulated(self, client, study):
        assert "simulated" not in self.shown(client, study)
        Fit.objects.update(is_simulated=True)

        assert "People simulated" in self.shown(client, study)

    def test_are_not_there_when_nobody_wrote(self, client, of_people):
        assert self.shown(client, of_people) == ""

    def test_are_looked_at_by_admins_who_change_nothing(self, admin_client):
        rating = make_human_rating()
        listed = reverse("admin:ranking_humanrating_changelist")
        shown_alone = reverse("admin:ranking_humanrating_change", args=[rating.pk])
        of_fit = reverse("admin:ranking_fit_change", args=[rating.fit_id])

        for address in (listed, shown_alone, of_fit):
            assert "Average Human" in admin_client.get(address).content.decode()
        assert admin_client.post(shown_alone, {}).status_code == 403
