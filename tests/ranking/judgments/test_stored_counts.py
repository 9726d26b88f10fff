"""What is kept of a study is what its judgments say, whatever happens to them."""

import datetime as dt
import itertools
import logging

import numpy as np
import pytest

from annotation.choices import RaterState
from annotation.models import Judgment, QualityCheck, Rater
from completions.choices import Stratum
from completions.models import Completion, Context
from ranking.choices import ContextSet, EvaluatorPool
from ranking.judgments import analysis_set
from ranking.judgments.analysis_set import Selection
from ranking.judgments.frames import keeping
from ranking.judgments.frames.groups import read_groups, read_stamps, read_verdicts
from ranking.judgments.frames.keeping import keep_counts
from ranking.judgments.frames.kept import all_rows, kept_rows, packed, rule
from ranking.models import KeptCounts
from tests.helpers.factories import (
    NOW,
    make_comparison,
    make_completion,
    make_context,
    make_judge,
    make_judgment,
    make_lease,
    make_llm_judgment,
    make_quality_check,
    make_rater,
    make_writer,
)
from tests.helpers.factories_written_once import make_exclusion, make_user
from tests.helpers.judged import make_judged_study

pytestmark = pytest.mark.django_db
MINUTE = dt.timedelta(minutes=1)
SELECTIONS = list(itertools.product(EvaluatorPool, ContextSet))
ALL = [(EvaluatorPool.COMBINED, ContextSet.ALL)]
"""What the other selections are parts of."""


def pair_in(study, context):
    """Return another pair of a context, of two systems of its own."""
    first, second = (make_completion(context=context) for _ in range(2))
    return make_comparison(study=study, first=first, second=second)


class Happenings:
    """What can happen to the judgments of a study, drawn by chance."""

    def __init__(self, study, seed):
        self.study, self.chance, self.now = study, np.random.default_rng(seed), NOW + 60 * MINUTE
        self.raters = [make_rater(study=study) for _ in range(3)]
        self.judge = make_judge()
        self.by = make_user()

    def pair(self):
        pairs = self.study.comparisons.order_by("pk")
        return pairs[int(self.chance.integers(len(pairs)))]

    def judgment(self):
        given = Judgment.objects.filter(comparison__study=self.study, rater__isnull=False)
        open_ones = given.filter(revision=None).order_by("pk")
        return open_ones[int(self.chance.integers(len(open_ones)))]

    def rater(self):
        return self.raters[int(self.chance.integers(3))]

    def answer(self, **fields):
        verdict = int(self.chance.integers(-2, 3))
        rater = make_rater(study=self.study) if self.chance.random() < 0.5 else self.rater()
        given = {"rater": rater, "verdict": verdict, "shown_at": NOW, "submitted_at": self.now}
        pair = self.pair()
        if not pair.judgments.filter(rater=fields.get("rater", rater)).exists():
            make_judgment(comparison=pair, **given | fields)

    def answer_of_long_ago(self):
        self.answer(submitted_at=NOW)

    def surplus(self):
        self.answer(is_surplus=True)

    def answer_ahead(self):
        self.answer(submitted_at=self.now + 3 * MINUTE)

    def answer_to_a_check(self):
        pair, rater = self.pair(), make_rater(study=self.study)
        check = QualityCheck.objects.filter(comparison=pair).first()
        check = check or make_quality_check(comparison=pair)
        lease = make_lease(
            comparison=pair, rater=rater, quality_check=check, closed_at=NOW, outcome="SUBMITTED"
        )
        make_judgment(comparison=pair, rater=rater, lease=lease, submitted_at=self.now)

    def verdict_of_a_judge(self):
        judge = make_judge() if self.chance.random() < 0.5 else self.judge
        pair = self.pair()
        if not pair.judgments.filter(judge=judge).exists():
            make_llm_judgment(comparison=pair, judge=judge, submitted_at=self.now)

    def revision(self):
        before = self.judgment()
        make_judgment(
            is_surplus=before.is_surplus,
            revises=before,
            verdict=int(self.chance.integers(-2, 3)),
            submitted_at=max(self.now, before.submitted_at),
        )

    def exclusion(self):
        make_exclusion(rater=self.rater(), decided_at=self.now)

    def exclusion_ahead(self):
        make_exclusion(rater=self.rater(), decided_at=self.now + 3 * MINUTE)

    def exclusion_of_a_judge(self):
        make_exclusion(judge=self.judge, decided_at=self.now)

    def taken_back(self):
        taken = {"is_excluded": False, "reason": "they did well", "decided_by": self.by}
        make_exclusion(rater=self.rater(), decided_at=self.now, **taken)

    def withdrawal(self):
        leaver = make_rater(study=self.study)
        self.answer(rater=leaver)
        Rater.objects.filter(pk=leaver.pk).update(
            state=RaterState.WITHDRAWN, ended_at=self.now, data_kept=False
        )

    def erasure(self):
        pair = pair_in(self.study, self.pair().context)
        make_judgment(comparison=pair, submitted_at=self.now)
        Completion.objects.filter(pk=pair.first_id).update(
            writer=make_writer(), text="", erased_at=self.now + MINUTE
        )

    def new_pair(self):
        make_judgment(comparison=make_comparison(study=self.study), submitted_at=self.now)

    def answer_elsewhere(self):
        make_judgment(submitted_at=self.now)

    def nothing(self):
        pass


