"""A small study rehearsed through its pages by simulated raters, from the entry to the ratings."""

import datetime as dt
import hashlib
import io
from itertools import combinations
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction

from annotation.assignment import design
from annotation.choices import Platform
from annotation.models import Comparison, Judgment, Lease, Rater, Study
from annotation.quality.services import gold
from annotation.session import blinded
from annotation.studies import queries as study_queries
from annotation.studies.protocol.files import STUDIES, load_protocol
from annotation.studies.services.shadow_studies import Rehearsal
from completions.models import Completion
from heart_site.demo.rehearsal import evidence
from heart_site.demo.rehearsal.people import Crowd, Kind
from heart_site.demo.rehearsal.rehearsing import rehearse
from heart_site.demo.rehearsal.reporting import RehearsalReport, as_lines, simulate
from heart_site.demo.rehearsal.scoring import rebuild
from ranking.exports.options import ExportRequest
from ranking.exports.sources import export_of
from ranking.judgments.analysis_set import analysis_set
from tests.conftest import rolled_back
from tests.helpers.factories import (
    NOW,
    make_completion,
    make_context,
    make_dialogue,
    make_study,
    make_system,
)
from tests.helpers.visits import study_content

pytestmark = [pytest.mark.django_db, pytest.mark.xdist_group("simulation")]

SHIPPED = load_protocol(STUDIES / "heart-preference.toml").model_dump(mode="json")
PARTS = {
    "checks": {"rate": 0.3, "repeat_rate": 0.1, "gold_set": "heart-1"},
    "screening": {"pairs": 2, "min_passed": 0},
    "comprehension": SHIPPED["comprehension"],
    "source_guesses": 2,
}
LENGTH = " ".join(["It takes a moment to read all of this before an answer is chosen."] * 4)
CAST = Rehearsal(n_raters=12, seed=3)
FEW = Rehearsal(n_raters=2, seed=3)
NAMES = ["few", "whole"]
SHARES = {Kind.SPEEDER: 0.17, Kind.CLICKER: 0.08, Kind.CONTRARY: 0.08}
WHOLE = pytest.mark.parametrize("cast", [CAST], ids=NAMES[1:], indirect=True)  # few show nothing
SHORT = 6  # pairs of a session where only that it goes on matters
LATER = NOW + dt.timedelta(days=30)


def planned_study(
    name: str, *, kind: str = "preference", n_contexts: int = 2, session_length: int = 14
) -> Study:
    """Store a study of four systems with every pair of each context, and its gold pairs.

    All that draws depend on follows from the name, so that a rehearsal comes out the same.
    """
    study = make_study(
        slug=name,
        seed=f"seed of {name}",
        content=study_content(kind, **PARTS),
        protocol=kind.upper(),
        session_length=session_length,
    )
    systems = [make_system(slug=f"{name}-{tree}") for tree in ("ash", "oak", "elm", "fir")]
    for number in range(n_contexts):
        context = make_context(dialogue=make_dialogue(dataset=study.dataset))
        texts = [
            make_completion(context=context, system=one, text=f"{one.slug} says {number}. {LENGTH}")
            for one in systems
        ]
        if kind == "likert":
            for text in texts:
                add_comparison(study, text)
        else:
            for first, second in combinations(texts, 2):
                add_comparison(study, first, second)
    gold.load_gold(study=study, now=NOW)
    return study


def add_comparison(study: Study, first: Completion, second: Completion | None = None) -> None:
    key = hashlib.sha256(f"{first.text} {second and second.text}".encode()).hexdigest()[:24]
    Comparison.objects.create(
        study=study,
        context=first.context,
        first=first,
        second=second,
        key=key,
        position=design.pair_position(seed=study.seed, key=key),
        slots_left=5,
    )


def rehearse_quietly(study: Study, cast: Rehearsal, **crowd: Any) -> RehearsalReport:
    return simulate(study=study, rehearsal=cast, now=LATER, tell=lambda *_counts: None, **crowd)


@pytest.fixture(scope="module", params=[FEW, pytest.param(CAST, marks=pytest.mark.full)], ids=NAMES)
def cast(request):
    return request.param


@pytest.fixture(scope="module")
def rehearsed(module_rows, cast):
    """One rehearsal for all the tests below: both studies' keys, the report, what was told."""
    with rolled_back():
        study = planned_study("kindness", n_contexts=4 if cast == CAST else 2)
        told: list[tuple[int, int]] = []
        report = simulate(
            study=study,
            rehearsal=cast,
            now=LATER,
            tell=lambda *counts: told.append(counts),
            crowd=Crowd(shares=SHARES if cast == CAST else {}),
        )
        yield study.pk, Study.objects.get(slug=cast.slug(study)).pk, report, told


