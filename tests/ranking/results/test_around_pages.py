"""What stands around a leaderboard: other fits, ratings over time, what became of the calls."""

import csv
import datetime as dt
import re

import pytest
from django.db.models import Value
from django.db.models.functions import Concat
from django.urls import reverse

from annotation.models import Judge
from ranking.choices import FitState
from ranking.models import Fit
from ranking.results import views
from tests.helpers.factories import HOUR, NOW, make_judge, make_rater, make_study, make_system
from tests.helpers.factories_written_once import make_fit
from tests.helpers.judged import make_judged_study
from tests.helpers.rated import DIAGNOSTICS, METHOD, close, make_rated_fit, make_rated_system
from tests.ranking.results.charts import inline

pytestmark = pytest.mark.django_db

ENDED = {"state": FitState.DONE, "ended_at": NOW, "diagnostics": DIAGNOSTICS, "method": METHOD}


def make_fits(study, n, systems=()):
    """Fits of one study an hour apart, in which all systems but the first fall."""
    for place in range(n):
        fit = make_rated_fit(systems[:1], study=study, as_of=NOW + place * HOUR)
        for rank, system in enumerate(systems[1:], start=2):
            make_rated_system(fit, system, elo=1500.0 - 10 * place, rank=rank)
    return Fit.objects.filter(study=study).order_by("as_of")


def get(client, name, study, query=""):
    return client.get(reverse(f"ranking:{name}", args=[study.slug]) + query)


def text(response):
    return " ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split())


def read(response):
    lines = b"".join(response.streaming_content).decode().splitlines()
    return list(csv.DictReader(lines))


class TestFits:
    def test_are_listed_newest_first_each_under_its_address(self, client):
        study = close(make_study())
        first, second = make_fits(study, 2)

        html = get(client, "fits", study).content.decode()

        places = [reverse("ranking:fit", args=[study.slug, one.key]) for one in (second, first)]
        assert html.index(places[0]) < html.index(places[1])

    def test_come_page_by_page(self, client):
        study = close(make_study())
        make_fits(study, views.FITS_A_PAGE + 1)

        first, second = (get(client, "fits", study, f"?page={n}") for n in (1, 2))

        assert "Page 1 of 2" in text(first)
        assert "Older" in text(first)
        assert "Newer" in text(second)
        assert second.content.decode().count('scope="row"') == 1

    def test_that_run_are_not_listed(self, client):
        fit = make_fit()

        assert fit.key not in get(client, "fits", fit.study).content.decode()

    def test_say_which_are_simulated_or_refused(self, client):
        study = close(make_study())
        make_fits(study, 1).update(is_simulated=True, state=FitState.REFUSED, refusal="No scale.")

        shown = text(get(client, "fits", study))

        assert "no ratings simulated" in shown

    def test_lead_to_those_before(self, client):
        study = close(make_study())
        first, second = make_fits(study, 2)

        page = client.get(reverse("ranking:fit", args=[study.slug, second.key]))

        assert reverse("ranking:fit", args=[study.slug, first.key]) in page.content.decode()

    def test_cost_the_same_queries_for_any_number(self, client, django_assert_max_num_queries):
        study = close(make_study())
        make_fits(study, 20)

        with django_assert_max_num_queries(3):  # study, count, fits with their analyses
            get(client, "fits", study)


class TestHistory:
    def test_draws_a_line_for_each_system_and_tells_its_figures(self, client):
        study, systems = close(make_study()), [make_system(name="Ash"), make_system(name="Beech")]
        make_fits(study, 3, systems)

        page = get(client, "history", study)

        assert page.content.decode().count("<polyline points") == 2
        assert page.content.decode().count('polyline class="lead"') == 2
        assert "1540 1480" in text(page)
        assert text(page).index("Ash") < text(page).index("Beech")

    def test_is_no_drawing_while_there_is_one_fit(self, client):
        study = close(make_study())
        make_fits(study, 1, [make_system()])

        page = get(client, "history", study)

        assert "There is one fit so far" in text(page)
        assert "<svg" not in page.content.decode()

    def test_marks_where_the_code_changed(self, client):
        study = close(make_study())
        make_fits(study, 3, [make_system()])
        last = Fit.objects.latest("as_of")
        assert get(client, "history", study).content.decode().count('class="diagonal"') == 0
        Fit.objects.filter(pk=last.pk).update(code_version="numerics-2")

        assert get(client, "history", study).content.decode().count('class="diagonal"') == 1

    def test_follows_the_filters_of_its_address(self, client):
        study = close(make_study())
        make_fits(study, 2, [make_system(name="Ash")])

        assert "Ash" not in text(get(client, "history", study, "?pool=llm"))
        assert get(client, "history", study, "?pool=martians").status_code == 404

    def test_says_when_systems_are_simulated(self, client):
        study = close(make_study())
        make_fits(study, 2, [make_system(name="Simulated Ash", is_simulated=True)])

        assert "they say nothing about real ones" in text(get(client, "history", study))

    def test_says_when_only_people_or_judges_are_simulated(self, client):
        study = close(make_study())
        make_fits(study, 2, [make_system(name="Ash")]).update(is_simulated=True)

        shown = text(get(client, "history", study))
        response = get(client, "history_csv", study, "?pool=human&contexts=all")

        assert "they say nothing about real ones" in shown
        assert 'filename="simulated-' in response["Content-Disposition"]
        assert {row["fit_is_simulated"] for row in read(response)} == {"True"}

    def test_of_days_is_named_by_days(self, client):
        study = close(make_study())
        fits = make_fits(study, 2, [make_system()])
        Fit.objects.filter(pk=fits[1].pk).update(as_of=NOW + dt.timedelta(days=9))

        assert f"{NOW:%Y-%m-%d}" in text(get(client, "history", study))

    def test_is_downloaded_fit_by_fit(self, client):
        study = close(make_study())
        make_fits(study, 2, [make_system(slug="ash")])

        rows = read(get(client, "history_csv", study, "?pool=human&contexts=all"))

        assert [(row["system"], row["elo"]) for row in rows] == [("ash", "1540.0")] * 2
        assert {row["fit_is_simulated"] for row in rows} == {"False"}

    def test_says_what_will_be_here(self, client):
        assert "No ratings yet" in text(get(client, "history", close(make_study())))

    def test_costs_the_same_queries_for_any_length(self, client, django_assert_max_num_queries):
        study = close(make_study())
        make_fits(study, 12, [make_system() for _ in range(3)])

        # study, fitted selections, count of fits, ratings, systems, judges
        with django_assert_max_num_queries(6):
            get(client, "history", study)


