"""Which comparisons a study gets."""

import pytest

from access.models import LogEntry
from annotation.choices import Protocol, Purpose
from annotation.models import Comparison, QualityCheck
from annotation.planning import queries, services
from annotation.studies.queries import forget_contents
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
    make_study,
    make_system,
    make_writer,
)
from tests.helpers.factories_written_once import make_user
from tests.helpers.judged import delete_text

pytestmark = pytest.mark.django_db


def make_completed_dataset(*, n_contexts, systems):
    """Make a dataset in which every system completed every context."""
    dataset = make_dataset()
    for _ in range(n_contexts):
        context = make_context(dataset=dataset)
        for system in systems:
            make_completion(context=context, system=system)
    return dataset


def make_systems(n):
    return [make_system() for _ in range(n)]


def plan(study):
    return services.plan_study(study=study, now=NOW)


def pairs():
    return set(Comparison.objects.values_list("first_id", "second_id"))


class TestPlanStudy:
    def test_compares_every_pair_of_systems_in_every_context_once_and_logs_it(self):
        make_completed_dataset(n_contexts=1, systems=make_systems(2))  # another
        dataset = make_completed_dataset(n_contexts=2, systems=make_systems(3))
        study, by = make_study(dataset=dataset, judgments_per_pair=4), make_user()

        report = services.plan_study(study=study, now=NOW, by=by)

        assert (report.summary.n_added, report.summary.n_pairs) == (6, 6)
        assert set(report.summary.appearances.values()) == {4}
        for comparison in Comparison.objects.select_related("first", "second"):
            first, second = comparison.pair
            assert first.context_id == second.context_id == comparison.context_id
            assert first.pk < second.pk
            assert (comparison.slots_left, comparison.purpose) == (4, Purpose.MAIN)
        planned = list(Comparison.objects.values())
        again = services.plan_study(study=study, now=NOW, by=by)
        assert (again.summary.n_added, again.summary.n_pairs) == (0, 6)
        assert list(Comparison.objects.values()) == planned
        entry = LogEntry.objects.get()
        assert (entry.action, entry.at, entry.by) == ("study.planned", NOW, by)
        assert entry.after == {"added": 6, "comparisons": 6}

    def test_leaves_what_is_planned_alone_when_completions_come(self):
        systems = make_systems(3)
        dataset = make_completed_dataset(n_contexts=2, systems=systems[:2])
        study = make_study(dataset=dataset, pairs_per_context=2)
        plan(study)
        Comparison.objects.update(slots_left=1)
        planned = list(Comparison.objects.order_by("pk").values())
        for context in dataset.contexts.all():
            make_completion(context=context, system=systems[2])

        report = plan(study)

        kept = Comparison.objects.filter(pk__in=[row["id"] for row in planned])
        assert list(kept.order_by("pk").values()) == planned
        assert (report.summary.n_added, report.summary.n_pairs) == (2, 4)

    def test_draws_plan_and_order_from_the_seed_and_not_from_the_order_of_the_contexts(self):
        dataset = make_completed_dataset(n_contexts=6, systems=make_systems(4))

        def drawn(seed):
            study = make_study(dataset=dataset, pairs_per_context=2, seed=seed)
            plan(study)
            return list(
                study.comparisons.order_by("first", "second").values_list("key", "position")
            )

        assert drawn("one") == drawn("one")
        assert sorted(drawn("one")) != sorted(drawn("two"))
        positions = [position for _, position in drawn("one")]
        assert positions != sorted(positions)

    def test_does_not_plan_a_pair_again_that_is_planted_as_a_check(self):
        dataset = make_completed_dataset(n_contexts=1, systems=make_systems(3))
        study = make_study(dataset=dataset, pairs_per_context=2)
        first, second, _ = dataset.contexts.get().completions.order_by("pk")
        check = make_comparison(study=study, first=first, second=second, purpose=Purpose.CHECK)

        report = plan(study)

        assert (report.summary.n_added, report.summary.n_pairs) == (2, 2)
        assert set(Comparison.objects.filter(first=first, second=second)) == {check}

    def test_takes_the_same_number_of_queries_however_many_contexts(
        self, django_assert_num_queries
    ):
        study = make_study(dataset=make_completed_dataset(n_contexts=7, systems=make_systems(3)))

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
            ((SAID, SAID.lower(), "What helps?"), 3, 0),
            ((SAID, SAID.replace('"', "\u201c") + "\n", "What helps?"), 2, 1),
            ((SAID, SAID, "What helps?", "What helps?"), 4, 2),
            ((SAID, SAID, SAID), 0, 3),
        ],
        ids=["but for capitals", "but for their dress", "two and two", "all"],
    )
    def test_are_not_held_against_each_other_and_counted(self, texts, n_pairs, n_alike):
        report = plan(self.wrote(*texts))

        assert (report.summary.n_added, report.summary.n_alike) == (n_pairs, n_alike)
        assert report.summary.n_short == 0

    def test_of_one_system_are_no_pair_anyway_and_those_held_for_a_leak_not_counted(self):
        context, human = make_context(), make_system(kind=SystemKind.HUMAN)
        for _ in range(2):
            writer = make_writer(dataset=context.dataset)
            make_completion(context=context, system=human, writer=writer, text=SAID)
        make_completion(context=context)
        leak = "As an AI, I hear you."

        of_one = plan(make_study(dataset=context.dataset))

        assert (of_one.summary.n_added, of_one.summary.n_alike) == (2, 0)
        assert plan(self.wrote(leak, leak, SAID)).summary.n_alike == 0

    def test_that_come_later_are_held_against_the_others_alone(self):
        study = self.wrote(SAID, "What helps?")
        plan(study)
        make_completion(context=study.dataset.contexts.get(), text=SAID)

        reports = [plan(study), plan(study)]

        assert [one.summary.n_added for one in reports] == [1, 0]
        assert [one.summary.n_alike for one in reports] == [1, 1]

    def test_that_were_compared_before_stay(self):
        study = self.wrote(SAID, SAID)
        first, second = study.dataset.contexts.get().completions.order_by("pk")
        kept = make_comparison(study=study, first=first, second=second)

        report = plan(study)

        assert (report.summary.n_added, report.summary.n_pairs, report.summary.n_alike) == (0, 1, 0)
        assert Comparison.objects.get() == kept


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

        assert (report.summary.n_added, report.n_held) == (1, 1)
        assert report.held.by_reason == {"self-identification": 1}
        assert all(leak.pk not in pair for pair in pairs())
        assert leak.system.slug not in report.summary.appearances

    @pytest.mark.parametrize(
        ("state", "n_added", "n_dropped"), [(HoldState.RELEASED, 2, 0), (HoldState.DROPPED, 0, 1)]
    )
    def test_are_paired_by_the_next_plan_once_released_and_never_once_dropped(
        self, state, n_added, n_dropped
    ):
        study, leak = self.leaking()
        plan(study)
        completions.decide_hold(hold=Hold.objects.get(), state=state, reason="Read.", now=NOW)

        report = plan(study)

        assert (report.summary.n_added, report.held.n_dropped) == (n_added, n_dropped)
        assert sum(leak.pk in pair for pair in pairs()) == n_added

    def test_that_are_compared_already_stay_and_are_reported(self):
        study, leak = self.leaking()
        first = leak.context.completions.order_by("pk").first()
        kept = make_comparison(study=study, first=first, second=leak)

        draft = queries.draft_plan(study)

        assert draft.n_held_compared == 1
        assert draft.summary.appearances[leak.system.slug] == 1
        plan(study)
        assert Comparison.objects.filter(pk=kept.pk).exists()