@pytest.fixture
def report(rehearsed):
    return rehearsed[2]


@pytest.fixture
def shadow(rehearsed):
    return Study.objects.get(pk=rehearsed[1])


@pytest.fixture
def real(rehearsed):
    return Study.objects.get(pk=rehearsed[0])


class TestARehearsal:
    def test_is_made_by_raters_who_are_declared_as_simulated(self, shadow, cast):
        raters = Rater.objects.filter(study=shadow)

        assert raters.count() == cast.n_raters
        assert all(rater.is_simulated for rater in raters)
        assert all(rater.external_id.startswith("simulated-3-") for rater in raters)
        assert {rater.platform for rater in raters} == {Platform.GENERIC}

    def test_goes_through_every_part_of_a_session_and_tells_how_far_it_is(
        self, rehearsed, shadow, cast
    ):
        leases = Lease.objects.filter(comparison__study=shadow)
        told = rehearsed[3]

        assert not Rater.objects.filter(study=shadow, stage="COMPREHENSION").exists()
        assert leases.filter(is_screening=True).count() >= 2 * cast.n_raters
        assert leases.filter(repeats__isnull=False).exists()
        assert Rater.objects.filter(study=shadow, source_guesses__isnull=False).exists()
        assert (told[0], told[-1]) == ((0, cast.n_raters), (cast.n_raters, cast.n_raters))

    def test_takes_place_in_virtual_time_before_now(self, shadow):
        times = Judgment.objects.filter(comparison__study=shadow).values_list("submitted_at")

        assert min(times)[0] > shadow.created_at
        assert max(times)[0] < LATER

    def test_gives_no_comparison_more_answers_than_asked_for(self, report, cast):
        assert report.n_over_quota == report.n_judged_twice == 0
        assert report.answers["main"] > (100 if cast == CAST else 10)


class TestSides:
    @pytest.mark.full
    @WHOLE
    def test_are_balanced_for_every_pair_every_rater_and_the_study(self, report):
        per_pair, per_rater, overall = report.sides

        assert per_pair.p > 0.95
        assert per_rater.p > 0.05
        assert overall.p > 0.05
        assert per_pair.largest <= 2

    def test_are_rebuilt_exactly_from_the_seed_of_the_study(self, report, shadow):
        assert report.mismatches == ()
        assert report.answers["leases"] == Lease.objects.filter(comparison__study=shadow).count()

    @pytest.mark.parametrize("changed", ["first_side", "pair_first_as_a", "rater_first_as_b"])
    def test_are_not_rebuilt_when_a_lease_was_altered(self, shadow, changed):
        lease = Lease.objects.filter(comparison__study=shadow, quality_check=None).latest("pk")
        other = {"A": "B", "B": "A"}
        was = getattr(lease, changed)
        Lease.objects.filter(pk=lease.pk).update(**{changed: other.get(was, 77)})

        found = rebuild(evidence.read_draws(shadow), evidence.read_plan(shadow))

        assert lease.pk in {one.name for one in found}


@pytest.mark.full
@WHOLE
class TestWhatItFinds:
    def test_are_the_planted_cheaters_and_nobody_else(self, report):
        assert report.detection.planted[Kind.HONEST] == 8
        assert report.detection.precision == 1.0
        assert report.detection.recall_of(Kind.SPEEDER) == 1.0
        assert report.detection.recall_of(Kind.CONTRARY) == 1.0
        assert (report.detection.recall or 0.0) >= 0.75  # chance may spare who clicks at random

    def test_is_found_by_the_rule_that_is_made_for_it(self, report):
        assert report.findings[Kind.SPEEDER, "times-2"] == 2
        assert report.findings[Kind.CONTRARY, "checks-2"] == 1

    def test_is_the_planted_order(self, report):
        assert report.recovery == pytest.approx(1.0)
        assert set(report.ratings) == set(report.strengths)

    def test_is_told_in_lines_that_say_simulated(self, report):
        lines = list(as_lines(report))

        assert "simulated" in lines[0]
        assert any("precision 1.000, recall " in line for line in lines)
        assert any("0 differ" in line for line in lines)


