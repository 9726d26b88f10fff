"""What stands around a leaderboard: charts, other fits, ratings over time, what became of calls.

And the note that decisions on raters, or withdrawals, have left it behind until it is refitted.
"""

import re
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.contrib.staticfiles import finders
from django.core.management import call_command
from django.db.models import Value
from django.db.models.functions import Concat
from django.urls import reverse

from annotation.choices import RaterState
from annotation.models import Judge, Study
from annotation.quality.services import excluding
from annotation.raters.services import withdrawing
from completions.models import Completion
from ranking.choices import FitState
from ranking.models import Fit
from ranking.results import views
from tests.helpers.factories import (
    HOUR,
    NOW,
    make_context,
    make_dialogue,
    make_judgment,
    make_rater,
    make_study,
    make_system,
    make_writer,
)
from tests.helpers.factories_written_once import make_fit
from tests.helpers.judged import fit_one, make_judged_study
from tests.helpers.pages import charts, rows_of, text
from tests.helpers.rated import close, make_rated_fit, make_rated_system

pytestmark = pytest.mark.django_db
HEAVIEST = 3_000  # bytes, compressed, of the script that every page with a chart loads at once


@pytest.fixture
def study():
    return close(make_study())


def make_fits(study, n, systems=()):
    """Fits of one study an hour apart, in which all systems but the first fall."""
    for place in range(n):
        fit = make_rated_fit(systems[:1], study=study, as_of=NOW + place * HOUR)
        for rank, system in enumerate(systems[1:], start=2):
            make_rated_system(fit, system, elo=1500.0 - 10 * place, rank=rank)
    return Fit.objects.filter(study=study).order_by("as_of")


def get(client, name, study, query=""):
    return client.get(reverse(f"ranking:{name}", args=[study.slug]) + query)


class TestFits:
    def test_are_listed_newest_first_and_lead_to_those_before(self, client, study):
        first, second = make_fits(study, 2)
        running = make_fit(study=study)

        html = get(client, "fits", study).content.decode()
        of_second = client.get(reverse("ranking:fit", args=[study.slug, second.key]))

        places = [reverse("ranking:fit", args=[study.slug, one.key]) for one in (second, first)]
        assert html.index(places[0]) < html.index(places[1])
        assert running.key not in html
        assert places[1] in of_second.content.decode()

    def test_come_page_by_page(self, client, study):
        make_fits(study, views.FITS_A_PAGE + 1)

        first, second = (get(client, "fits", study, f"?page={n}") for n in (1, 2))

        assert "Page 1 of 2" in text(first)
        assert "Older" in text(first)
        assert "Newer" in text(second)
        assert second.content.decode().count('scope="row"') == 1

    def test_say_which_are_simulated_or_refused(self, client, study):
        make_fits(study, 1).update(is_simulated=True, state=FitState.REFUSED, refusal="No scale.")

        assert "no ratings simulated" in text(get(client, "fits", study))


