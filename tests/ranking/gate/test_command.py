"""``manage.py gate``: what a pipeline is answered, and by which exit code."""

import datetime as dt
import io
import json

import pytest
from django.core.management import CommandError, call_command
from django.test import override_settings

from annotation.models import DimensionMark, Judgment
from completions.models import System
from ranking.gate.report import SIMULATED
from ranking.models import Fit
from tests.helpers.factories import NOW, make_judge, make_llm_judgment, make_study, make_system
from tests.helpers.judged import fit_one, make_judged_study

pytestmark = pytest.mark.django_db

START = NOW + dt.timedelta(hours=1)


@pytest.fixture(autouse=True)
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

        assert code == 2
        assert "3 source dialogues are too few" in said
        assert "more judgments" in said


class TestWhatCannotBeAsked:
    def test_an_unknown_study(self):
        assert gate("nowhere", "a", "b") == (2, 'there is no study "nowhere"')

    def test_a_study_without_a_fit(self):
        study = make_study()

        assert gate(study.slug, "a", "b") == (2, f"The study {study.slug} has no fit that is done.")

    def test_an_unknown_system(self, small):
        code, said = gate(small, "best", "bad")

        assert code == 2
        assert 'no system "best"; they know bad, fair, good' in said

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

    def test_what_is_simulated_says_so_everywhere(self, tmp_path):
        study = make_rated_study(is_simulated=True, title="A simulated study")
        summary, picture = tmp_path / "gate.md", tmp_path / "gate.svg"
        files = ("--markdown", str(summary), "--radar", str(picture))

        said = gate(study.slug, "good", "bad", *files)[1]
        to_programs = json.loads(gate(study.slug, "good", "bad", "--json")[1])

        for text in (said, summary.read_text(), picture.read_text(), to_programs["simulated_note"]):
            assert SIMULATED in text

    def test_too_few_dimensions_for_a_picture_change_no_outcome(self, tmp_path):
        study = make_rated_study(dimensions="HE")

        code, said = gate(study.slug, "bad", "good", "--radar", str(tmp_path / "gate.svg"))

        assert code == 1
        assert "There is no picture" in said
