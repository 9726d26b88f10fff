"""When a candidate passes, is stopped, or nothing can be said; and the command's exit codes."""

import datetime as dt
import io
import json
from dataclasses import replace

import numpy as np
import pytest
import scipy
from django.core.management import CommandError, call_command
from django.test import override_settings
from scipy import special

from annotation.models import DimensionMark, Judgment
from completions.models import System
from ranking.analyses import AnalysisInputs
from ranking.analyses.boards import rated
from ranking.findings import AnalysisRefusedError
from ranking.gate import rules
from ranking.gate.report import SIMULATED
from ranking.gate.rules import OVERALL, GateRequest, More, Outcome, UnknownSystemError, run_gate
from ranking.judgments.columns import JudgmentColumns
from ranking.judgments.method import Method
from ranking.models import Fit
from ranking.numerics.elo import ELO_PER_LOG_UNIT
from ranking.numerics.multiplicity import holm
from ranking.numerics.strength_mode import StrengthMode
from tests.helpers.factories import NOW, make_judge, make_llm_judgment, make_study, make_system
from tests.helpers.judged import fit_one, make_judged_study

METHOD = Method(StrengthMode.IGNORE, 2, 4, level=0.95, replicates=200, seed=3)
SLUGS = ("new", "old", "other")
ASKED = GateRequest("new", "old", max_drop=15.0)


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def judged(rng, *, points=0.0, n_units=100, per_unit=30):
    """Judgments of three systems, of which the new one is so many points above the old."""
    theta = np.array([points, 0.0, 0.0]) / ELO_PER_LOG_UNIT
    n = n_units * per_unit
    first = rng.integers(0, 3, n)
    second = (first + rng.integers(1, 3, n)) % 3
    won = rng.random(n) < special.expit(theta[first] - theta[second])
    return JudgmentColumns(
        systems=SLUGS,
        units=tuple(f"d{place:04d}" for place in range(n_units)),
        evaluators=("r",),
        is_judge=np.array([False]),
        unit=np.repeat(np.arange(n_units), per_unit),
        item=np.arange(n),
        first=first,
        second=second,
        evaluator=np.zeros(n, dtype=np.int64),
        strength=np.where(won, 1, -1),
        shown=np.ones(n, dtype=np.int64),
    )


def more(found):
    """Return how many judgments and dialogues more equals would need."""
    judgments, dialogues = found.if_equal.judgments, found.if_equal.dialogues
    return judgments or 0, dialogues or 0


def inputs(columns, **dimensions):
    return AnalysisInputs(columns, METHOD, dimensions)


class TestOutcome:
    def test_as_good_a_candidate_passes(self, rng):
        found = run_gate(inputs(judged(rng, per_unit=150)), ASKED)

        assert found.outcome is Outcome.HELD
        assert found.tests[0].lowest > -15.0
        assert found.if_equal is None

    def test_a_worse_one_is_stopped(self, rng):
        found = run_gate(inputs(judged(rng, points=-80.0)), ASKED)

        assert found.outcome is Outcome.DROPPED
        assert [one.name for one in found.dropped] == [OVERALL]
        assert found.tests[0].highest < -15.0

    def test_a_drop_that_is_allowed_does_not_stop_it(self, rng):
        columns = judged(rng, points=-80.0, per_unit=60)

        assert run_gate(inputs(columns), replace(ASKED, max_drop=150.0)).outcome is Outcome.HELD

    def test_a_drop_on_one_dimension_stops_it(self, rng):
        overall = judged(rng, per_unit=150)
        dimensions = {"H": judged(rng), "T": judged(rng, points=-120.0)}

        found = run_gate(inputs(overall, **dimensions), ASKED)

        assert found.outcome is Outcome.DROPPED
        assert [one.name for one in found.tests] == [OVERALL, "H", "T"]
        assert [one.name for one in found.dropped] == ["T"]

    def test_a_candidate_in_few_of_many_dialogues_is_not_tested(self, rng):
        columns = judged(rng, points=-200.0)
        is_new = (columns.first == 0) | (columns.second == 0)

        found = run_gate(
            inputs(columns.taken(np.flatnonzero(~is_new | (columns.unit < 12)))), ASKED
        )

        assert found.outcome is Outcome.UNDECIDED
        assert "12 source dialogues are too few" in found.notes[0]

    def test_too_few_judgments_decide_nothing_and_say_how_many_would(self, rng):
        found = run_gate(inputs(judged(rng, per_unit=6)), ASKED)

        assert found.outcome is Outcome.UNDECIDED
        judgments, dialogues = more(found)
        assert judgments == dialogues * 6 > 0

    def test_as_many_judgments_as_were_named_mostly_suffice(self, rng):
        few = run_gate(inputs(judged(rng, per_unit=6)), ASKED)
        n_units = 100 + more(few)[1]

        again = run_gate(inputs(judged(rng, n_units=n_units, per_unit=6)), ASKED)

        # 80 of 100 would; half as much again leaves chance little room.
        error = again.tests[0].difference - again.tests[0].lowest
        assert error == pytest.approx(15.0 * 1.645 / (1.645 + 0.84), rel=0.15)


