"""What a study needs, from what an analysis kept or before any data: rule, pages, command."""

import csv
import io
import math

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from annotation.choices import Protocol
from annotation.models import Study
from ranking.choices import AnalysisKind, EvaluatorPool, FitState
from ranking.numerics.elo import ELO_PER_LOG_UNIT
from ranking.numerics.planning.needs import Wish
from ranking.planner import queries
from ranking.planner.plans import HEADER, Bill, Rates, first_plan, plan_of
from ranking.planner.queries import judged_per_context
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
from tests.helpers.judged import fit_one, make_judged_study
from tests.helpers.pages import text
from tests.helpers.rated import make_rated_fit

WISH = Wish(20 / ELO_PER_LOG_UNIT)
LAYOUT = {"n_systems": 5, "n_pairs": 10, "per_pair": 3}


def neighbours(first="a", second="b", *, between=0.0004, within=0.001, **more):
    row = {"first": first, "second": second, "difference": 0.1, "n_units": 100}
    return row | {"between": between, "within": within, "raters": 0.0, "freedom": 100.0} | more


def kept(*rows):
    counts = {"n_judgments": 2_000, "n_comparisons": 500, "n_evaluators": 20, "n_systems": 3}
    return counts | {"neighbours": list(rows or [neighbours()])}


class TestAPlan:
    def test_spends_judgments_on_the_least_certain_neighbours(self):
        plan = plan_of(kept(neighbours(), neighbours("b", "c", within=0.004)), WISH, Rates())

        sure, unsure = plan.pairs
        assert plan.same.n_judgments == unsure.judgments_more > sure.judgments_more
        per_comparison = 4 * (1 + unsure.judgments_more / 2_000)
        assert plan.per_comparison == pytest.approx(per_comparison, rel=0.01)
        assert plan.n_dialogues == unsure.dialogues_more
        assert plan.new.n_judgments == 20 * unsure.dialogues_more

    def test_says_when_dialogues_are_too_few(self):
        plan = plan_of(kept(neighbours(between=0.01)), WISH, Rates())

        assert plan.same is None
        assert (plan.n_limited, plan.is_known) == (1, True)
        assert plan.pairs[0].judgments_more is None
        assert plan.new.n_judgments > 0

    def test_says_when_nobody_knows_and_leaves_as_rows_without_infinities(self):
        unknown = neighbours(between=0.01, within=None)

        plan = plan_of(kept(unknown, neighbours()), WISH, Rates())

        assert (plan.same, plan.n_limited, plan.is_known) == (None, 0, False)
        header, *rows = plan.rows()
        assert header == HEADER
        assert rows == [
            ("a", "b", 17.372, 17.372, 0.2046, None, False, None, 495, 379, 662, 9900),
            ("a", "b", 17.372, 6.5, 0.8614, 0, False, 0.9999, 0, 0, 9, 0),
        ]

    def test_asks_for_nothing_where_there_is_enough(self):
        plan = plan_of(kept(), Wish(1.0), Rates(price=2.0))

        assert plan.n_met == 1
        assert (plan.same, plan.new) == (Bill(0, None, None, 0.0), Bill(0, None, None, 0.0))

    def test_has_no_number_beyond_all_bounds(self):
        plan = plan_of(kept(), Wish(1e-9), Rates())

        assert (plan.new, plan.n_dialogues) == (None, None)
        assert plan.pairs[0].dialogues_high is None


class TestABill:
    def test_counts_people_hours_and_money(self):
        rates = Rates(price=0.25, seconds=36.0, per_person=30.0)

        assert Bill.of(1_000, rates) == Bill(1_000, 34, 10.0, 250.0)

    def test_does_not_count_what_is_not_known(self):
        assert Bill.of(1_000, Rates()) == Bill(1_000, None, None, None)


class TestAFirstPlan:
    def test_is_the_closed_form_in_whole_contexts(self):
        """16 (K - 1) / 4 judgments per squared error, 2.8016 errors, 2.3 for the correlation.

        Ten pairs of five texts: a judgment is as good as one of 7.5, not of 3.
        """
        found = first_plan(WISH, Rates(), correlation=0.2, **LAYOUT)

        judgments = 16 * (2.8015852 / WISH.difference) ** 2 * 2.3
        assert found.design_effect == pytest.approx(2.3)
        assert found.n_contexts == math.ceil(judgments / 30)
        assert found.bill.n_judgments == 30 * found.n_contexts

    def test_takes_more_where_the_level_holds_for_all(self):
        joint = Wish(WISH.difference, is_joint=True)

        one, both = (
            first_plan(wish, Rates(), correlation=0.0, **LAYOUT).n_contexts
            for wish in (WISH, joint)
        )

        assert one < both

    @pytest.mark.parametrize(("wanted", "pairs"), [(0, 10), (4, 4), (99, 10)])
    def test_judges_as_many_pairs_of_a_context_as_there_are(self, wanted, pairs):
        assert judged_per_context(Study(pairs_per_context=wanted), 5) == pairs


