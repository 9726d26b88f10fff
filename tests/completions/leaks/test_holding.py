"""Completions that give their source away are kept out of pairs until somebody decides."""

import pytest

from access.models import LogEntry
from completions.choices import CallState, HoldState, Review
from completions.leaks import queries, rules, services
from completions.models import Hold
from tests.helpers.factories import (
    NOW,
    make_completion,
    make_context,
    make_dataset,
    make_dialogue,
    make_generation_call,
)
from tests.helpers.factories_written_once import make_user

pytestmark = pytest.mark.django_db

GIVEAWAY = "As an AI, I hear you. **Breathe.**"


@pytest.fixture
def dataset():
    return make_dataset()


def complete(dataset, text=GIVEAWAY, **fields):
    context = fields.pop("context", None) or make_context(dialogue=make_dialogue(dataset=dataset))
    return make_completion(context=context, text=text, **fields)


def hold(dataset):
    found = queries.find_new_leaks(dataset.pk)
    return services.hold_leaks(dataset=dataset, found=found, now=NOW)


def decide(state=HoldState.RELEASED, reason="It quotes the seeker.", **fields):
    return services.decide_hold(
        hold=Hold.objects.get(), state=state, reason=reason, now=NOW, **fields
    )


def found(dataset):
    return queries.find_new_leaks(dataset.pk)


class TestFindNewLeaks:
    def test_reads_every_completion_of_the_dataset_in_use(self, dataset):
        leaking, _clean = complete(dataset), complete(dataset, "That sounds hard.")
        complete(make_dataset())
        dialogue = make_dialogue(dataset=dataset)
        complete(dataset, context=make_context(dialogue=dialogue, review=Review.DROPPED))

        assert list(found(dataset)) == [leaking.pk]

    @pytest.mark.parametrize(
        ("kept", "raw_answer", "finish_reason", "reasons"),
        [
            ("Breathe Call your sister", "- Breathe\n- Call your sister", "", ["markup"]),
            ("You did it.", "You did it.", "length", ["unfinished"]),
            ("You did it.", "You did it.", "max_tokens", ["unfinished"]),
            ("You did it.", "You did it.", "stop", []),
        ],
        ids=["what was kept is plain", "cut", "cut in other words", "ended"],
    )
    def test_reads_what_the_model_answered_and_how_it_ended(
        self, dataset, kept, raw_answer, finish_reason, reasons
    ):
        completion = complete(dataset, kept)
        make_generation_call(
            context=completion.context,
            system=completion.system,
            completion=completion,
            state=CallState.DONE,
            ended_at=NOW,
            raw_answer=raw_answer,
            finish_reason=finish_reason,
        )

        leaks = found(dataset).get(completion.pk, ())
        assert [leak.reason for leak in leaks] == reasons

    def test_takes_one_query(self, dataset, django_assert_num_queries):
        for _ in range(5):
            complete(dataset)

        with django_assert_num_queries(1):
            found(dataset)


class TestHoldLeaks:
    def test_stores_the_reasons_with_what_matched_and_the_rules(self, dataset):
        completion = complete(dataset)

        assert hold(dataset) == 1

        held = Hold.objects.get()
        assert (held.completion, held.state, held.held_at) == (completion, HoldState.HELD, NOW)
        assert held.rules == rules.VERSION
        assert held.reasons == [
            {"reason": "self-identification", "matched": "As an AI"},
            {"reason": "markup", "matched": "**Breathe.**"},
        ]

    def test_holds_nothing_twice_whoever_was_first(self, dataset):
        complete(dataset)
        seen = found(dataset)

        assert [hold(dataset), hold(dataset)] == [1, 0]
        late = services.hold_leaks(dataset=dataset, found=seen, now=NOW)  # seen before these were

        assert late == 0
        assert Hold.objects.count() == 1
        assert LogEntry.objects.filter(action="completions.held").count() == 1

    @pytest.mark.parametrize("state", ["RELEASED", "DROPPED"])
    def test_never_holds_again_what_was_decided(self, dataset, state):
        complete(dataset)
        hold(dataset)
        decide(HoldState(state))

        assert hold(dataset) == 0
        assert Hold.objects.get().state == state


class TestDecideHold:
    def test_keeps_who_decided_what_when_and_why(self, dataset):
        complete(dataset)
        hold(dataset)
        user = make_user()

        decided = decide(HoldState.DROPPED, " It says so. ", by=user)

        assert (decided.state, decided.decision_reason) == ("DROPPED", "It says so.")
        assert (decided.decided_at, decided.decided_by) == (NOW, user)
        entry = LogEntry.objects.get(action="completion.dropped")
        assert entry.before == {"state": "HELD", "reason": ""}
        assert entry.after == {"state": "DROPPED", "reason": "It says so."}

    def test_may_be_turned_round_and_the_log_keeps_both(self, dataset):
        complete(dataset)
        hold(dataset)
        decide(HoldState.DROPPED, "It says so.")

        decide(HoldState.RELEASED, "On second thoughts, no.")

        assert Hold.objects.get().state == "RELEASED"
        assert list(LogEntry.objects.order_by("pk").values_list("action", flat=True)) == [
            "completions.held",
            "completion.dropped",
            "completion.released",
        ]

    @pytest.mark.parametrize("reason", ["", "  "], ids=["none", "blank"])
    def test_needs_a_reason(self, dataset, reason):
        complete(dataset)
        hold(dataset)

        with pytest.raises(services.HoldReasonMissingError):
            decide(reason=reason)

        assert Hold.objects.get().state == "HELD"


class TestCounts:
    def test_are_by_reason_of_the_held_ones_with_those_that_would_come(self, dataset):
        complete(dataset)
        complete(dataset, "I can't assist with that.")
        hold(dataset)
        decide_one = Hold.objects.order_by("pk").last()
        assert decide_one is not None
        services.decide_hold(hold=decide_one, state=HoldState.DROPPED, reason="No.", now=NOW)
        complete(dataset, "ChatGPT says hello: I'm just an AI. As an AI, I care.")

        counts = queries.count_holds(dataset.pk, found(dataset))

        assert (counts.n_held, counts.n_dropped, counts.n_released) == (2, 1, 0)
        assert counts.by_reason == {"self-identification": 2, "model-name": 1, "markup": 1}
