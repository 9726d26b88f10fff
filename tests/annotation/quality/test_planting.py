"""How gold sets are planted, which comparisons admins mark, and what is never done with either."""

from collections import Counter

import pytest

from access.models import LogEntry
from annotation.choices import CheckKind, Expected, Protocol, Purpose
from annotation.judges.services import runs
from annotation.models import Comparison, JudgeCall, QualityCheck
from annotation.planning import services as planning_services
from annotation.quality import gold
from annotation.quality.services import gold as quality_gold
from completions.choices import SystemKind
from completions.contexts import queries
from completions.dialogues.authoring import DatasetTakenError
from completions.dialogues.importing import DatasetNameError, import_dialogues
from completions.dialogues.queries import DatasetNotFoundError, dataset_named
from completions.models import Completion, Context, Dataset
from completions.writers.queries import open_contexts
from ranking.judgments.analysis_set import analysis_set
from tests.helpers.factories import (
    HOUR,
    NOW,
    RUBRIC,
    make_comparison,
    make_dataset,
    make_judge,
    make_judgment,
    make_lease,
    make_quality_check,
    make_writer,
)
from tests.helpers.factories_written_once import make_user
from tests.helpers.judged import CONTENT, make_planted_study, make_rated_alone, make_study_content

pytestmark = pytest.mark.django_db

SET = gold.load_gold_set("heart-1")
N_PAIRS = len(SET.pairs) + len(SET.attention)


def load(study, by=None):
    return quality_gold.load_gold(study=study, now=NOW, by=by)


def mark(comparison, expected=Expected.FIRST, dimension="", by=None):
    return quality_gold.mark_gold(
        comparison=comparison,
        expected=expected,
        dimension=dimension,
        reason="Three of us agree.",
        by=by,
        now=NOW,
    )


def switch(check, *, is_active, by=None):
    return quality_gold.switch_check(
        check=check, is_active=is_active, reason="Too close.", by=by, now=NOW
    )


def checks_of(study):
    return QualityCheck.objects.filter(comparison__study=study).select_related(
        "comparison__first__system", "comparison__second__system"
    )


def make_pair():
    return make_comparison(study=make_planted_study())


def make_planted_pair():
    return make_comparison(study=make_planted_study(), purpose=Purpose.CHECK)


class TestLoadGold:
    def test_plants_a_check_for_each_pair_that_expects_its_good_message(self):
        study, admin = make_planted_study(), make_user()

        assert load(study, by=admin) == N_PAIRS

        checks = checks_of(study)
        kinds = Counter(checks.values_list("kind", flat=True))
        assert kinds == {CheckKind.GOLD: len(SET.pairs), CheckKind.ATTENTION: len(SET.attention)}
        assert set(checks.values_list("dimension", flat=True)) == set("HEART")
        good = {pair.high for pair in (*SET.pairs, *SET.attention)}
        for check in checks:
            pair = check.comparison
            better = pair.first if check.expected == Expected.FIRST else pair.second
            assert better.text in good
        n_first = checks.filter(expected=Expected.FIRST).count()
        assert 0.25 * N_PAIRS < n_first < 0.75 * N_PAIRS
        entry = LogEntry.objects.get(action="checks.loaded")
        assert (entry.subject, entry.by) == (f"study {study.slug}", admin)
        assert entry.after == {"gold_set": "heart-1", "sha256": SET.sha256, "added": N_PAIRS}

    @pytest.mark.parametrize("protocol", [Protocol.PREFERENCE, Protocol.LIKERT])
    def test_repeated_adds_nothing_and_leaves_a_check_off_that_was_switched_off(self, protocol):
        study = make_planted_study(protocol=protocol)
        n_checks = load(study)
        tables = (Completion, Context, Comparison, QualityCheck)
        n_rows = [table.objects.count() for table in tables]
        check = checks_of(study).earliest("pk")
        switch(check, is_active=False)

        assert load(study) == n_checks

        assert [table.objects.count() for table in tables] == n_rows
        assert LogEntry.objects.filter(action="checks.loaded").count() == 1
        assert checks_of(study).filter(is_active=False).get() == check

    def test_shares_the_texts_between_studies(self):
        load(make_planted_study())
        n_texts = Completion.objects.count()
        other = make_planted_study()

        load(other)

        assert Completion.objects.count() == n_texts
        assert checks_of(other).count() == N_PAIRS

    def test_of_a_study_without_a_gold_set_plants_nothing(self):
        study = make_planted_study(checks={"gold_set": ""})

        assert load(study) == 0
        assert not Dataset.objects.filter(is_for_checks=True).exists()

    def test_refuses_a_set_that_does_not_exist(self):
        with pytest.raises(gold.GoldError, match="there is no gold set"):
            load(make_planted_study(checks={"gold_set": "none-1"}))

    def test_refuses_to_mix_with_a_dataset_of_that_name(self):
        make_dataset(slug="gold-heart-1")

        with pytest.raises(DatasetTakenError, match="gold-heart-1"):
            load(make_planted_study())

    def test_of_another_rubric_leaves_the_dimension_open(self):
        rubric = RUBRIC | {"dimensions": RUBRIC["dimensions"][:1]}
        study = make_planted_study(content=make_study_content(checks={}, rubric=rubric))

        load(study)

        assert set(checks_of(study).values_list("dimension", flat=True)) == {"H", ""}