class TestHistory:
    def test_draws_a_line_for_each_system_and_tells_its_figures(self, client, study):
        make_fits(study, 3, [make_system(name="Ash"), make_system(name="Beech")])

        page = get(client, "history", study)

        assert page.content.decode().count("<polyline points") == 2
        assert page.content.decode().count('polyline class="lead"') == 2
        assert "1540 1480" in text(page)
        assert text(page).index("Ash") < text(page).index("Beech")
        parts = charts(page)["moved"]
        first, second, _third = parts["places"]
        assert second - first == 3_600_000
        assert parts["said"][0] == f"{NOW:%-d %b %Y, %H:%M} UTC"
        values = [one["values"] for one in parts["series"]]
        assert values == [[1540.0] * 3, [1500.0, 1490.0, 1480.0]]

    def test_of_one_fit_has_no_drawing_and_no_script(self, client, study):
        make_fits(study, 1, [make_system()])

        page = get(client, "history", study)

        assert "There is one fit so far" in text(page)
        assert charts(page) == {}
        assert "<svg" not in page.content.decode()
        assert "<script" not in page.content.decode()

    def test_marks_where_the_code_changed(self, client, study):
        make_fits(study, 3, [make_system()])
        last = Fit.objects.latest("as_of")
        assert get(client, "history", study).content.decode().count('class="diagonal"') == 0
        Fit.objects.filter(pk=last.pk).update(code_version="numerics-2")

        assert get(client, "history", study).content.decode().count('class="diagonal"') == 1

    def test_follows_the_filters_of_its_address(self, client, study):
        make_fits(study, 2, [make_system(name="Ash")])

        assert "Ash" not in text(get(client, "history", study, "?pool=llm"))
        assert get(client, "history", study, "?pool=martians").status_code == 404

    def test_says_when_systems_are_simulated(self, client, study):
        make_fits(study, 2, [make_system(name="Simulated Ash", is_simulated=True)])

        assert "they say nothing about real ones" in text(get(client, "history", study))

    @pytest.mark.parametrize(
        ("hours", "between"), [(9 * 24, "8 Jan 2026"), (3, "5 Jan, 10:00")], ids=["days", "hours"]
    )
    def test_names_times_between_fits_as_far_as_they_are_apart(self, client, study, hours, between):
        fits = make_fits(study, 2, [make_system()])
        Fit.objects.filter(pk=fits[1].pk).update(as_of=NOW + hours * HOUR)

        assert f">{between}</text>" in get(client, "history", study).content.decode()

    @pytest.mark.parametrize("is_simulated", [False, True])
    def test_is_downloaded_fit_by_fit_and_says_when_raters_or_judges_are_simulated(
        self, client, study, is_simulated
    ):
        make_fits(study, 2, [make_system(slug="ash")]).update(is_simulated=is_simulated)

        shown = text(get(client, "history", study))
        response = get(client, "history_csv", study, "?pool=human&contexts=all")

        assert ("they say nothing about real ones" in shown) is is_simulated
        assert ('filename="simulated-' in response["Content-Disposition"]) is is_simulated
        rows = rows_of(response)
        assert [(row["system"], row["elo"]) for row in rows] == [("ash", "1540.0")] * 2
        assert {row["fit_is_simulated"] for row in rows} == {str(is_simulated)}


class TestVerdicts:
    def test_name_judges_and_people_together_in_places_that_sum_to_the_calls(self, client):
        study = close(make_judged_study(with_llm=True))
        make_rater(study=study, code="R7XK2")

        page = get(client, "verdicts", study)
        download = get(client, "verdicts_csv", study)

        assert "People" in text(page)
        assert "Unsettled by order" in text(page)
        assert "R7XK2" not in page.content.decode()
        assert "simulated" not in download["Content-Disposition"]
        rows = rows_of(download)
        assert rows[-1]["evaluator"] == "People"
        for row in rows:
            places = [int(cell) for key, cell in row.items() if key.startswith("n_")]
            assert places[0] == sum(places[1:])

    def test_are_downloaded_under_a_name_that_says_when_anybody_is_simulated(self, client):
        study = close(make_judged_study(with_llm=True))
        Judge.objects.update(is_simulated=True, name=Concat(Value("Simulated "), "name"))

        response = get(client, "verdicts_csv", study)

        assert 'filename="simulated-' in response["Content-Disposition"]
        assert rows_of(response)[0]["is_simulated"] == "True"

    @pytest.mark.parametrize(
        ("is_simulated", "state", "says"),
        [
            (True, "OPEN", "embargoed-simulated-"),
            (False, "OPEN", "embargoed-"),
            (False, "CLOSED", ""),
        ],
    )
    def test_of_judges_together_say_in_their_name_what_must_be_known_first(
        self, admin_client, is_simulated, state, says
    ):
        study = make_study(state=state)
        make_context(dialogue=make_dialogue(dataset=study.dataset), is_simulated=is_simulated)

        name = get(admin_client, "ensemble_csv", study)["Content-Disposition"]

        assert f'filename="{says}{study.slug}-ensemble.csv"' in name


def needs(page):
    return re.findall(r'data-needs="([^"]+)"', page.content.decode())[0].split()


