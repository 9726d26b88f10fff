"""Which comparisons a study gets."""

from collections import Counter

import pytest

from access.models import LogEntry
from annotation.choices import Protocol, Purpose
from annotation.models import Comparison, QualityCheck
from annotation.planning import figures, queries, services
from annotation.studies.selectors import forget_contents
from completions.choices import EscalationProfile, HoldState, Stratum, SystemKind
from completions.leaks import services as completions
from completions.models import Hold
from tests.helpers.factories import (
    CONTENT,
    NOW,
    make_comparison,
    make_completion,
    make_context,
    make_dataset,
    make_dialogue,
    make_study,
    make_system,
    make_writer,
)
from tests.helpers.factories_written_once import make_user

pytestmark = pytest.mark.django_db


def make_completed_dataset(*, n_contexts, systems):
    """Make a dataset in which every system completed every context."""
    dataset = make_dataset()
    for _ in range(n_contexts):
        context = make_context(dialogue=make_dialogue(dataset=dataset))
        for system in systems:
            make_completion(context=context, system=system)
    return dataset


def make_systems(n):
    return [make_system() for _ in range(n)]


def make_hostile(*contexts, systems):
    """Make an adversarial context of each, which every system completed."""
    for source in contexts:
        hostile = make_context(
            dialogue=source.dialogue,
            stratum=Stratum.ADVERSARIAL,
            escalation_profile=EscalationProfile.ALWAYS_10,
            source_context=source,
        )
        for system in systems:
            make_completion(context=hostile, system=system)


def plan(study):
    return services.plan_study(study=study, now=NOW)


def pairs():
    return set(Comparison.objects.values_list("first_id", "second_id"))


def order():
    return list(Comparison.objects.order_by("position").values_list("first_id", "second_id"))


