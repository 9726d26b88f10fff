"""The console's sample-size planner, and the same at the command line."""

import csv
import io

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from annotation.choices import Protocol
from ranking.choices import AnalysisKind, EvaluatorPool, FitState
from ranking.fits import services
from ranking.planner import queries
from ranking.planner.plans import HEADER
from tests.helpers.factories import (
    CONTENT,
    HOUR,
    NOW,
    make_comparison,
    make_completion,
    make_context,
    make_dialogue,
    make_judge_call,
    make_study,
    make_system,
)
from tests.helpers.factories_of_calls import DONE
from tests.helpers.factories_written_once import (
    make_analysis,
    make_fit,
    make_measurement,
    make_rater_figures,
)
from tests.helpers.judged import make_judged_study
from tests.helpers.pages import text

pytestmark = pytest.mark.django_db

PAIR = {
    "first": "alder",
    "second": "birch",
    "difference": 0.05,
    "n_units": 100,
    "between": 0.0004,
    "within": 0.004,
    "raters": 0.0,
    "freedom": 100.0,
}


def keep(study, *pairs, pool=EvaluatorPool.HUMAN, **fields):
    """Store what an analysis of planning keeps."""
    fit = make_fit(study=study, pool=pool, state=FitState.DONE, ended_at=NOW)
    kept = {"n_judgments": 2_000, "n_comparisons": 500, "n_evaluators": 20, "n_systems": 3}
    result = {"method": "", "tables": [], "warnings": [], "is_exploratory": True}
    make_analysis(
        fit=fit,
        kind=AnalysisKind.PLANNING,
        state=FitState.DONE,
        ended_at=NOW,
        result=result | {"kept": kept | {"neighbours": list(pairs or [PAIR])}} | fields,
    )


def address(study, name="planner"):
    return reverse(f"raters:{name}", args=[study.slug])


def shown(client, study, **query):
    answer = client.get(address(study), query)
    assert answer.status_code == 200
    return text(answer)


def power(study, *options):
    out = io.StringIO()
    call_command("study", "power", study.slug, *options, stdout=out)
    return out.getvalue()


class TestThePage:
    def test_names_neighbours_and_both_ways_to_tell_them_apart(
        self, admin_client, django_assert_max_num_queries
    ):
        make_system(slug="alder", name="Alder <b>")
        keep(study := make_study(), *[PAIR] * 30)

        with django_assert_max_num_queries(10):
            page = shown(admin_client, study)

        for said in (
            "Alder &lt;b&gt; and birch",
            "0 of 30 pairs of neighbours have judgments enough",
            "More judgments of the same comparisons",
            "New dialogues, judged as these are",
            "each pair by itself",
        ):
            assert said in page
        assert "Bonferroni" in shown(admin_client, study, together="all")

    def test_says_when_no_number_of_judgments_is_enough(self, admin_client):
        keep(study := make_study(), PAIR | {"between": 0.01})

        page = shown(admin_client, study)

        assert "No number is enough." in page
        assert "never" in page

    def test_counts_raters_hours_and_money_as_measured(self, admin_client):
        keep(study := make_study())
        measured = make_measurement(study=study, n_answers=60, median_seconds=36.0)
        make_rater_figures(measurement=measured)
        make_rater_figures(measurement=measured)

        page = shown(admin_client, study, pay="20")

        assert "The median answer took 36 s." in page
        assert "A judgment costs 0.200" in page

    def test_has_calls_of_judges_cost_what_they_did(self, admin_client):
        keep(study := make_study(), pool=EvaluatorPool.LLM)
        for cost in ("0.001", "0.003"):
            pair = make_comparison(study=study)
            make_judge_call(comparison=pair, cost_usd=cost, **DONE)
        make_judge_call(cost_usd="9.9", **DONE)

        page = shown(admin_client, study, pool="judges")

        assert "A judgment costs 0.00200 US dollars" in page
        assert "nothing is said about other judges" in page

    def test_plans_by_a_closed_form_before_any_data(self, admin_client):
        study = make_study()
        context = make_context(dialogue=make_dialogue(dataset=study.dataset))
        for _ in range(3):
            make_completion(context=context, system=make_system())

        page = shown(admin_client, study, elo="30", rho="0.3")

        assert "Before any data" in page
        assert "correlated by 0.30" in page

    @pytest.mark.parametrize(
        ("protocol", "said"),
        [
            (Protocol.PREFERENCE, "no texts of two systems yet"),
            (Protocol.LIKERT, "rated alone"),
        ],
    )
    def test_says_why_there_is_no_plan(self, admin_client, protocol, said):
        assert said in shown(admin_client, make_study(protocol=protocol))

    def test_waits_for_the_analysis_of_ratings_that_are_there(self, admin_client):
        study = make_judged_study()
        services.refit_study(study=study, clock=lambda: NOW + HOUR)

        assert "comes with the analysis of planning" in shown(admin_client, study)

    @pytest.mark.parametrize(
        "query", [{"elo": "0"}, {"power": "1"}, {"level": "x"}, {"pool": "cats"}, {"rho": "2"}]
    )
    def test_says_what_is_amiss_with_an_address(self, admin_client, query):
        study = make_study()

        answer = admin_client.get(address(study), query)

        assert answer.status_code == 422
        assert b'aria-invalid="true"' in answer.content
        assert admin_client.get(address(study, "planner_csv"), query).status_code == 422


