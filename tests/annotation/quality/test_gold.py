"""The gold sets that ship, how they are planted, and which comparisons admins mark."""

import re
from collections import Counter

import pytest

from access.models import LogEntry
from annotation.choices import CheckKind, Expected, Protocol, Purpose
from annotation.judges.services import runs
from annotation.models import Comparison, JudgeCall, QualityCheck
from annotation.planning import services as planning_services
from annotation.quality import gold
from annotation.quality.gold import GoldError
from annotation.quality.services import gold as quality_gold
from annotation.studies.protocol.files import STUDIES, load_protocol
from completions.choices import SystemKind
from completions.contexts import queries
from completions.contexts.screening.rules import disqualifying
from completions.dialogues.authoring import DatasetTakenError
from completions.dialogues.importing import DatasetNameError, import_dialogues
from completions.dialogues.normaliser import plain
from completions.dialogues.queries import DatasetNotFoundError, dataset_named
from completions.leaks.rules import find_leaks
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
    make_quality_check,
    make_rater,
    make_writer,
)
from tests.helpers.factories_written_once import make_user
from tests.helpers.judged import CONTENT, make_planted_study, make_rated_alone, make_study_content
from tests.helpers.released import answer

SENTENCE_END = re.compile(r"[.?!]\"?$")
GIVES_ITSELF_AWAY = re.compile(
    r"\b(AI|A\.I\.|as an? (language )?model|language model|assistant|chatbot|bot|algorithm"
    r"|GPT|Claude|Gemini|Llama|OpenAI|Anthropic|Google|I cannot|I can't help|gold|attention check"
    r"|low|high)\b",
    re.IGNORECASE,
)
SET = gold.load_gold_set("heart-1")
EVERY_PAIR = (*SET.pairs, *SET.attention)
N_PAIRS = len(EVERY_PAIR)


class TestHeartSet:
    def test_has_five_or_more_pairs_for_each_dimension_and_four_for_attention(self):
        counts = Counter(pair.dimension for pair in SET.pairs)

        assert set(counts) == set("HEART")
        assert min(counts.values()) >= 5
        assert len(SET.attention) >= 4

    def test_changes_under_a_new_version_alone(self):
        assert SET.sha256 == "8fe2efab3bfc9a0ad9811108c4cb1631fc544c0ed8349bf58c19293d7063af2e"

    def test_messages_have_the_form_asked_of_every_writer_and_no_leak(self, subtests):
        for pair in EVERY_PAIR:
            with subtests.test(pair.key):
                assert 0.8 < len(pair.high) / len(pair.low) < 1.25
                for text in (pair.high, pair.low):
                    assert 20 <= len(text.split()) <= 45
                    assert SENTENCE_END.search(text)
                    assert find_leaks(text) == ()

    def test_texts_are_plain_and_neither_give_themselves_away_nor_are_screened_out(self, subtests):
        for pair in EVERY_PAIR:
            with subtests.test(pair.key):
                for text in (*(turn.text for turn in pair.turns), pair.high, pair.low):
                    prescribes = pair.dimension == "T" and text == pair.low  # its very fault
                    found = disqualifying(text, language="en")
                    assert plain(text) == text
                    assert text.isascii()
                    assert GIVES_ITSELF_AWAY.search(text) is None
                    assert {one.rule for one in found} <= ({"clinical"} if prescribes else set())

    def test_length_does_not_give_the_answer_away(self):
        longer = sum(len(pair.high) > len(pair.low) for pair in EVERY_PAIR)

        assert 0.4 <= longer / N_PAIRS <= 0.6


@pytest.mark.parametrize("path", sorted(STUDIES.glob("*.toml")), ids=lambda path: path.stem)
def test_a_study_that_ships_names_a_set_that_ships(path):
    study = load_protocol(path)

    assert (study.checks.gold_set == "") is (study.slug == "quick")  # there is none for any text
    if study.checks.gold_set:
        assert gold.load_gold_set(study.checks.gold_set).rubric == study.rubric


SUPPORTER = ', { role = "supporter", text = "Oh." }'
PAIR = """
[[pairs]]
key = "one"
dimension = "H"
turns = [{ role = "supporter", text = "Hello." }, { role = "seeker", text = "I'm sad."}]
high = "I'm sorry. What is it?"
low = "Sadness is noted."
"""
MINIMAL = f'name = "own"\nversion = "1"\nrubric = "heart-1"{PAIR}'


class TestBadSet:
    @pytest.mark.parametrize(
        ("old", "new", "message"),
        [
            (PAIR, PAIR + 'hint = "x"', "pairs.0.hint: Extra inputs"),
            ('"seeker"', '"supporter"', "pairs.0: turns must alternate between seeker and"),
            ("}]", "}" + SUPPORTER + "]", "pairs.0: the last turn must be the seeker's"),
            ("Sadness is noted.", "I'm sorry. What is it?", "pairs.0: high and low must differ"),
            (PAIR, PAIR + PAIR, "every key may be used once, found twice: one"),
            ('"H"', '"Z"', "one: no dimension Z in heart-1: H, E, A, R, T"),
            ('"heart-1"', '"heart-9"', 'rubric: there is no rubric "heart-9"'),
        ],
        ids=[
            *("unknown field", "one speaker twice", "ends on the supporter", "equal messages"),
            *("pair twice", "unknown dimension", "unknown rubric"),
        ],
    )
    def test_is_refused_with_file_field_and_reason(self, old, new, message):
        with pytest.raises(GoldError) as caught:
            gold.parse_gold_set(MINIMAL.replace(old, new), source="x.toml")

        assert f"x.toml: {message}" in str(caught.value)

    def test_that_does_not_exist_is_refused_with_the_names_of_those_that_do(self):
        with pytest.raises(GoldError, match='there is no gold set "heart-9"; known are heart-1'):
            gold.load_gold_set("heart-9")


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


@pytest.mark.django_db
class TestLoadGold:
    def test_plants_a_check_for_each_pair_that_expects_its_good_message(self):
        study, admin = make_planted_study(), make_user()

        assert load(study, by=admin) == N_PAIRS

        checks = checks_of(study)
        kinds = Counter(checks.values_list("kind", flat=True))
        assert kinds == {CheckKind.GOLD: len(SET.pairs), CheckKind.ATTENTION: len(SET.attention)}
        assert set(checks.values_list("dimension", flat=True)) == set("HEART")
        good = {pair.high for pair in EVERY_PAIR}
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

    def test_refuses_to_mix_with_a_dataset_of_that_name(self):
        make_dataset(slug="gold-heart-1")

        with pytest.raises(DatasetTakenError, match="gold-heart-1"):
            load(make_planted_study())

    def test_of_another_rubric_leaves_the_dimension_open(self):
        rubric = RUBRIC | {"dimensions": RUBRIC["dimensions"][:1]}
        study = make_planted_study(content=make_study_content(checks={}, rubric=rubric))

        load(study)

        assert set(checks_of(study).values_list("dimension", flat=True)) == {"H", ""}


@pytest.mark.django_db
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


@pytest.mark.django_db
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
        answer(check.comparison, make_rater(study=study), 1, quality_check=check)

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


@pytest.mark.django_db
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
        known = {"expected": "SECOND", "dimension": dimension}
        assert entry.after == known | {"reason": "Three of us agree."}

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


@pytest.mark.django_db
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