NAMES = [name for name in vars(Happenings) if name not in {"pair", "judgment", "rater"}]
NAMES = [name for name in NAMES if not name.startswith("_")]


@pytest.fixture
def study():
    study = make_judged_study(n_dialogues=3, with_llm=True)
    source = Context.objects.filter(comparisons__study=study).earliest("pk")
    hostile = make_context(
        dialogue=source.dialogue,
        stratum=Stratum.ADVERSARIAL,
        escalation_profile="MID_SPIKE",
        source_context=source,
    )
    make_judgment(comparison=pair_in(study, hostile))
    return study


def set_overlap(monkeypatch, n_keys):
    for module in (analysis_set, keeping):
        monkeypatch.setattr(module, "OVERLAP", n_keys)


def keep(study, now):
    """Keep the counts; what the next look is handed must be what is stored."""
    keep_counts(study=study, now=now)
    found = KeptCounts.objects.get(study=study)
    handed = all_rows(found)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ranking.judgments.frames.kept._SHARED", {})
        assert handed.tobytes() == all_rows(found).tobytes()
    return found


def check(study, now, selections=SELECTIONS):
    """Hold what is kept against the judgments, by pool and context set."""
    assert kept_rows(study, as_of=now) is not None
    for pool, context_set in selections:
        selection = Selection(study, pool, context_set, now)
        found = read_verdicts(selection)
        assert found.inputs_hash() == read_verdicts(selection, is_anew=True).inputs_hash()
    stamps = read_stamps(study=study, as_of=now)
    KeptCounts.objects.filter(study=study).update(rule="another")
    assert stamps == read_stamps(study=study, as_of=now)
    KeptCounts.objects.filter(study=study).update(rule=rule())


@pytest.mark.parametrize("seed", range(4))
def test_whatever_happens_what_is_kept_is_what_counts(study, seed, monkeypatch):
    set_overlap(monkeypatch, 2)
    monkeypatch.setattr(keeping, "MUCH", 1 + seed % 3)
    monkeypatch.setattr(keeping, "AT_ONCE", 2 + seed)
    happening = Happenings(study, seed)
    for _ in range(12):
        for name in happening.chance.choice(NAMES, 2):
            getattr(happening, name)()
        keep(study, happening.now)
        check(study, happening.now, ALL)
        happening.now += MINUTE
    check(study, happening.now - MINUTE)


@pytest.mark.parametrize("name", NAMES)
def test_each_thing_that_can_happen_is_noticed(study, name):
    happening = Happenings(study, 1)
    for _ in range(4):
        happening.answer()
    keep(study, happening.now)
    happening.now += MINUTE

    getattr(happening, name)()
    for _ in range(6 if name.endswith("_ahead") else 3):  # until it is time, and once more
        keep(study, happening.now)
        check(study, happening.now, ALL)
        happening.now += MINUTE
    check(study, happening.now - MINUTE)


def test_answers_alone_do_not_have_everything_counted_again(study):
    happening = Happenings(study, 1)
    first = keep(study, happening.now)
    for name in ("answer", "revision", "verdict_of_a_judge", "new_pair", "answer_of_long_ago"):
        happening.now += MINUTE
        getattr(happening, name)()
        kept = keep(study, happening.now)

        assert (kept.counted_at, kept.since) == (first.counted_at, happening.now)
        check(study, happening.now, ALL)
    check(study, happening.now)


def test_without_a_change_what_is_kept_is_of_all_times_since_it_came_to_be(study):
    first = keep(study, NOW + 60 * MINUTE)
    second = keep(study, NOW + 90 * MINUTE)

    assert (second.since, second.until) == (first.since, NOW + 90 * MINUTE)
    assert bytes(second.rows) == bytes(first.rows)
    assert bytes(second.newer_rows) == bytes(first.newer_rows)
    for minutes, is_kept in ((59, False), (60, True), (75, True), (90, True), (91, False)):
        found = kept_rows(study, as_of=NOW + minutes * MINUTE)
        assert (found is not None) is is_kept


def test_another_look_of_the_same_time_counts_nothing_where_nothing_came_in(study, monkeypatch):
    keep(study, NOW + 60 * MINUTE)
    make_judgment(comparison=study.comparisons.first(), submitted_at=NOW + 61 * MINUTE)
    first = keep(study, NOW + 65 * MINUTE)
    monkeypatch.delattr(keeping, "_counted")

    second = keep(study, NOW + 65 * MINUTE)

    assert (second.since, second.until) == (first.since, first.until)