class TestTheDownload:
    def test_has_a_row_for_each_pair(self, admin_client):
        keep(study := make_study(), PAIR | {"first": "=alder"}, PAIR)

        found = admin_client.get(address(study, "planner_csv"), {"elo": "10"})

        header, *rows = csv.reader(io.StringIO(found.getvalue().decode()))
        assert header == list(HEADER)
        assert [row[0] for row in rows] == ["'=alder", "alder"]

    def test_has_a_header_before_any_data(self, admin_client):
        found = admin_client.get(address(make_study(), "planner_csv"))

        assert found.getvalue().decode().strip() == ",".join(HEADER)


@pytest.mark.parametrize(("named", "n_systems"), [([], 3), (["a", "b"], 2)])
def test_a_study_is_planned_for_the_systems_that_it_compares(named, n_systems):
    study = make_study(content=CONTENT | {"systems": named})
    context = make_context(dialogue=make_dialogue(dataset=study.dataset))
    for slug in "abc":
        make_completion(context=context, system=make_system(slug=slug))

    assert queries.n_systems_of(study) == n_systems


class TestTheCommand:
    def test_says_what_the_page_says(self, tmp_path):
        keep(study := make_study())
        file = tmp_path / "plan.csv"

        said = power(study, "--elo", "20", "--price", "0.5", "--csv", str(file))

        assert "2,000 judgments by people on 100 source dialogues" in said
        assert "same comparisons: " in said
        assert "cost " in said
        assert file.read_text().startswith("first,second")

    @pytest.mark.parametrize(
        ("changes", "options", "said"),
        [
            ({"between": 0.01}, (), "same comparisons: never"),
            ({"within": None, "between": 0.01}, (), "none was judged twice"),
            ({}, ("--elo", "900"), "1 of 1 pairs"),
        ],
        ids=["never", "unknown", "enough"],
    )
    def test_says_what_judgments_of_the_same_comparisons_give(self, changes, options, said):
        keep(study := make_study(), PAIR | changes)

        assert said in power(study, *options)

    def test_looks_into_ratings_that_nobody_looked_into(self):
        study = make_judged_study()
        services.refit_study(study=study, clock=lambda: NOW + HOUR)

        said = power(study)

        assert "12 judgments by people on 4 source dialogues" in said
        assert "none was judged twice" in said

    @pytest.mark.parametrize(
        ("protocol", "options"),
        [
            (Protocol.LIKERT, ()),
            (Protocol.PREFERENCE, ()),
            (Protocol.PREFERENCE, ("--elo", "none")),
        ],
    )
    def test_refuses_what_cannot_be_planned(self, protocol, options):
        with pytest.raises(CommandError) as caught:
            power(make_study(protocol=protocol), *options)
        assert caught.value.returncode == 2