class TestPlanStudy:
    def test_compares_every_pair_of_systems_in_every_context(self):
        dataset = make_completed_dataset(n_contexts=2, systems=make_systems(3))
        study = make_study(dataset=dataset, judgments_per_pair=4)

        report = plan(study)

        assert (report.n_added, report.n_comparisons) == (6, 6)
        assert set(report.appearances.values()) == {4}
        for comparison in Comparison.objects.select_related("first", "second"):
            assert comparison.first.context_id == comparison.context_id
            assert comparison.second is not None
            assert comparison.second.context_id == comparison.context_id
            assert comparison.first_id < comparison.second.pk
            assert comparison.slots_left == 4
            assert comparison.purpose == Purpose.MAIN

    def test_adds_nothing_when_repeated(self):
        study = make_study(dataset=make_completed_dataset(n_contexts=2, systems=make_systems(3)))
        plan(study)
        planned = list(Comparison.objects.values())

        report = plan(study)

        assert (report.n_added, report.n_comparisons) == (0, 6)
        assert list(Comparison.objects.values()) == planned

    def test_says_in_the_log_what_it_added_and_nothing_when_there_was_nothing(self):
        study = make_study(dataset=make_completed_dataset(n_contexts=2, systems=make_systems(3)))
        by = make_user()

        for _ in range(2):
            services.plan_study(study=study, now=NOW, by=by)

        entry = LogEntry.objects.get()
        assert (entry.action, entry.at, entry.by) == ("study.planned", NOW, by)
        assert entry.after == {"added": 6, "comparisons": 6}

    @pytest.mark.parametrize("pairs_per_context", [0, 2], ids=["all pairs", "two pairs"])
    def test_leaves_what_is_planned_alone_when_completions_come(self, pairs_per_context):
        systems = make_systems(3)
        dataset = make_completed_dataset(n_contexts=2, systems=systems[:2])
        study = make_study(dataset=dataset, pairs_per_context=pairs_per_context)
        plan(study)
        Comparison.objects.update(slots_left=1)
        planned = list(Comparison.objects.order_by("pk").values())
        for context in dataset.contexts.all():
            make_completion(context=context, system=systems[2])

        report = plan(study)

        kept = Comparison.objects.filter(pk__in=[row["id"] for row in planned])
        assert list(kept.order_by("pk").values()) == planned
        per_context = pairs_per_context or 3
        assert report.n_added == 2 * (per_context - 1)
        assert report.n_comparisons == 2 * per_context

    def test_plans_contexts_that_come_later(self):
        systems = make_systems(2)
        dataset = make_completed_dataset(n_contexts=1, systems=systems)
        study = make_study(dataset=dataset)
        plan(study)
        context = make_context(dialogue=make_dialogue(dataset=dataset))
        for system in systems:
            make_completion(context=context, system=system)

        assert plan(study).n_added == 1

    def test_never_compares_two_completions_of_one_system(self):
        dataset = make_dataset()
        context = make_context(dialogue=make_dialogue(dataset=dataset))
        human = make_system(kind=SystemKind.HUMAN)
        for _ in range(3):
            make_completion(context=context, system=human, writer=make_writer(dataset=dataset))
        model = make_completion(context=context)
        study = make_study(dataset=dataset)

        assert plan(study).n_added == 3
        assert all(second == model.pk for _, second in pairs())

    @pytest.mark.parametrize(
        ("n_systems", "pairs_per_context"), [(4, 1), (4, 3), (4, 5), (5, 7), (3, 9)]
    )
    def test_balances_the_systems_within_one(self, n_systems, pairs_per_context):
        dataset = make_completed_dataset(n_contexts=5, systems=make_systems(n_systems))
        study = make_study(dataset=dataset, pairs_per_context=pairs_per_context)

        report = plan(study)

        n_possible = n_systems * (n_systems - 1) // 2
        per_context = Counter(Comparison.objects.values_list("context_id", flat=True))
        assert set(per_context.values()) == {min(pairs_per_context, n_possible)}
        assert len(report.appearances) == n_systems
        assert max(report.appearances.values()) - min(report.appearances.values()) <= 1

    def test_draws_the_same_plan_from_the_same_seed_and_another_from_another(self):
        dataset = make_completed_dataset(n_contexts=6, systems=make_systems(4))

        def drawn(seed):
            study = make_study(dataset=dataset, pairs_per_context=2, seed=seed)
            plan(study)
            return sorted(study.comparisons.values_list("key", "position"))

        assert drawn("one") == drawn("one")
        assert drawn("one") != drawn("two")

    def test_hands_work_out_in_an_order_that_is_not_that_of_the_contexts(self):
        dataset = make_completed_dataset(n_contexts=8, systems=make_systems(2))
        plan(make_study(dataset=dataset, seed="mixed"))

        assert order() != sorted(order())

    def test_leaves_other_datasets_out(self):
        make_completed_dataset(n_contexts=1, systems=make_systems(2))

        report = plan(make_study())

        assert (report.n_added, report.n_comparisons, report.appearances) == (0, 0, {})

    def test_does_not_plan_a_pair_again_that_is_planted_as_a_check(self):
        systems = make_systems(3)
        dataset = make_completed_dataset(n_contexts=1, systems=systems)
        study = make_study(dataset=dataset, pairs_per_context=2)
        first, second, _ = dataset.contexts.get().completions.order_by("pk")
        check = make_comparison(study=study, first=first, second=second, purpose=Purpose.CHECK)

        report = plan(study)

        assert (report.n_added, report.n_comparisons) == (2, 2)
        assert set(Comparison.objects.filter(first=first, second=second)) == {check}

    def test_takes_the_same_number_of_queries_however_many_contexts(
        self, django_assert_num_queries
    ):
        dataset = make_completed_dataset(n_contexts=7, systems=make_systems(3))
        study = make_study(dataset=dataset)

        # Savepoints of the plan, of holding, of the batch and of the gold set, and their releases
        # (7); lock the study, the texts and what was sent back; look for leaks; read the holds, the
        # comparisons, the completions, the contexts in use and all; count holds; read the dataset;
        # store one batch; accept again what was sent back; fix what people wrote; log.
        with django_assert_num_queries(22):
            plan(study)


SAID = 'I hear you. "Lonely" is a hard word to say.'


