"""Completions that give their source away are kept out of pairs until somebody decides."""

import pytest
from django.urls import reverse

from access.models import LogEntry
from completions.choices import HoldState, Review
from completions.leaks import queries, rules, services
from completions.models import Hold
from tests.helpers.factories import (
    NOW,
    make_completion,
    make_context,
    make_dataset,
    make_dialogue,
    make_generation_call,
    make_system,
)
from tests.helpers.factories_of_calls import DONE
from tests.helpers.factories_of_people import make_hold
from tests.helpers.factories_written_once import make_user
from tests.helpers.pages import text

pytestmark = pytest.mark.django_db

GIVEAWAY = "As an AI, I hear you. **Breathe.**"
RELEASED = {"decision": "RELEASED", "reason": "A saying."}


@pytest.fixture
def dataset():
    return make_dataset(slug="talks")


def complete(dataset, words=GIVEAWAY, **fields):
    context = fields.pop("context", None) or make_context(dataset=dataset)
    return make_completion(context=context, text=words, **fields)


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
        ("kept", "raw_answer", "reasons"),
        [
            ("Breathe Call your sister", "- Breathe\n- Call your sister", ["markup"]),
            ("You did it.", "You did it.", []),
        ],
        ids=["what was kept is plain", "the same"],
    )
    def test_reads_what_the_model_answered(self, dataset, kept, raw_answer, reasons):
        completion = complete(dataset, kept)
        make_generation_call(
            context=completion.context,
            system=completion.system,
            completion=completion,
            **DONE | {"raw_answer": raw_answer},
        )

        assert [leak.reason for leak in found(dataset).get(completion.pk, ())] == reasons

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
    def test_keeps_who_decided_what_when_and_why_and_may_be_turned_round(self, dataset):
        complete(dataset)
        hold(dataset)
        user = make_user()

        decided = decide(HoldState.DROPPED, " It says so. ", by=user)

        assert (decided.state, decided.decision_reason) == ("DROPPED", "It says so.")
        assert (decided.decided_at, decided.decided_by) == (NOW, user)
        entry = LogEntry.objects.get(action="completion.dropped")
        assert entry.before == {"state": "HELD", "reason": ""}
        assert entry.after == {"state": "DROPPED", "reason": "It says so."}
        assert decide(HoldState.RELEASED, "On second thoughts, no.").state == "RELEASED"
        actions = LogEntry.objects.order_by("pk").values_list("action", flat=True)
        assert list(actions)[1:] == ["completion.dropped", "completion.released"]

    @pytest.mark.parametrize("reason", ["", "  "], ids=["none", "blank"])
    def test_needs_a_reason(self, dataset, reason):
        held = make_held(dataset)

        with pytest.raises(services.HoldReasonMissingError):
            decide(reason=reason)

        held.refresh_from_db()
        assert held.state == "HELD"


def test_counts_are_by_reason_of_the_held_ones_with_those_that_would_come(dataset):
    make_held(dataset)
    dropped = make_held(dataset, "I can't assist with that.")
    services.decide_hold(hold=dropped, state=HoldState.DROPPED, reason="No.", now=NOW)
    complete(dataset, "ChatGPT says hello: I'm just an AI. As an AI, I care.")

    counts = queries.count_holds(dataset.pk, found(dataset))

    assert (counts.n_held, counts.n_dropped, counts.n_released) == (2, 1, 0)
    assert counts.by_reason == {"self-identification": 2, "model-name": 1, "markup": 1}


HELD = "/console/contexts/talks/held/"


def make_held(dataset, words=GIVEAWAY, **fields):
    completion = complete(dataset, words, **fields)
    hold(dataset)
    return Hold.objects.get(completion=completion)


def post(client, held, **posted):
    address = reverse("contexts:decide", args=["talks", held.pk])
    return client.post(address, posted, follow=True)


