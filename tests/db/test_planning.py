"""Which comparisons a study gets."""

from collections import Counter

import pytest

from annotation import services
from annotation.choices import Purpose
from annotation.models import Comparison
from completions.choices import SystemKind
from completions.models import LogEntry
from tests.factories import (
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
from tests.factories_written_once import make_user

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
            assert comparison.second.context_id == comparison.context_id
            assert comparison.first_id < comparison.second_id
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

        # Savepoints and their releases; lock the study; its dataset; look for leaks, twice (to
        # hold them, and for what is new); holds; what is planned, completions, contexts in use,
        # contexts; store one batch; count holds; log.
        with django_assert_num_queries(19):
            plan(study)