class TestVerdicts:
    def test_shows_places_that_sum_to_the_calls(self, client):
        study = close(make_judged_study(with_llm=True))

        rows = read(get(client, "verdicts_csv", study))

        assert rows
        for row in rows:
            places = [int(cell) for key, cell in row.items() if key.startswith("n_")]
            assert places[0] == sum(places[1:])
        assert rows[-1]["evaluator"] == "People"

    def test_is_downloaded_under_a_name_that_says_when_anybody_is_simulated(self, client):
        study = close(make_judged_study(with_llm=True))
        assert "simulated" not in get(client, "verdicts_csv", study)["Content-Disposition"]
        Judge.objects.update(is_simulated=True, name=Concat(Value("Simulated "), "name"))

        response = get(client, "verdicts_csv", study)

        assert 'filename="simulated-' in response["Content-Disposition"]
        assert read(response)[0]["is_simulated"] == "True"

    def test_costs_the_same_queries_for_any_number_of_calls(
        self, client, django_assert_max_num_queries
    ):
        study = close(make_judged_study(with_llm=True, n_dialogues=12))

        # study, seven of the account, and who is left out
        with django_assert_max_num_queries(9):
            get(client, "verdicts", study)

    def test_names_judges_and_people_together(self, client):
        study = close(make_judged_study())
        make_rater(study=study, code="R7XK2")

        page = get(client, "verdicts", study)

        assert "People" in text(page)
        assert "Unsettled by order" in text(page)
        assert "R7XK2" not in page.content.decode()

    def test_says_what_will_be_here(self, client):
        assert "Nobody has been asked yet" in text(get(client, "verdicts", close(make_study())))


class TestLeaderboardOfANewFit:
    def test_groups_systems_by_tier(self, client):
        fit = make_rated_fit([make_system(name="Ash")])
        make_rated_system(fit, make_system(name="Beech"), elo=1500.0, rank=2, tier=1)
        make_rated_system(fit, make_system(name="Cedar"), elo=1460.0, rank=3, tier=2)

        page = get(client, "leaderboard", fit.study)

        table = text(page)[text(page).index("Tier 1") :]
        places = [table.index(word) for word in ("Tier 1", "Ash", "Beech", "Tier 2", "Cedar")]
        assert places == sorted(places)
        assert "Ash and Beech cannot be told apart; Cedar is clearly behind." in text(page)
        assert text(page).count("Tier 1") == 1
        assert page.content.decode().count("<tbody>") == 2
        assert "A tier holds the systems" in text(page)

    def test_draws_the_interval_for_all_systems_faintly(self, client):
        page = get(client, "leaderboard", make_rated_fit().study)

        assert page.content.decode().count('class="joint"') == 2
        assert "covers all systems jointly" in text(page)

    def test_holds_the_two_errors_against_each_other(self, client):
        shown = text(get(client, "leaderboard", make_rated_fit().study))

        assert "are 90 % of the resampled ones" in shown

    def test_of_an_older_fit_has_none_of_these(self, client):
        old = {"tier": None, "joint_low": None, "joint_high": None, "sandwich_se": None}
        fit = make_fit(study=close(make_study()), **ENDED)
        make_rated_system(fit, make_system(), elo=1500.0, rank=1, **old)

        page = get(client, "leaderboard", fit.study)

        assert "1500 1480 to 1520" in text(page)
        assert "ier" not in text(page).replace("earlier", "")
        assert 'class="joint"' not in page.content.decode()
        assert "Cross-check" not in text(page)


@pytest.mark.parametrize("name", ["fits", "history", "verdicts", "history_csv", "verdicts_csv"])
def test_nothing_stands_around_a_study_that_does_not_exist(client, name):
    assert client.get(reverse(f"ranking:{name}", args=["nothing"])).status_code == 404


@pytest.mark.parametrize("name", ["fits", "history", "verdicts"])
def test_pages_have_nothing_inline_and_are_not_posted_to(client, name):
    study = close(make_study())
    make_fits(study, 2, [make_system()])
    make_judge()

    assert not inline(get(client, name, study))
    assert client.post(reverse(f"ranking:{name}", args=[study.slug])).status_code == 405