@pytest.mark.parametrize("place", [1, 3], ids=["below the newest key", "above it"])
def test_a_judgment_that_comes_in_late_is_counted_at_the_next_look_of_the_same_time(study, place):
    now, pair = NOW + 60 * MINUTE, study.comparisons.first()
    key = make_judgment(comparison=pair, submitted_at=NOW).pk
    make_judgment(pk=key + 2, comparison=pair, submitted_at=NOW)
    keep(study, now)
    make_judgment(pk=key + place, comparison=pair, submitted_at=NOW)

    keep(study, now)

    check(study, now)


@pytest.mark.parametrize("overlap", [3, 1000])
def test_a_judgment_that_was_under_way_at_the_last_look_is_counted_at_the_next(
    study, monkeypatch, overlap
):
    set_overlap(monkeypatch, overlap)
    first, second, *_ = study.comparisons.all()
    key = make_judgment(comparison=first, submitted_at=NOW).pk + 1
    make_judgment(pk=key + 1, comparison=first, submitted_at=NOW)  # the one before is under way
    keep(study, NOW + 60 * MINUTE)
    make_judgment(pk=key, comparison=second, submitted_at=NOW)
    make_judgment(pk=key + 2, comparison=first, submitted_at=NOW + 70 * MINUTE)

    keep(study, NOW + 80 * MINUTE)

    check(study, NOW + 80 * MINUTE)


def test_of_what_was_counted_nothing_is_looked_at_again(study, monkeypatch):
    pair, other, *_ = study.comparisons.all()
    make_judgment(comparison=other, submitted_at=NOW + 59.5 * MINUTE)
    keep(study, NOW + 60 * MINUTE)
    make_judgment(comparison=pair, submitted_at=NOW + 70 * MINUTE)
    looked_at = []
    counted_again = keeping._counted_again

    def noted(study, now, answered, known):
        looked_at.extend(answered)
        return counted_again(study, now, answered, known)

    monkeypatch.setattr(keeping, "_counted_again", noted)
    keep(study, NOW + 80 * MINUTE)

    assert looked_at == [pair.pk]


def test_a_look_back_in_time_changes_nothing(study):
    first = keep(study, NOW + 60 * MINUTE)
    make_judgment(comparison=study.comparisons.first())

    assert keep(study, NOW + 30 * MINUTE).until == first.until
    selection = Selection(study, EvaluatorPool.HUMAN, ContextSet.ALL, NOW + 30 * MINUTE)
    assert read_groups(selection).n_judgments == 11


def test_everything_is_counted_each_day_and_a_difference_is_an_error(study, caplog, monkeypatch):
    set_overlap(monkeypatch, 0)
    kept = keep(study, NOW + 60 * MINUTE)
    rows = kept_rows(study, as_of=kept.until).copy()
    rows["n_first"][0] += 1
    KeptCounts.objects.update(rows=packed(rows), mark="of what is wrong")

    with caplog.at_level(logging.ERROR):
        keep(study, NOW + 90 * MINUTE)
        assert not caplog.records
        keep(study, NOW + 26 * 60 * MINUTE)

    assert "was not what counts" in caplog.text
    check(study, NOW + 26 * 60 * MINUTE)


def test_rows_that_a_process_has_in_hand_are_not_read_again(study, django_assert_num_queries):
    kept = keep(study, NOW + 60 * MINUTE)

    with django_assert_num_queries(1) as asked:
        kept_rows(study, as_of=kept.until)

    assert '"rows"' not in asked[0]["sql"]


def test_rows_that_another_process_wrote_are_read(study):
    kept = keep(study, NOW + 60 * MINUTE)
    rows = kept_rows(study, as_of=kept.until).copy()
    rows["n_first"][0] += 1
    KeptCounts.objects.update(rows=packed(rows), mark="of theirs")

    assert kept_rows(study, as_of=kept.until).tobytes() == rows.tobytes()


def test_a_study_in_hand_keeps_no_rows_alive(study):
    keep(study, NOW + 60 * MINUTE)

    assert not study._state.fields_cache.get("kept_counts")


def test_many_answers_have_everything_counted_again(study, monkeypatch):
    monkeypatch.setattr(keeping, "MOST", 2)
    keep(study, NOW + 60 * MINUTE)
    for pair in study.comparisons.all():
        make_judgment(comparison=pair, submitted_at=NOW + 70 * MINUTE)

    assert keep(study, NOW + 80 * MINUTE).counted_at == NOW + 80 * MINUTE
    check(study, NOW + 80 * MINUTE)


@pytest.mark.parametrize("at_once", [1, 2, 3, 10_000])
def test_counted_in_parts_it_is_the_same(study, monkeypatch, at_once):
    monkeypatch.setattr(keeping, "AT_ONCE", at_once)
    for pair in study.comparisons.all():
        make_judgment(comparison=pair, submitted_at=NOW)

    keep(study, NOW + MINUTE)

    assert len(kept_rows(study, as_of=NOW + MINUTE)) > 3  # so there were several parts
    check(study, NOW + MINUTE)


def test_of_a_study_without_judgments_nothing_is_kept_and_nothing_fails():
    empty = make_comparison().study

    keep(empty, NOW)

    assert len(kept_rows(empty, as_of=NOW)) == 0
    assert read_stamps(study=empty, as_of=NOW) == {}