class TestEqualTexts:
    def wrote(self, *texts, **fields):
        """Make a study with a context in which each text is another system's."""
        context = make_context()
        for text in texts:
            make_completion(context=context, text=text)
        return make_study(dataset=context.dataset, **fields)

    @pytest.mark.parametrize(
        ("texts", "n_pairs", "n_alike"),
        [
            ((SAID, "What helps?", "Who is there?"), 3, 0),
            ((SAID, SAID, "What helps?"), 2, 1),
            ((SAID, SAID.replace(" ", "  ") + "\n", "What helps?"), 2, 1),
            ((SAID, SAID.replace("hear", "he\u200bar"), "What helps?"), 2, 1),
            ((SAID, SAID.replace('"Lonely"', "\u201cLonely\u201d"), "What helps?"), 2, 1),
            ((SAID, SAID.replace("is", "seems"), "What helps?"), 3, 0),
            ((SAID, SAID.lower(), "What helps?"), 3, 0),
            ((SAID, SAID, "What helps?", "What helps?"), 4, 2),
            ((SAID, SAID, SAID), 0, 3),
        ],
        ids=[
            *("none", "two", "but for white space", "but for what nobody sees"),
            *("but for the shape of quotation marks", "but for a word", "but for capitals"),
            *("two and two", "all"),
        ],
    )
    def test_are_not_held_against_each_other_and_counted(self, texts, n_pairs, n_alike):
        report = plan(self.wrote(*texts))

        assert (report.n_added, report.summary.n_alike) == (n_pairs, n_alike)

    def test_of_one_system_are_no_pair_anyway(self):
        context, human = make_context(), make_system(kind=SystemKind.HUMAN)
        for _ in range(2):
            writer = make_writer(dataset=context.dataset)
            make_completion(context=context, system=human, writer=writer, text=SAID)

        assert plan(make_study(dataset=context.dataset)).summary.n_alike == 0

    def test_that_are_held_for_a_leak_are_not_counted(self):
        leak = "As an AI, I hear you."

        assert plan(self.wrote(leak, leak, SAID)).summary.n_alike == 0

    def test_make_way_for_others_where_a_context_gets_some_pairs(self):
        study = self.wrote(SAID, SAID, "What helps?", pairs_per_context=2)

        report = plan(study)

        assert report.n_added == 2
        assert sorted(report.appearances.values()) == [1, 1, 2]
        assert report.summary.n_short == 0

    def test_that_come_later_are_held_against_the_others_alone(self):
        study = self.wrote(SAID, "What helps?")
        plan(study)
        make_completion(context=study.dataset.contexts.get(), text=SAID)

        reports = [plan(study), plan(study)]

        assert [one.n_added for one in reports] == [1, 0]
        assert [one.summary.n_alike for one in reports] == [1, 1]

    def test_that_were_compared_before_stay(self):
        study = self.wrote(SAID, SAID)
        first, second = study.dataset.contexts.get().completions.order_by("pk")
        kept = make_comparison(study=study, first=first, second=second)

        report = plan(study)

        assert (report.n_added, report.n_comparisons, report.summary.n_alike) == (0, 1, 0)
        assert Comparison.objects.get() == kept

    def test_are_each_rated_where_texts_stand_alone(self):
        report = plan(self.wrote(SAID, SAID, SAID, protocol=Protocol.LIKERT))

        assert (report.n_added, report.summary.n_alike) == (3, 0)


class TestHeldCompletions:
    def leaking(self, *, n_systems=3, **fields):
        """Make a study in which the last system's completion gives itself away."""
        dataset = make_completed_dataset(n_contexts=1, systems=make_systems(n_systems))
        leak = dataset.contexts.get().completions.order_by("pk").last()
        leak.__class__.objects.filter(pk=leak.pk).update(text="As an AI, I hear you.")
        return make_study(dataset=dataset, **fields), leak

    def test_are_not_paired_and_counted_by_reason(self):
        study, leak = self.leaking()

        report = plan(study)

        assert (report.n_added, report.n_held) == (1, 1)
        assert report.held.by_reason == {"self-identification": 1}
        assert all(leak.pk not in pair for pair in pairs())
        assert leak.system.slug not in report.appearances

    def test_are_paired_by_the_next_plan_once_released(self):
        study, leak = self.leaking()
        plan(study)
        completions.decide_hold(
            hold=Hold.objects.get(), state=HoldState.RELEASED, reason="It quotes.", now=NOW
        )

        report = plan(study)

        assert report.n_added == 2
        assert sum(leak.pk in pair for pair in pairs()) == 2

    def test_are_never_paired_once_dropped(self):
        study, leak = self.leaking()
        plan(study)
        completions.decide_hold(
            hold=Hold.objects.get(), state=HoldState.DROPPED, reason="It does.", now=NOW
        )

        report = plan(study)

        assert (report.n_added, report.held.n_dropped) == (0, 1)
        assert all(leak.pk not in pair for pair in pairs())

    def test_that_are_compared_already_stay_and_are_reported(self):
        study, leak = self.leaking()
        first = leak.context.completions.order_by("pk").first()
        kept = make_comparison(study=study, first=first, second=leak)

        draft = queries.draft_plan(study)

        assert draft.n_held_compared == 1
        assert draft.summary.appearances[leak.system.slug] == 1
        plan(study)
        assert Comparison.objects.filter(pk=kept.pk).exists()

    def test_keep_a_likert_study_from_rating_them(self):
        study, leak = self.leaking(protocol=Protocol.LIKERT)

        assert plan(study).n_added == 2
        assert not Comparison.objects.filter(first=leak).exists()