class TestLoadGoldForRatings:
    def test_plants_each_message_alone_with_what_it_deserves(self):
        study = make_planted_study(protocol=Protocol.LIKERT)

        load(study)

        counts = Counter(checks_of(study).values_list("kind", "expected"))
        assert counts == {
            (CheckKind.GOLD, Expected.HIGH): len(SET.pairs),
            (CheckKind.GOLD, Expected.LOW): len(SET.pairs),
            (CheckKind.ATTENTION, Expected.LOW): len(SET.attention),
        }
        high = {pair.high: pair.dimension for pair in SET.pairs}
        for check in checks_of(study):
            assert check.comparison.second is None
            assert (check.expected == Expected.HIGH) == (check.comparison.first.text in high)
            assert check.dimension

    def test_refuses_a_rubric_that_lacks_a_dimension(self):
        rubric = RUBRIC | {"dimensions": RUBRIC["dimensions"][:4]}
        study = make_planted_study(protocol=Protocol.LIKERT, content=CONTENT | {"rubric": rubric})

        with pytest.raises(quality_gold.UnsuitableCheckError, match="rubric lacks T"):
            load(study)

        assert not Comparison.objects.exists()


class TestPlantedDialogues:
    """What authored dialogues are never used for."""

    def test_are_in_no_list_of_datasets_and_take_no_imported_dialogues(self):
        load(make_planted_study())

        slugs = {row.slug for row in queries.dataset_rows()}
        assert "gold-heart-1" not in slugs
        with pytest.raises(DatasetNotFoundError):
            dataset_named("gold-heart-1")
        with pytest.raises(DatasetNameError, match="quality checks"):
            import_dialogues(dataset_name="gold-heart-1", dialogues=[], now=NOW)

    def test_are_planned_written_for_judged_and_ranked_nowhere(self):
        study = make_planted_study()
        load(study)
        dataset = Dataset.objects.get(is_for_checks=True)
        check = checks_of(study).earliest("pk")
        lease = make_lease(
            comparison=check.comparison, quality_check=check, closed_at=NOW, outcome="SUBMITTED"
        )
        make_judgment(comparison=check.comparison, rater=lease.rater, lease=lease)

        planning_services.plan_study(study=study, now=NOW)
        runs.plan_judge_calls(study=study, judges=[make_judge()], now=NOW)

        for pair in study.comparisons.select_related("first__system", "context__dataset"):
            assert (pair.purpose, pair.slots_left) == (Purpose.CHECK, 0)
            assert pair.context.dataset == dataset
            assert pair.context.slots_left == 0
            assert {one.system.kind for one in pair.completions} == {SystemKind.CHECK}
        assert not JudgeCall.objects.exists()
        assert not open_contexts(make_writer(dataset=dataset)).exists()
        assert not analysis_set(study=study, as_of=NOW + HOUR).exists()


class TestMarkGold:
    @pytest.mark.parametrize("dimension", ["", "E"])
    def test_makes_a_main_pair_a_check_that_still_counts_and_is_logged(self, dimension):
        pair, admin = make_comparison(study=make_planted_study()), make_user()

        check = mark(pair, Expected.SECOND, dimension, by=admin)

        assert (check.kind, check.expected) == (CheckKind.GOLD, Expected.SECOND)
        assert (check.dimension, check.is_active) == (dimension, True)
        pair.refresh_from_db()
        assert (pair.purpose, pair.slots_left) == (Purpose.MAIN, 5)
        entry = LogEntry.objects.get(action="check.marked")
        assert entry.by == admin
        assert pair.key in entry.subject
        assert entry.after == {
            "expected": "SECOND",
            "dimension": dimension,
            "reason": "Three of us agree.",
        }

    @pytest.mark.parametrize(
        ("make", "expected", "dimension", "reason"),
        [
            (make_pair, Expected.HIGH, "E", "a pair has a better message"),
            (make_pair, Expected.FIRST, "Z", "no dimension"),
            (make_planted_pair, Expected.FIRST, "", "only a comparison that counts"),
            (make_rated_alone, Expected.FIRST, "E", "a message alone is high or low"),
            (make_rated_alone, Expected.HIGH, "", "no dimension"),
        ],
        ids=[
            *("a pair rated", "a pair by an unknown dimension", "an authored pair"),
            *("a message alone preferred", "a message alone without a dimension"),
        ],
    )
    def test_refuses_what_cannot_be_known(self, make, expected, dimension, reason):
        with pytest.raises(quality_gold.UnsuitableCheckError, match=reason):
            mark(make(), expected, dimension)

    def test_takes_a_message_alone_with_a_dimension(self):
        check = mark(make_rated_alone(), Expected.LOW, "R")

        assert (check.expected, check.dimension) == (Expected.LOW, "R")

    def test_refuses_a_second_mark_and_keeps_the_first(self):
        pair = make_comparison(study=make_planted_study())
        first = mark(pair)

        with pytest.raises(quality_gold.AlreadyACheckError, match=pair.key):
            mark(pair, Expected.SECOND)

        assert QualityCheck.objects.get() == first
        assert LogEntry.objects.filter(action="check.marked").count() == 1


class TestSwitchCheck:
    def test_turns_a_check_off_and_on_and_logs_each_once(self):
        check, admin = make_quality_check(), make_user()

        switch(check, is_active=False, by=admin)
        assert not QualityCheck.objects.get().is_active
        for _ in range(2):
            switch(check, is_active=True, by=admin)
        assert QualityCheck.objects.get().is_active

        entries = LogEntry.objects.order_by("pk")
        assert [entry.action for entry in entries] == ["check.switched_off", "check.switched_on"]
        assert [entry.by for entry in entries] == [admin, admin]
        assert entries[0].after == {"is_active": False, "reason": "Too close."}