class TestThePage:
    def test_shows_the_text_the_source_and_the_words_that_matched(self, admin_client, dataset):
        assert "None waits now" in text(admin_client.get(HELD))
        make_held(dataset, "As an AI, I hear you. <script>", system=make_system(name="Okapi 7"))
        make_held(dataset, "ChatGPT says hello.")

        answer = admin_client.get(HELD)

        page = text(answer)
        assert "As an AI, I hear you. &lt;script&gt;" in page
        assert "Okapi 7" in page
        assert "self-identification : As an AI" in page
        assert [(name, n) for name, n, _ in answer.context["by_reason"]] == [
            ("self-identification", 1),
            ("model-name", 1),
        ]

    def test_turns_pages_at_a_fixed_number_of_queries(
        self, admin_client, dataset, django_assert_max_num_queries
    ):
        for _ in range(31):
            make_hold(completion=complete(dataset))

        # Session and user; the dataset; the counts; the number of rows; the rows.
        with django_assert_max_num_queries(6):
            first = admin_client.get(HELD)
        assert "Page 1 of 2" in text(first)
        assert "Page 2 of 2" in text(admin_client.get(f"{HELD}?state=HELD&page=2"))
        assert admin_client.get(f"{HELD}?state=LOST").status_code == 404


class TestDecisionsOnThePage:
    @pytest.mark.parametrize(
        ("decision", "said"),
        [("RELEASED", "the next plan may pair it"), ("DROPPED", "no plan will pair it")],
    )
    def test_are_kept_with_who_and_why(self, admin_client, admin_user, dataset, decision, said):
        held = make_held(dataset)

        page = text(post(admin_client, held, decision=decision, reason="I read it."))

        held.refresh_from_db()
        assert (held.state, held.decision_reason) == (decision, "I read it.")
        assert held.decided_by == admin_user
        assert said in page
        assert "I read it." in text(admin_client.get(f"{HELD}?state={decision}"))

    @pytest.mark.parametrize(
        ("posted", "said"),
        [
            ({"decision": "RELEASED", "reason": " "}, "Say why"),
            ({"reason": "x"}, "Choose"),
            ({"decision": "HELD", "reason": "x"}, "Select a valid choice"),
        ],
        ids=["no reason", "no decision", "another decision"],
    )
    def test_that_lack_something_change_nothing(self, admin_client, dataset, posted, said):
        held = make_held(dataset)

        assert said in text(post(admin_client, held, **posted))
        held.refresh_from_db()
        assert held.state == HoldState.HELD


class TestDecidingSeveralAtOnce:
    def decide(self, client, held, **posted):
        address = f"{reverse('contexts:decide_many', args=['talks'])}?state=HELD"
        return client.post(address, {"holds": [one.pk for one in held]} | posted, follow=True)

    def test_are_released_with_one_reason(self, admin_client, dataset):
        first, second, third = (make_held(dataset) for _ in range(3))

        answer = self.decide(admin_client, [first, second, first], **RELEASED)

        assert "2: Released" in text(answer)
        assert set(Hold.objects.values_list("pk", "state", "decision_reason")) == {
            (first.pk, "RELEASED", "A saying."),
            (second.pk, "RELEASED", "A saying."),
            (third.pk, "HELD", ""),
        }

    @pytest.mark.parametrize(
        ("posted", "said"),
        [
            ({"decision": "RELEASED"}, "Say why"),
            ({"reason": "A saying."}, "Choose: release it, or drop it."),
            (RELEASED | {"holds": []}, "Nothing was decided"),
            (RELEASED | {"holds": ["x", "²", "9" * 5000]}, "Nothing was decided"),
        ],
        ids=["no reason", "no decision", "none", "none that is there"],
    )
    def test_nothing_is_decided_where_nothing_is_meant(self, admin_client, dataset, posted, said):
        held = make_held(dataset)

        assert said in text(self.decide(admin_client, [held], **posted))
        assert Hold.objects.get().state == HoldState.HELD