class TestLikert:
    def test_rates_each_completion_alone(self):
        dataset = make_completed_dataset(n_contexts=2, systems=make_systems(3))
        study = make_study(dataset=dataset, protocol=Protocol.LIKERT, judgments_per_pair=4)

        report = plan(study)

        assert (report.n_added, report.n_comparisons) == (6, 6)
        assert set(report.appearances.values()) == {2}
        assert not Comparison.objects.exclude(second=None).exists()
        assert not Comparison.objects.exclude(slots_left=4).exists()
        assert Comparison.objects.values("key").distinct().count() == 6

    def test_adds_what_came_since(self):
        systems = make_systems(2)
        dataset = make_completed_dataset(n_contexts=1, systems=systems)
        study = make_study(dataset=dataset, protocol=Protocol.LIKERT)
        plan(study)
        late = make_completion(context=dataset.contexts.get())

        report = plan(study)

        assert (report.n_added, report.n_comparisons) == (1, 3)
        assert Comparison.objects.get(first=late).second is None


class TestDraftPlan:
    def test_writes_nothing(self):
        dataset = make_completed_dataset(n_contexts=2, systems=make_systems(3))
        study = make_study(dataset=dataset)
        context = dataset.contexts.order_by("pk").first()
        make_completion(context=context, text="As an AI, I hear you.")

        draft = queries.draft_plan(study)

        assert len(draft.additions) == 6
        assert draft.held.n_held == len(draft.leaks) == 1
        assert not Comparison.objects.exists()
        assert not Hold.objects.exists()
        assert not LogEntry.objects.exists()

    def test_is_what_planning_then_writes(self):
        dataset = make_completed_dataset(n_contexts=5, systems=make_systems(5))
        study = make_study(dataset=dataset, pairs_per_context=3)
        draft = queries.draft_plan(study)

        report = plan(study)

        drafted = {(one.first.key, one.second.key) for one in draft.additions if one.second}
        assert len(drafted) == 15
        assert pairs() == drafted
        assert report.summary == draft.summary

    def test_connects_each_stratum(self):
        systems = make_systems(6)
        dataset = make_completed_dataset(n_contexts=4, systems=systems)
        make_hostile(*dataset.contexts.order_by("pk")[:2], systems=systems)
        study = make_study(dataset=dataset, pairs_per_context=3)

        strata = queries.draft_plan(study).summary.strata

        assert [(one.name, one.n_contexts) for one in strata] == [
            ("ADVERSARIAL", 2),
            ("REGULAR", 4),
        ]
        assert all(one.is_connected for one in strata)


class TestChecks:
    def test_are_planted_with_the_plan(self):
        dataset = make_completed_dataset(n_contexts=1, systems=make_systems(2))
        checks = CONTENT["checks"] | {"gold_set": "heart-1"}
        study = make_study(dataset=dataset, content=CONTENT | {"checks": checks})
        forget_contents()

        report = plan(study)

        assert report.n_comparisons == 1
        assert report.n_checks == QualityCheck.objects.count() >= 20
        assert plan(study).n_checks == report.n_checks


class TestChosenSystems:
    def study_of(self, *slugs, **fields):
        ash, beech, cedar = (make_system(slug=slug) for slug in ("ash", "beech", "cedar"))
        dataset = make_completed_dataset(n_contexts=2, systems=[ash, beech, cedar])
        content = CONTENT | ({"systems": list(slugs)} if slugs else {})
        return make_study(dataset=dataset, content=content, **fields)

    def systems_of(self, study):
        pairs = study.comparisons.values_list("first__system__slug", "second__system__slug")
        return {frozenset(filter(None, pair)) for pair in pairs}

    def test_are_all_where_a_study_names_none(self):
        study = self.study_of()
        plan(study)

        assert len(self.systems_of(study)) == 3

    def test_alone_are_compared_where_it_names_some(self):
        study = self.study_of("ash", "cedar")
        plan(study)

        assert self.systems_of(study) == {frozenset({"ash", "cedar"})}
        assert figures.plan_figures(study).work.n_systems == 2

    def test_alone_are_rated_where_it_names_some(self):
        study = self.study_of("ash", protocol=Protocol.LIKERT)
        plan(study)

        assert self.systems_of(study) == {frozenset({"ash"})}

    def test_without_a_completion_are_told(self):
        study = self.study_of("ash", "cedar", "yew")

        assert queries.absent_systems(study) == ["yew"]
        lacking = figures.plan_figures(study).work.lacking
        assert [(one.name, one.n) for one in lacking] == [("yew", 2)]