class TestNumbers:
    def test_are_those_of_resampled_dialogues(self, rng):
        columns = judged(rng)
        board = rated(columns, METHOD)
        apart = board.resampled[:, 0] - board.resampled[:, 1]
        n = board.units_of_systems[:2].min()
        error = apart.std(ddof=1) * np.sqrt(n / (n - 1))
        difference = board.elo[0] - board.elo[1]

        (overall,) = run_gate(inputs(columns), ASKED).tests

        assert overall.difference == pytest.approx(difference)
        assert overall.lowest == pytest.approx(difference - scipy.stats.t.ppf(0.95, n - 1) * error)
        dropped = scipy.stats.t.cdf((difference + 15) / error, n - 1)
        assert overall.p_dropped == pytest.approx(dropped)
        assert overall.p_held == pytest.approx(1.0 - overall.p_dropped)

    def test_p_values_are_adjusted_by_holm_over_all_tests(self, rng):
        dimensions = {name: judged(rng, points=-30.0) for name in "HEART"}

        tests = run_gate(inputs(judged(rng), **dimensions), ASKED).tests

        adjusted = holm(np.array([one.p_dropped for one in tests]))
        np.testing.assert_allclose([one.p_adjusted for one in tests], adjusted)

    def test_what_one_test_alone_would_show_may_fall_to_the_correction(self):
        alone = rules.GateTest("x", 0, 0, 0, 0, 0, 0.03, 0.9, 1, 1, p_adjusted=0.18)

        assert rules._outcome((alone,), ASKED) is Outcome.UNDECIDED
        assert rules._outcome((replace(alone, p_adjusted=0.03),), ASKED) is Outcome.DROPPED

    def test_dimensions_alone_let_nobody_pass(self):
        held = rules.GateTest("H", 0, 0, 0, 0, 0, 0.99, 0.001, 1, 1)

        assert rules._outcome((held,), ASKED) is Outcome.UNDECIDED
        assert rules._outcome((replace(held, name=OVERALL),), ASKED) is Outcome.HELD

    def test_no_drop_allowed_needs_no_number(self, rng):
        found = run_gate(inputs(judged(rng, per_unit=3)), replace(ASKED, max_drop=0.0))

        assert found.if_equal == More(None, None)