class TestTheRealStudy:
    def test_has_nobody_of_the_rehearsal_and_nothing_to_rate(self, real):
        assert not real.raters.exists()
        assert not analysis_set(study=real, as_of=LATER).exists()
        assert not real.fits.exists()

    def test_counts_no_simulated_rater_who_got_into_it_otherwise(self, real, shadow):
        """Not even one that some later mistake lets in."""
        judgment = Judgment.objects.filter(comparison__study=shadow, rater__isnull=False).first()
        assert judgment is not None
        assert analysis_set(study=shadow, as_of=LATER).exists()
        Study.objects.filter(pk=shadow.pk).update(is_simulated=False)
        shadow.refresh_from_db()

        assert not analysis_set(study=shadow, as_of=LATER).exists()
        table, found = export_of(shadow, "judgments", ExportRequest(), now=LATER)
        header, rows = [column.name for column in table.columns], list(found)
        assert rows
        assert {row[header.index("is_simulated")] for row in rows} == {True}
        assert {row[header.index("counts")] for row in rows} == {False}

    def test_refuses_the_raters_of_a_rehearsal(self, real):
        with pytest.raises(ValueError, match="real study"):
            rehearse(study=real, cast=None, tell=print)  # type: ignore[arg-type]


def test_the_pages_of_a_twin_say_that_it_is_simulated_and_let_no_person_in(client, shadow):
    results = client.get(f"/results/{shadow.slug}/").content.decode()

    assert "Simulated raters" in results
    assert client.get(f"/s/{shadow.slug}/", {"pid": "a-person"}).status_code == 409


class TestARehearsalThatWasStopped:
    def test_goes_on_where_it_was_and_repeats_nothing(self):
        study = planned_study("patience", session_length=SHORT)

        class StoppedError(Exception):
            pass

        def stop(done: int, _all: int) -> None:
            if done == 1:
                raise StoppedError

        small = Rehearsal(n_raters=3, seed=1)
        with pytest.raises(StoppedError):
            simulate(study=study, rehearsal=small, now=LATER, tell=stop)
        shadow = Study.objects.get(slug=small.slug(study))
        before = Lease.objects.filter(comparison__study=shadow).count()

        report, again = (rehearse_quietly(study, small) for _time in range(2))

        assert report.answers["leases"] > before > 0
        assert report.is_sound
        assert sum(report.states.values()) == 3
        assert again.answers == report.answers


@pytest.mark.parametrize("kind", [pytest.param("rubric", marks=pytest.mark.full), "likert"])
def test_raters_of_every_protocol_find_their_way(kind):
    study = planned_study(f"of-{kind}", kind=kind)

    report = rehearse_quietly(study, Rehearsal(n_raters=2, seed=1), crowd=Crowd(shares={}))

    assert report.is_sound
    assert report.answers["main"] > 5
    assert (report.recovery or 0.0) > 0.7


@pytest.mark.full
def test_comes_out_the_same_from_the_same_numbers():
    study = planned_study("again")
    outcomes = []

    for _time in range(2):
        with transaction.atomic():
            rehearse_quietly(study, Rehearsal(n_raters=2, seed=1))
            answers = Judgment.objects.filter(comparison__study__is_simulated=True)
            told = ("rater__code", "comparison__key", "first_side", "verdict", "submitted_at")
            outcomes.append(list(answers.order_by("submitted_at", "pk").values_list(*told)))
            transaction.set_rollback(True)
        study_queries.forget_contents()
        blinded.forget_pages()

    assert outcomes[0] == outcomes[1]
    assert len(outcomes[0]) > 20


ONE_RATER = ("--study", "by-command", "--raters", "1", "--seed", "2")


def simulated(*options: str) -> str:
    out = io.StringIO()
    call_command("study", "simulate", *options, stdout=out)
    return out.getvalue()


@pytest.fixture(scope="class")
def by_command(module_rows):
    """A study that the command rehearsed, and what it said."""
    with rolled_back():
        yield planned_study("by-command", session_length=SHORT), simulated(*ONE_RATER)


class TestTheCommand:
    def test_rehearses_a_study_and_prints_the_report(self, by_command):
        study, said = by_command

        assert said.startswith("simulated-by-command-1-2: 1 simulated raters")
        assert "draws from the seed, 0 differ" in said
        assert not study.raters.exists()

    @pytest.mark.parametrize(
        ("slug", "reason"),
        [("nowhere", 'there is no study "nowhere"'), ("shadow", "itself simulated")],
    )
    def test_refuses_a_study_that_is_not_there_or_itself_simulated(self, slug, reason):
        make_study(slug="shadow", title="Simulated raters: X", is_simulated=True)

        with pytest.raises(CommandError, match=reason) as refused:
            simulated("--study", slug)

        assert refused.value.returncode == 2

    def test_fails_when_a_draw_cannot_be_rebuilt(self, by_command):
        of_twin = Lease.objects.filter(comparison__study__name="simulated-by-command-1-2")
        assert of_twin.filter(number=5).update(rater_first_as_a=9)

        with pytest.raises(CommandError, match="could not be rebuilt"):
            simulated(*ONE_RATER)
