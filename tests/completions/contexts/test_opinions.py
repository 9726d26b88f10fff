"""Second opinions: asked about suitable candidates once, kept beside what the rules found."""

import json
from functools import partial

import pytest

from completions.choices import CallState
from completions.contexts import questions
from completions.contexts.services import opinions
from completions.contexts.services.building import screen_dataset
from completions.models import Candidate, ScreeningCall
from completions.offline import Fault
from completions.runs.services import states
from completions.systems.services.registering import assistant_for
from tests.helpers.factories import make_candidate, make_dataset, make_dialogue
from tests.helpers.providers import ASKS_LITELLM, let_assistants_say

pytestmark = [pytest.mark.django_db, ASKS_LITELLM]
TURNS = [
    {"role": "supporter", "text": "Hello, how are you?"},
    {"role": "seeker", "text": "Hi."},
    {"role": "supporter", "text": "What brings you here?"},
    {
        "role": "seeker",
        "text": "I feel so sad and lonely since my friend moved away, and the house is quiet.",
    },
    {"role": "supporter", "text": "That sounds hard."},
]
SUITS = {
    "signals": [{"name": "distress", "quote": "sad and lonely"}],
    "disqualifiers": [],
    "reason": "A painful feeling is told.",
    "qualifies": True,
}


@pytest.fixture
def dataset(now):
    dataset = make_dataset()
    for _ in range(2):
        make_dialogue(dataset=dataset, turns=TURNS)
    screen_dataset(dataset=dataset, now=now)
    return dataset


@pytest.fixture
def gather(provider, clock, dataset):
    def _gather(**options):
        asked = {"assistant": assistant_for("screener", "offline"), "clock": clock} | options
        return opinions.gather_opinions(dataset=dataset, **asked)

    return _gather


@pytest.fixture
def say(monkeypatch):
    """Let the screener say these, one per call."""
    return partial(let_assistants_say, monkeypatch)


class TestGathering:
    def test_asks_about_each_suitable_candidate_once_without_its_labels(
        self, dataset, gather, say, told, provider
    ):
        make_candidate(dialogue=make_dialogue())  # of another dataset
        dataset.dialogues.update(emotion_type="melancholy", problem_type="relocation")
        say(SUITS, SUITS)

        report = gather(told=lambda *counts: told.append(counts))

        assert (report.n_asked, report.n_given, report.n_agreed) == (2, 2, 2)
        assert (told[0], told[-1]) == ((0, 2), (2, 2))
        suitable = Candidate.objects.filter(dialogue__dataset=dataset, is_suitable=True)
        assert {call.candidate for call in ScreeningCall.objects.all()} == set(suitable)
        call = ScreeningCall.objects.earliest("pk")
        assert (call.opinion, call.raw_answer) == (SUITS, json.dumps(SUITS))
        assert call.prompt_hash == questions.screener_prompt().hash
        asked = json.dumps([call.request["messages"] for call in provider.calls])
        assert "melancholy" not in asked
        assert "relocation" not in asked
        assert gather().n_asked == len(provider.calls) == 2

    def test_leaves_what_the_rules_found_as_it_was(self, dataset, gather, say):
        before = list(Candidate.objects.order_by("pk").values())
        say(*[SUITS | {"qualifies": False}] * 2)

        assert gather().n_agreed == 0
        assert list(Candidate.objects.order_by("pk").values()) == before

    def test_asks_another_assistant_of_its_own(self, gather, clock):
        gather()
        other = assistant_for("rewriter", "offline")  # some other row
        type(other).objects.filter(pk=other.pk).update(model_id="hosted_vllm/offline-screener")
        other.refresh_from_db()

        assert gather(assistant=other).n_given == 2
        assert ScreeningCall.objects.count() == 4

    def test_frees_the_claims_of_a_killed_run_at_once(self, gather, clock, monkeypatch):
        assistant = assistant_for("screener", "offline")
        for candidate in Candidate.objects.filter(is_suitable=True):
            ScreeningCall.objects.create(
                candidate=candidate,
                assistant=assistant,
                state=CallState.CLAIMED,
                claimed_at=clock(),
                created_at=clock(),
                attempts=1,
            )
        monkeypatch.setattr("completions.runs.pulling.STOPPING.wait", pytest.fail)

        assert gather().n_given == 2

    def test_tells_how_far_it_is_while_nothing_can_be_asked(self, gather, told, told_before):
        gather(told=lambda *counts: told.append(counts))

        assert told_before[1] == told_before[0] + 1


class TestUnusableAnswers:
    def test_are_asked_for_once_more_with_the_fault(self, gather, say, provider):
        say(SUITS | {"signals": []}, SUITS, SUITS)

        assert gather().n_given == 2
        again = [one for one in provider.calls if len(one.request["messages"]) == 4]
        assert "a signal is missing" in again[0].request["messages"][-1]["content"]

    def test_are_kept_as_invalid_the_second_time(self, gather, say):
        say("no", "no", "no", "no")

        report = gather()

        assert (report.n_asked, report.n_given, report.n_agreed) == (2, 0, 0)
        assert set(ScreeningCall.objects.values_list("state", "raw_answer")) == {
            (CallState.INVALID, "no")
        }


class TestFailures:
    def test_of_one_text_leave_that_one_without_an_opinion(self, gather, provider):
        provider.script.append(Fault.FILTERED)

        report = gather()

        assert (report.n_asked, report.n_given) == (2, 1)

    def test_of_every_text_stop_the_run_and_are_asked_again(self, gather, provider):
        provider.script += [Fault.UNAUTHORIZED] * 2

        with pytest.raises(states.ProviderRefusesError, match="authentication"):
            gather()

        assert gather().n_given == 2