class TestLikert:
    def test_rates_each_completion_alone_with_those_that_came_since(self):
        dataset = make_completed_dataset(n_contexts=2, systems=make_systems(3))
        study = make_study(dataset=dataset, protocol=Protocol.LIKERT, judgments_per_pair=4)

        report = plan(study)

        assert (report.summary.n_added, report.summary.n_pairs) == (6, 6)
        assert set(report.summary.appearances.values()) == {2}
        assert not Comparison.objects.exclude(second=None).exists()
        assert not Comparison.objects.exclude(slots_left=4).exists()
        assert Comparison.objects.values("key").distinct().count() == 6
        late = make_completion(context=dataset.contexts.earliest("pk"))
        again = plan(study)
        assert (again.summary.n_added, again.summary.n_pairs) == (1, 7)
        assert Comparison.objects.get(first=late).second is None

    def test_rates_equal_texts_each_and_none_that_is_held(self):
        context = make_context()
        for text in (SAID, SAID, SAID, "As an AI, I hear you."):
            make_completion(context=context, text=text)

        report = plan(make_study(dataset=context.dataset, protocol=Protocol.LIKERT))

        assert (report.summary.n_added, report.n_held, report.summary.n_alike) == (3, 1, 0)


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

    def test_tells_the_strata_apart(self):
        systems = make_systems(3)
        dataset = make_completed_dataset(n_contexts=2, systems=systems)
        source = dataset.contexts.earliest("pk")
        hostile = make_context(
            dialogue=source.dialogue,
            stratum=Stratum.ADVERSARIAL,
            escalation_profile=EscalationProfile.ALWAYS_10,
            source_context=source,
        )
        for system in systems:
            make_completion(context=hostile, system=system)

        strata = queries.draft_plan(make_study(dataset=dataset)).summary.strata

        told = [(one.name, one.n_contexts, one.is_connected) for one in strata]
        assert told == [("ADVERSARIAL", 1, True), ("REGULAR", 2, True)]


