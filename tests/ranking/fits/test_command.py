"""``manage.py fits``: the computations of a study from the command line."""

import io
import json

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from ranking.choices import AnalysisKind, FitState
from ranking.models import Analysis, Fit
from ranking.report import services as report_services
from tests.helpers.factories import HOUR, NOW, make_study
from tests.helpers.factories_written_once import make_analysis, make_fit
from tests.helpers.judged import make_judged_study

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("_two_kinds")]

START = NOW + HOUR


@pytest.fixture(autouse=True)
def _now(site_clock):
    site_clock.at = START


def fits(action, study, *options, **streams):
    """Run an action and return what it answered, unless a stream takes it."""
    out = io.StringIO()
    call_command("fits", action, "--study", study.slug, *options, **{"stdout": out} | streams)
    return out.getvalue()


class TestNow:
    @pytest.mark.parametrize(
        ("options", "n_analyses"), [((), 8), (("--without-analyses",), 0)], ids=["all", "fits"]
    )
    def test_computes_ratings_at_once_and_analyses_unless_they_are_left_to_workers(
        self, options, n_analyses
    ):
        study = make_judged_study(n_dialogues=3)

        said = fits("now", study, *options)

        assert said.splitlines()[0] == "4 fits computed."
        assert set(study.fits.values_list("state", flat=True)) == {FitState.DONE}
        assert Analysis.objects.filter(state=FitState.DONE).count() == n_analyses

    def test_says_when_nothing_changed(self, study, fit):
        assert "Nothing changed" in fits("now", study)
        assert Fit.objects.count() == 4

    def test_says_when_a_computation_is_under_way(self, study):
        make_fit(study=study, claimed_at=START)

        found = json.loads(fits("now", study, "--json"))

        assert (found["n_under_way"], found["n_fits"]) == (1, 0)
        assert not Analysis.objects.exists()


class TestList:
    def test_has_a_line_for_each_fit_and_answers_a_program(self, study, fit):
        said = fits("list", study).splitlines()
        (newest,) = json.loads(fits("list", study, "--json", "--most", "1"))

        assert len(said) == 4
        assert sum(fit.key in line for line in said) == 1
        assert "Computed in 0.0 s, 9 judgments as of 2026-01-05 10:00:00 UTC" in said[0]
        assert (newest["state"], newest["took"], newest["n_judgments"]) == ("DONE", 0.0, 9)

    def test_says_when_there_is_none(self):
        assert "No fits yet" in fits("list", make_study())


class TestShow:
    def test_shows_the_board_and_how_analyses_stand(self, study, fit):
        report_services.analyse_fit(fit_id=fit.pk, kind=AnalysisKind.PAIRS, clock=lambda: START)
        refused = {"state": FitState.REFUSED, "ended_at": START, "refusal": "No ties."}
        make_analysis(fit=fit, kind=AnalysisKind.DRAWS, claimed_at=START, **refused)

        said = fits("show", study, "--fit", fit.key)

        assert "System against system  done in 0.0 s" in said
        assert "Ties and strengths  refused in 0.0 s: No ties." in said
        assert all(row.system.name in said for row in fit.ratings.select_related("system"))

    def test_answers_a_program(self, study, fit):
        make_analysis(fit=fit)

        found = json.loads(fits("show", study, "--fit", fit.key, "--json"))

        assert found["key"] == fit.key
        assert found["analyses"] == [{"kind": "PAIRS", "state": "RUNNING", "refusal": ""}]

    def test_of_one_under_way_shows_that_it_is(self, study):
        running = make_fit(study=study)

        assert "Being computed" in fits("show", study, "--fit", running.key)


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (["list", "--study", "nowhere"], "no study"),
        (["show", "--study", "{study}", "--fit", "fit-none"], "has no fit"),
        (["verify", "--study", "{study}", "--fit", "fit-none"], "has no fit"),
    ],
    ids=["study", "fit to show", "fit to verify"],
)
def test_what_is_not_there_is_refused_with_code_2(study, command, says):
    with pytest.raises(CommandError, match=says) as caught:
        call_command("fits", *(word.format(study=study.slug) for word in command))

    assert caught.value.returncode == 2


class TestVerify:
    def test_says_that_a_fit_is_what_its_judgments_give(self, study, fit):
        assert "is what its judgments give" in fits("verify", study, "--fit", fit.key)

    @pytest.mark.parametrize("options", [(), ("--json",)])
    def test_ends_with_1_where_a_rating_was_tampered_with(self, study, fit, options):
        rating = fit.ratings.first()
        with connection.cursor() as cursor:
            cursor.execute(
                "UPDATE ranking_rating SET elo = elo + 1, elo_high = elo_high + 2 WHERE id = %s",
                [rating.pk],
            )
        out = io.StringIO()

        with pytest.raises(CommandError, match="does not hold") as caught:
            fits("verify", study, "--fit", fit.key, *options, stdout=out)

        assert caught.value.returncode == 1
        assert rating.system.slug in out.getvalue()
        if options:
            found = json.loads(out.getvalue())
            assert found["is_sound"] is False
            assert {one["figure"] for one in found["differences"]} == {"elo", "elo_high"}

    def test_says_when_other_code_computed_it(self, study, fit):
        Fit.objects.update(code_version="numerics-old")

        err = io.StringIO()

        fits("verify", study, "--fit", fit.key, stderr=err)

        assert "Another version" in err.getvalue()