PAIR = neighbours("alder", "birch", within=0.004, difference=0.05)


def keep(study, *pairs, pool=EvaluatorPool.HUMAN):
    """Store what an analysis of planning keeps."""
    done = {"state": FitState.DONE, "ended_at": NOW}
    result = {"method": "", "tables": [], "warnings": [], "is_exploratory": True}
    result |= {"kept": kept(*pairs or [PAIR])}
    fit = make_fit(study=study, pool=pool, **done)
    make_analysis(fit=fit, kind=AnalysisKind.PLANNING, result=result, **done)


def address(study, name="planner"):
    return reverse(f"raters:{name}", args=[study.slug])


def shown(client, study, **query):
    answer = client.get(address(study), query)
    assert answer.status_code == 200
    return text(answer)


def study_with_texts():
    study = make_study()
    context = make_context(dialogue=make_dialogue(dataset=study.dataset))
    for _ in range(3):
        make_completion(context=context, system=make_system())
    return study


def power(study, *options):
    out = io.StringIO()
    call_command("study", "power", study.slug, *options, stdout=out)
    return out.getvalue()


@pytest.mark.django_db
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
        page = shown(admin_client, study_with_texts(), elo="30", rho="0.3")

        assert "Before any data" in page
        assert "correlated by 0.30" in page

    @pytest.mark.parametrize(
        ("protocol", "said"),
        [(Protocol.PREFERENCE, "no texts of two systems yet"), (Protocol.LIKERT, "rated alone")],
    )
    def test_says_why_there_is_no_plan(self, admin_client, protocol, said):
        assert said in shown(admin_client, make_study(protocol=protocol))

    def test_waits_for_the_analysis_of_ratings_that_are_there(self, admin_client):
        fit = make_rated_fit()

        assert "needs an analysis that follows the ratings" in shown(admin_client, fit.study)

    @pytest.mark.parametrize(
        "query", [{"elo": "0"}, {"power": "1"}, {"level": "x"}, {"pool": "cats"}, {"rho": "2"}]
    )
    def test_says_what_is_amiss_with_an_address(self, admin_client, query):
        study = make_study()

        answer = admin_client.get(address(study), query)

        assert answer.status_code == 422
        assert b'aria-invalid="true"' in answer.content
        assert admin_client.get(address(study, "planner_csv"), query).status_code == 422


@pytest.mark.django_db
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


@pytest.mark.django_db
@pytest.mark.parametrize(("named", "n_systems"), [([], 3), (["a", "b"], 2)])
def test_a_study_is_planned_for_the_systems_that_it_compares(named, n_systems):
    study = make_study(content=CONTENT | {"systems": named})
    context = make_context(dialogue=make_dialogue(dataset=study.dataset))
    for slug in "abc":
        make_completion(context=context, system=make_system(slug=slug))

    assert queries.n_systems_of(study) == n_systems


@pytest.mark.django_db
class TestTheCommand:
    def test_says_what_the_page_says(self, tmp_path):
        keep(study := make_study())
        file = tmp_path / "plan.csv"

        said = power(study, "--elo", "20", "--price", "0.5", "--csv", str(file))

        assert "2,000 judgments by people on 100 source dialogues" in said
        assert "same comparisons: " in said
        assert "cost " in said
        assert file.read_text().startswith("first,second")

    def test_plans_by_a_closed_form_before_any_data(self, tmp_path):
        file = tmp_path / "plan.csv"

        said = power(study_with_texts(), "--rho", "0.3", "--csv", str(file))

        assert "before any data, 3 systems" in said
        assert "correlated 0.3: " in said
        assert file.read_text().strip() == ",".join(HEADER)

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
        fit_one(study, NOW + HOUR, EvaluatorPool.HUMAN)

        said = power(study)

        assert "12 judgments by people on 4 source dialogues" in said
        assert "none was judged twice" in said

    @pytest.mark.parametrize(
        ("protocol", "options"),
        [(Protocol.LIKERT, ()), (Protocol.PREFERENCE, ()), (Protocol.PREFERENCE, ("--elo", "x"))],
    )
    def test_refuses_what_cannot_be_planned(self, protocol, options):
        with pytest.raises(CommandError) as caught:
            power(make_study(protocol=protocol), *options)
        assert caught.value.returncode == 2