class TestRatersNeeded:
    """Sessions of two pairs, four pairs wanted of five people each."""

    @pytest.mark.parametrize(
        ("left", "n"), [((5, 5, 5, 5), 10), ((2, 2, 2, 0), 3), ((1, 0, 0, 0), 1), ((0,) * 4, 0)]
    )
    def test_are_those_for_the_slots_that_are_free(self, left, n):
        assert queries.plan_figures(self.study(left))["n_raters"] == n

    def test_are_not_fewer_by_what_was_judged_of_a_text_that_was_deleted(self):
        study = self.study((0, 4, 4, 4))
        delete_text(study.comparisons.earliest("pk").first_id)

        figures = queries.plan_figures(study)

        assert (figures["n_wanted"], figures["n_raters"]) == (15, 6)

    def study(self, left):
        dataset = make_completed_dataset(n_contexts=4, systems=make_systems(2))
        study = make_study(dataset=dataset, judgments_per_pair=5, session_length=2)
        plan(study)
        for one, n in zip(study.comparisons.order_by("pk"), left, strict=True):
            study.comparisons.filter(pk=one.pk).update(slots_left=n)
        return study


class TestChecks:
    def test_are_planted_with_the_plan(self):
        dataset = make_completed_dataset(n_contexts=1, systems=make_systems(2))
        checks = CONTENT["checks"] | {"gold_set": "heart-1"}
        study = make_study(dataset=dataset, content=CONTENT | {"checks": checks})
        forget_contents()

        report = plan(study)

        assert report.summary.n_pairs == 1
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

    @pytest.mark.parametrize(
        ("named", "protocol", "expected"),
        [
            ([], Protocol.PREFERENCE, [{"ash", "beech"}, {"ash", "cedar"}, {"beech", "cedar"}]),
            (["ash", "cedar"], Protocol.PREFERENCE, [{"ash", "cedar"}]),
            (["ash"], Protocol.LIKERT, [{"ash"}]),
        ],
        ids=["all where none is named", "those named", "the one named"],
    )
    def test_are_compared_or_rated(self, named, protocol, expected):
        study = self.study_of(*named, protocol=protocol)
        plan(study)

        assert self.systems_of(study) == set(map(frozenset, expected))
        assert queries.plan_figures(study)["n_systems"] == (len(named) or 3)

    def test_without_a_completion_are_told(self):
        study = self.study_of("ash", "cedar", "yew")

        assert queries.absent_systems(study) == ["yew"]
        assert queries.plan_figures(study)["lacking"] == (("yew", 2),)