class TestWhatCannotBeAsked:
    def test_an_unknown_system_is_named(self, rng):
        with pytest.raises(UnknownSystemError, match='no system "older"; they know new, old'):
            run_gate(inputs(judged(rng)), GateRequest("new", "older"))

    def test_a_system_is_not_held_against_itself(self, rng):
        with pytest.raises(AnalysisRefusedError, match="same system"):
            run_gate(inputs(judged(rng)), GateRequest("new", "new"))

    def test_few_dialogues_are_not_tested(self, rng):
        found = run_gate(inputs(judged(rng, n_units=19, per_unit=400)), ASKED)

        assert (found.outcome, found.tests) == (Outcome.UNDECIDED, ())
        assert found.notes == (
            "overall is not tested: judgments worth 19 source dialogues are too few, it takes 20.",
        )
        assert more(found)[1] >= 1

    def test_a_dimension_without_one_of_the_two_is_left_out(self, rng):
        columns = judged(rng)
        others = columns.taken(np.flatnonzero((columns.first != 0) & (columns.second != 0)))

        found = run_gate(inputs(columns, H=others), ASKED)

        assert [one.name for one in found.tests] == [OVERALL]
        assert "H is not tested" in found.notes[0]

    @pytest.mark.parametrize("most", [1, 5], ids=["of one size", "of several sizes"])
    def test_dialogues_that_all_say_the_same_leave_no_measure_of_chance(self, rng, most):
        one = judged(rng, n_units=1, per_unit=60)
        sizes = 60 * (1 + 7 * np.arange(25) % most)
        again = one.taken(np.tile(np.arange(60), sizes.sum() // 60))
        copies = replace(
            again,
            units=tuple(f"d{n:02d}" for n in range(25)),
            unit=np.repeat(np.arange(25), sizes),
        )

        found = run_gate(inputs(copies), ASKED)

        assert found.outcome is Outcome.UNDECIDED
        assert "no measure of chance" in found.notes[0]


START = NOW + dt.timedelta(hours=1)


@pytest.fixture
def _quick(settings):
    settings.HEART_BOOTSTRAP_REPLICATES = 60


def make_rated_study(n_dialogues=24, dimensions="HEA", **fields):
    """A study in which the good system mostly beats the bad one; marks as the verdicts."""
    systems = [
        System.objects.filter(slug=slug).first() or make_system(slug=slug, name=slug.title())
        for slug in ("good", "fair", "bad")
    ]
    study = make_judged_study(systems=systems, n_dialogues=n_dialogues, study=make_study(**fields))
    marks = [
        DimensionMark(judgment=judgment, dimension=name, advantage=judgment.verdict or 0)
        for judgment in Judgment.objects.filter(comparison__study=study)
        for name in dimensions
    ]
    DimensionMark.objects.bulk_create(marks)
    fit_one(study, START)
    return study


def gate(study, candidate, baseline, *options):
    """Ask the gate; return its exit code and what it said."""
    out = io.StringIO()
    names = ("--study", study, "--candidate", candidate, "--baseline", baseline)
    try:
        call_command("gate", *names, *options, stdout=out, stderr=out)
    except CommandError as error:
        return error.returncode, out.getvalue() + str(error)
    return 0, out.getvalue()


@pytest.fixture(scope="module")
def kept(module_rows):
    """A study whose systems are told apart, and one that has too few dialogues for that."""
    with override_settings(HEART_BOOTSTRAP_REPLICATES=60):
        return make_rated_study().slug, make_rated_study(n_dialogues=3).slug


@pytest.fixture
def study(kept):
    return kept[0]


@pytest.fixture
def small(kept):
    return kept[1]


@pytest.mark.django_db
@pytest.mark.usefixtures("_quick")
class TestExitCodes:
    @pytest.mark.parametrize(
        ("asked", "code", "says"),
        [
            (("good", "bad"), 0, "Pass: Good against Bad"),
            (("bad", "good"), 1, "dropped by more than 15 points: overall, H, E, A"),
            (("bad", "good", "--max-drop", "2000"), 0, "Pass: Bad against Good"),
        ],
        ids=["better", "worse", "a drop that is allowed"],
    )
    def test_tell_how_the_candidate_did(self, study, asked, code, says):
        found, said = gate(study, *asked)

        assert found == code
        assert says in said

    def test_few_dialogues_decide_nothing(self, small):
        code, said = gate(small, "bad", "good")

        assert (code, "3 source dialogues are too few" in said) == (2, True)


@pytest.mark.django_db
@pytest.mark.usefixtures("_quick")
class TestWhatTheCommandRefuses:
    def test_an_unknown_study(self):
        assert gate("nowhere", "a", "b") == (2, 'there is no study "nowhere"')

    def test_a_study_without_a_fit(self):
        study = make_study()

        assert gate(study.slug, "a", "b") == (2, f"The study {study.slug} has no fit that is done.")

    def test_an_unknown_system(self, small):
        assert gate(small, "best", "bad")[0] == 2

    @pytest.mark.parametrize("points", ["-1", "nan", "much"])
    def test_a_drop_that_is_no_number_of_points(self, points):
        assert "max-drop" in gate("nowhere", "a", "b", f"--max-drop={points}")[1]

    def test_judgments_that_changed_since_the_fit(self, small):
        (early, *_) = Judgment.objects.filter(comparison__study__slug=small)
        make_llm_judgment(comparison=early.comparison, judge=make_judge(), verdict=1)

        code, said = gate(small, "good", "bad")

        assert code == 2
        assert "no longer those that it was computed from" in said

    def test_a_file_that_cannot_be_written(self, small, tmp_path):
        code, said = gate(small, "good", "bad", "--markdown", str(tmp_path / "no" / "a.md"))

        assert code == 2
        assert "No such file" in said


@pytest.mark.django_db
@pytest.mark.usefixtures("_quick")
class TestOutputs:
    def test_programs_are_answered_in_json(self, study):
        code, said = gate(study, "good", "bad", "--json")

        found = json.loads(said)
        fit = Fit.objects.get(study__slug=study, key=found["fit"]["key"])
        assert (code, found["outcome"], found["exit_code"]) == (0, "pass", 0)
        assert [one["name"] for one in found["tests"]] == ["overall", "H", "E", "A"]
        assert found["fit"]["n_judgments"] == fit.n_judgments == 72
        assert found["fit"]["pool"] == "People and LLM judges"
        assert found["candidate"]["name"] == "Good"

    def test_a_summary_and_a_picture_are_written(self, study, tmp_path):
        summary, picture = tmp_path / "gate.md", tmp_path / "gate.svg"

        gate(study, "good", "bad", "--markdown", str(summary), "--radar", str(picture))

        assert summary.read_text(encoding="utf-8").startswith("### Pass: Good against Bad")
        assert picture.read_text(encoding="utf-8").startswith("<svg ")

    def test_what_is_simulated_says_so(self):
        study = make_rated_study(3, is_simulated=True, title="A simulated study")

        assert SIMULATED in gate(study.slug, "good", "bad")[1]

    def test_too_few_dimensions_for_a_picture_change_no_outcome(self, tmp_path):
        study = make_rated_study(dimensions="HE")

        code, said = gate(study.slug, "bad", "good", "--radar", str(tmp_path / "gate.svg"))

        assert code == 1
        assert "There is no picture" in said