class TestCharts:
    @pytest.fixture
    def fit(self):
        return make_rated_fit([make_system(slug="ash", name="Ash"), make_system(slug="beech")])

    def test_hands_over_ratings_with_both_intervals_and_their_words(self, client, fit):
        page = get(client, "leaderboard", fit.study)

        parts = charts(page)["drawn-ratings"]
        assert parts["centre"] == 1500.0
        first, second = parts["rows"]
        ends = ("jointLow", "low", "value", "high", "jointHigh")
        assert first["name"] == "Ash"
        assert [first[key] for key in ends] == [1510.0, 1520.0, 1540.0, 1560.0, 1570.0]
        assert first["said"][:3] == ["Elo: 1540", "95 % interval: 1520 to 1560", "Rank: 1\u20132"]
        assert second["value"] == 1500.0
        permanent = client.get(reverse("ranking:fit", args=[fit.study.slug, fit.key]))
        assert charts(permanent) == charts(page)

    def test_shows_nothing_of_charts_before_a_script_has_drawn_them(self, client, fit):
        html = get(client, "leaderboard", fit.study).content.decode()

        (figure,) = re.findall(r"<figure[^>]*data-drawn-only[^>]*>", html)
        assert figure.endswith("hidden>")
        assert re.search(r'<div class="chart [^>]*hidden>', html)

    def test_without_ratings_loads_no_script(self, client):
        assert "<script" not in get(client, "leaderboard", make_study()).content.decode()

    def test_loads_the_library_from_this_site_and_only_when_a_chart_is_near(self, client, fit):
        page = get(client, "leaderboard", fit.study)

        scripts = re.findall(r'<script src="([^"]+)"', page.content.decode())
        assert scripts == ["/static/js/charts.js"]
        assert needs(page)[0] == "/static/vendor/echarts-6.1.0/echarts.min.js"
        for address in needs(page):
            assert finders.find(address.removeprefix("/static/"))

    def test_loads_scripts_by_their_contents_in_a_deployment(self, client, fit, settings, tmp_path):
        settings.STATIC_ROOT = tmp_path
        settings.STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]
        backend = "whitenoise.storage.CompressedManifestStaticFilesStorage"
        settings.STORAGES = settings.STORAGES | {"staticfiles": {"BACKEND": backend}}
        call_command("collectstatic", interactive=False, verbosity=0)

        addresses = needs(get(client, "leaderboard", fit.study))

        assert len(addresses) == 5
        for address in addresses:
            file = tmp_path / address.removeprefix("/static/")
            assert re.search(r"\.[0-9a-f]{12}\.js$", address)
            assert file.is_file()
            assert file.with_name(f"{file.name}.gz").is_file()


def test_the_script_that_pages_load_at_once_is_small():
    found: Any = finders.find("js/charts.js")

    assert len(Path(found).read_bytes()) < HEAVIEST


@pytest.mark.parametrize(
    ("name", "said"), [("history", "No ratings yet"), ("verdicts", "Nobody has been asked yet")]
)
def test_pages_say_what_will_be_here(client, study, name, said):
    assert said in text(get(client, name, study))


def exclude(study):
    return excluding.exclude_rater(
        rater=study.raters.latest("pk"),
        reason="For a test.",
        by=User.objects.create_user("boss"),
        now=NOW + 2 * HOUR,
    )


def reinstate(study):
    rater = exclude(study).rater
    fit_one(study, NOW + 3 * HOUR)
    excluding.reinstate_rater(
        rater=rater, reason="Mixed up.", by=User.objects.get(), now=NOW + 4 * HOUR
    )


def delete_answers(study):
    rater = study.raters.filter(pk=study.raters.latest("pk").pk)
    rater.update(state=RaterState.WITHDRAWN, ended_at=NOW + 2 * HOUR, data_kept=False)


def delete_messages(study):
    writer = make_writer(dataset=study.dataset)
    text = Completion.objects.filter(pk=study.comparisons.first().first_id)
    text.update(writer=writer)
    withdrawing.withdraw_writer(writer=writer, keep_texts=False, now=NOW + 2 * HOUR)


class TestOutOfDate:
    @pytest.fixture(scope="module")
    def key(self, module_rows):
        study = make_judged_study()
        make_judgment(comparison=study.comparisons.first(), verdict=-1)
        fit_one(study, NOW + HOUR)
        return close(study).pk

    @pytest.fixture
    def judged(self, key):
        return Study.objects.get(pk=key)

    def is_noted(self, client, study):
        return "Out of date." in get(client, "leaderboard", study).content.decode()

    @pytest.mark.parametrize("decide", [exclude, reinstate, delete_answers, delete_messages])
    def test_stands_from_a_decision_to_the_next_fit(self, client, judged, decide):
        assert not self.is_noted(client, judged)

        decide(judged)

        assert self.is_noted(client, judged)
        fit_one(judged, NOW + 5 * HOUR)
        assert not self.is_noted(client, judged)

    def test_does_not_follow_from_decisions_in_another_study(self, client, judged):
        exclude(make_judged_study())

        assert not self.is_noted(client, judged)
