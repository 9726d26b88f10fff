"""What is counted on the way to contexts, on examples small enough to count by hand."""

import pytest

from completions.choices import CallState, EscalationProfile, Review, RewriteState, Stratum
from completions.contexts import screening
from completions.contexts.funnel import (
    Chosen,
    ImportedCounts,
    Reviews,
    ScreenedCounts,
    Steps,
    funnel_of,
)
from tests.helpers.datasets import CURRENT, make_screened_dataset, make_turns, screen
from tests.helpers.factories import (
    NOW,
    make_assistant,
    make_context,
    make_dialogue,
    make_rewrite,
    make_screening_call,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def dataset():
    return make_screened_dataset()


@pytest.fixture
def count(dataset):
    return lambda: funnel_of(dataset)


class TestFunnel:
    def test_counts_what_was_imported(self, count):
        assert count().source == ImportedCounts(dialogues=3, utterances=60, turns=12, couplets=6)

    def test_counts_what_screening_made_of_it(self, count):
        screened = count().screened

        assert screened == ScreenedCounts(
            candidates=6,
            versions=(CURRENT,),
            outdated=0,
            rules=screened.rules,
            removed=3,
            no_signal=1,
            suitable=2,
            suitable_dialogues=1,
        )

    def test_counts_what_each_rule_removes_first_and_alone(self, count):
        rules = {
            rule.name: (rule.removes, rule.removes_first, rule.removes_alone)
            for rule in count().screened.rules
        }

        assert tuple(rules) == screening.DISQUALIFIERS
        assert {name: counts for name, counts in rules.items() if any(counts)} == {
            "self-harm": (1, 1, 0),
            "violence": (3, 2, 1),
            "too-short": (1, 0, 0),
        }

    def test_adds_up(self, count):
        screened = count().screened

        assert sum(rule.removes_first for rule in screened.rules) == screened.removed
        assert screened.removed + screened.no_signal + screened.suitable == screened.candidates

    def test_names_rules_that_only_older_screenings_had(self, count, dataset):
        dialogue = make_dialogue(dataset=dataset, turns=make_turns(1))
        screen(dialogue, ["weather"], rules="screening-0 old")

        screened = count().screened

        assert screened.rules[-1].name == "weather"
        assert screened.versions == ("screening-0 old", CURRENT)
        assert screened.outdated == 1

    def test_compares_emotions_before_and_after(self, count):
        fear, anger = count().emotions

        assert (fear.emotion, fear.problem) == ("fear", None)
        assert fear.counts == Steps(dialogues=2, couplets=4, suitable=2, chosen=2)
        assert fear.shares == Steps(dialogues=0.6667, couplets=0.6667, suitable=1.0, chosen=1.0)
        assert anger.counts == Steps(dialogues=1, couplets=2, suitable=0, chosen=0)
        assert anger.shares == Steps(dialogues=0.3333, couplets=0.3333, suitable=0.0, chosen=0.0)

    def test_compares_cells_before_and_after(self, count):
        cells = {(cell.emotion, cell.problem): cell.counts for cell in count().cells}

        assert cells == {
            ("anger", "job"): Steps(dialogues=1, couplets=2, suitable=0, chosen=0),
            ("fear", "exam"): Steps(dialogues=1, couplets=1, suitable=0, chosen=0),
            ("fear", "job"): Steps(dialogues=1, couplets=3, suitable=2, chosen=2),
        }

    def test_counts_as_chosen_what_nobody_dropped(self, count, dataset):
        assert count().chosen == Chosen(contexts=2, dialogues=1)

        dataset.contexts.filter(turn_index=0).update(review=Review.DROPPED)

        assert count().chosen == Chosen(contexts=1, dialogues=1)
        assert count().emotions[0].counts.chosen == 1

    def test_counts_reviews_of_all_contexts(self, count, dataset):
        for review in (Review.KEPT, Review.KEPT, Review.DROPPED):
            make_context(dialogue=make_dialogue(dataset=dataset), review=review)

        assert count().reviews == Reviews(pending=2, kept=2, dropped=1)

    def test_leaves_other_datasets_out(self, count):
        before = count()
        other = make_dialogue()
        screen(other, "suitable")
        make_rewrite(source_context=make_context(dialogue=other))
        make_screening_call()

        assert count() == before

    def test_takes_five_queries(self, count, django_assert_num_queries):
        with django_assert_num_queries(5):
            count()


class TestRewriting:
    def rewrite(self, dataset, profile, state, reason=""):
        source = dataset.contexts.filter(stratum=Stratum.REGULAR).first()
        ended = None if state == RewriteState.PLANNED else NOW
        context = None
        if state == RewriteState.ACCEPTED:
            context = make_context(
                dialogue=source.dialogue,
                stratum=Stratum.ADVERSARIAL,
                escalation_profile=profile,
                source_context=source,
                is_simulated=True,
            )
        make_rewrite(
            source_context=source,
            profile=profile,
            state=state,
            reason=reason,
            ended_at=ended,
            context=context,
        )

    def test_counts_how_rewrites_ended_by_profile_and_reason(self, count, dataset):
        self.rewrite(dataset, EscalationProfile.ALWAYS_10, RewriteState.ACCEPTED)
        self.rewrite(dataset, EscalationProfile.LINEAR_RAMP, RewriteState.DROPPED, "too mild")
        self.rewrite(dataset, EscalationProfile.MID_RAMP, RewriteState.DROPPED, "too mild")
        self.rewrite(dataset, EscalationProfile.MID_SPIKE, RewriteState.PLANNED)

        rewriting = count().rewriting

        assert (rewriting.planned, rewriting.under_way) == (4, 1)
        assert (rewriting.accepted, rewriting.dropped) == (1, 2)
        assert [(one.reason, one.n) for one in rewriting.reasons] == [("too mild", 2)]
        assert (rewriting.contexts, rewriting.simulated_contexts) == (1, 1)
        assert {one.profile: (one.accepted, one.dropped) for one in rewriting.profiles} == {
            "ALWAYS_10": (1, 0),
            "LINEAR_RAMP": (0, 1),
            "MID_SPIKE": (0, 0),
            "MID_RAMP": (0, 1),
        }

    def test_leaves_rewrites_out_of_the_regular_contexts(self, count, dataset):
        self.rewrite(dataset, EscalationProfile.ALWAYS_10, RewriteState.ACCEPTED)

        assert count().chosen.contexts == 2


class TestOpinions:
    def test_are_held_against_what_the_rules_say(self, count, dataset):
        suitable, removed = (
            [one for one in dataset.dialogues.first().candidates.all() if one.is_suitable is kept]
            for kept in (True, False)
        )
        done = {"state": CallState.DONE, "ended_at": NOW, "raw_answer": "{}"}
        keeps, drops = {"qualifies": True}, {"qualifies": False}
        make_screening_call(candidate=suitable[0], opinion=keeps, **done)
        make_screening_call(candidate=suitable[0], opinion=drops, **done)
        make_screening_call(candidate=removed[0], opinion=drops, **done)
        useless = {"ended_at": NOW, "raw_answer": "?", "error_kind": "x"}
        for state in (CallState.INVALID, CallState.FAILED):
            make_screening_call(candidate=suitable[1], state=state, **useless)
        simulated = make_assistant(name="Simulated helper", is_simulated=True)
        make_screening_call(candidate=suitable[1], assistant=simulated)

        opinions = count().opinions

        assert (opinions.asked, opinions.agreed, opinions.disagreed) == (6, 2, 1)
        assert (opinions.invalid, opinions.failed, opinions.waiting) == (1, 1, 1)
        assert opinions.by_simulated == 1
