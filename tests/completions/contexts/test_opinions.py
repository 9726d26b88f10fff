"""Second opinions: what models are asked about texts, what is taken for an answer and kept."""

import json
from functools import partial

import pytest
from django.core.management import CommandError, call_command

from completions.choices import CallState
from completions.contexts import questions
from completions.contexts.screening.rules import SIGNALS
from completions.contexts.services import opinions
from completions.contexts.services.building import screen_dataset
from completions.llm import prompts
from completions.llm.answers import InvalidAnswerError
from completions.models import Candidate, ScreeningCall
from completions.offline import Fault
from completions.runs.services import states
from completions.systems.services.registering import assistant_for
from tests.helpers.factories import (
    make_assistant,
    make_candidate,
    make_dataset,
    make_dialogue,
    make_screening_call,
)
from tests.helpers.providers import ASKS_LITELLM, let_assistants_say
from tests.helpers.threads import doing_elsewhere

pytestmark = [pytest.mark.django_db, ASKS_LITELLM]
EXAM = [
    {"role": "supporter", "text": "Hi! <b>Welcome</b>."},
    {"role": "seeker", "text": "I failed the exam."},
]
TWO_RATINGS = partial(questions.read_ratings, n=2)


class TestRewriterMessages:
    def test_hold_the_dialogue_the_targets_and_the_schema(self):
        system, user = questions.rewriter_messages(EXAM, [7])

        assert '"turns"' in system["content"]
        assert "I failed the exam." in user["content"]
        assert "<hostility>\n[7]\n</hostility>" in user["content"]
        assert "<b>" not in user["content"]  # no text closes its section

    def test_show_a_refused_answer_with_all_its_problems(self):
        *_, said, asked = questions.rewriter_messages(EXAM, [7], ("{}", ["One.", "Two."]))

        assert said == {"role": "assistant", "content": "{}"}
        assert "- One.\n- Two." in asked["content"]


class TestHostilityRaterMessages:
    def test_hold_neither_profile_nor_target(self):
        """The rating is worth something only if it does not know what was wanted."""
        text = json.dumps(questions.hostility_rater_messages(EXAM))

        assert "I failed the exam." in text
        for told in ("ALWAYS_10", "profile", "target", "<hostility>", "ramp", "spike"):
            assert told not in text


class TestPrompts:
    def test_are_named_by_the_hash_of_all_that_is_asked(self):
        prompt = questions.rewriter_prompt()

        assert prompt.name == "rewriter-1"
        assert prompt.hash != prompts.load_prompt("rewriter-1").hash
        assert "{schema}" not in prompt.text

    @pytest.mark.parametrize(
        ("module", "wording", "prompt"),
        [
            (questions, "AGAIN", questions.rewriter_prompt),
            (questions, "WANTED", questions.rewriter_prompt),
            (questions, "DIALOGUE", questions.hostility_rater_prompt),
            (prompts, "CORRECTION", questions.hostility_rater_prompt),
            (prompts, "CORRECTION", questions.screener_prompt),
        ],
    )
    def test_have_another_hash_when_any_wording_is_another(
        self, monkeypatch, module, wording, prompt
    ):
        before = prompt().hash
        monkeypatch.setattr(module, wording, "Otherwise.")

        assert prompt().hash != before


class TestAnswers:
    def test_are_turns_as_they_came_or_a_number_for_each_turn(self):
        spaced = [{"role": "supporter", "text": " Hi \n"}]

        assert questions.read_rewrite(json.dumps({"turns": spaced})) == spaced
        assert questions.read_ratings('{"hostility": [0, 10]}', 2) == [0, 10]

    @pytest.mark.parametrize(
        ("read", "raw"),
        [
            (questions.read_rewrite, '{"turns": [{"role": "user", "text": "Hi"}]}'),
            (questions.read_rewrite, '{"turns": [{"role": "seeker"}]}'),
            (questions.read_rewrite, '{"turns": [{"role": "seeker", "text": "a\\u0000"}]}'),
            (questions.read_rewrite, '{"turns": [{"role": "seeker", "text": "\\ud800"}]}'),
            (TWO_RATINGS, '{"hostility": [1]}'),
            (TWO_RATINGS, '{"hostility": [1, 2, 3]}'),
            (TWO_RATINGS, '{"hostility": [1, 11]}'),
            (TWO_RATINGS, '{"hostility": [1, 2.5]}'),
        ],
        ids=[
            *("another role", "no text", "NUL", "surrogate"),
            *("too few", "too many", "off the scale", "a fraction"),
        ],
    )
    def test_of_another_shape_are_refused(self, read, raw):
        with pytest.raises(InvalidAnswerError):
            read(raw)


TURNS = [
    {"role": "supporter", "text": "Hello, how are you?"},
    {"role": "seeker", "text": "Hi."},
    {"role": "supporter", "text": "What brings you here?"},
    {
        "role": "seeker",
        "text": "I feel so sad  and lonely since my friend moved away, and the house is quiet.",
    },
    {"role": "supporter", "text": "That sounds hard."},
]
LAST = TURNS[3]["text"]
TEXTS = ["Moved in May.", *(turn["text"] for turn in TURNS)]
OPINION = {
    "signals": [{"name": "distress", "quote": "sad and lonely"}],
    "disqualifiers": [],
    "reason": "A painful feeling is told.",
    "qualifies": True,
}
CONTENT = [
    "self-harm", "hate", "sexual", "violence", "personal-data", "platform", "clinical", "closing",
]  # fmt: skip


def read(**changes):
    return questions.read_opinion(json.dumps(OPINION | changes), last=LAST, texts=TEXTS)


class TestScreenerMessages:
    def test_show_what_a_reader_of_the_candidate_would_see_and_no_more(self):
        later = {"role": "seeker", "text": "What comes later."}

        _, user = questions.screener_messages([*TURNS, later], 3, "Moved in May.")

        assert all(text in user["content"] for text in TEXTS)
        assert "What comes later." not in user["content"]

    def test_define_every_signal_and_disqualifier_that_may_be_named(self):
        prompt = questions.screener_prompt().text

        schema = json.dumps(questions.OPINION_SCHEMA)
        for name in (*SIGNALS, *CONTENT):
            assert f"- {name}: " in prompt
            assert f'"{name}"' in schema


UNFOUNDED = {
    "invented quote": (
        {"signals": [{"name": "help", "quote": "please help"}]},
        "quote of help does not stand in the seeker's last turn",
    ),
    "quote of somebody else": (
        {"signals": [{"name": "distress", "quote": "sounds hard"}]},
        "does not stand in the seeker's last turn",
    ),
    "invented fault": (
        {"disqualifiers": [{"name": "hate", "quote": "nobody said"}], "qualifies": False},
        "quote of hate does not stand in the text",
    ),
    "suits without a signal": ({"signals": []}, "a signal is missing"),
    "suits with a fault": (
        {"disqualifiers": [{"name": "platform", "quote": "Hello"}]},
        "a disqualifier is named",
    ),
    "unknown signal": ({"signals": [{"name": "joy", "quote": "lonely"}]}, "signals"),
    "no reason": ({"reason": " "}, "reason"),
    "no truth value": ({"qualifies": "yes"}, "qualifies"),
}


class TestReadOpinion:
    def test_returns_what_was_said(self):
        assert read() == OPINION

    @pytest.mark.parametrize(("changes", "fault"), UNFOUNDED.values(), ids=UNFOUNDED)
    def test_refuses_what_is_unfounded_or_contradicts_itself(self, changes, fault):
        with pytest.raises(InvalidAnswerError, match=fault):
            read(**changes)


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
        say(OPINION, OPINION)

        report = gather(told=lambda *counts: told.append(counts))

        assert (report.n_asked, report.n_given, report.n_agreed) == (2, 2, 2)
        assert (told[0], told[-1]) == ((0, 2), (2, 2))
        suitable = Candidate.objects.filter(dialogue__dataset=dataset, is_suitable=True)
        assert {call.candidate for call in ScreeningCall.objects.all()} == set(suitable)
        call = ScreeningCall.objects.earliest("pk")
        assert (call.opinion, call.raw_answer) == (OPINION, json.dumps(OPINION))
        assert call.prompt_hash == questions.screener_prompt().hash
        asked = json.dumps([call.request["messages"] for call in provider.calls])
        assert "melancholy" not in asked
        assert "relocation" not in asked
        assert gather().n_asked == len(provider.calls) == 2

    def test_leaves_what_the_rules_found_as_it_was(self, dataset, gather, say):
        before = list(Candidate.objects.order_by("pk").values())
        say(*[OPINION | {"qualifies": False}] * 2)

        assert gather().n_agreed == 0
        assert list(Candidate.objects.order_by("pk").values()) == before

    def test_asks_another_assistant_of_its_own(self, gather):
        gather()
        other = make_assistant(
            name="Simulated twin", model_id="hosted_vllm/offline-screener", is_simulated=True
        )

        assert gather(assistant=other).n_given == 2
        assert ScreeningCall.objects.count() == 4

    def test_frees_the_claims_of_a_killed_run_at_once(self, gather, clock, monkeypatch):
        assistant = assistant_for("screener", "offline")
        claimed = {"state": CallState.CLAIMED, "claimed_at": clock(), "attempts": 1}
        for candidate in Candidate.objects.filter(is_suitable=True):
            make_screening_call(candidate=candidate, assistant=assistant, **claimed)
        monkeypatch.setattr("completions.runs.pulling.STOPPING.wait", pytest.fail)

        assert gather().n_given == 2

    def test_tells_how_far_it_is_while_nothing_can_be_asked(self, gather, told, told_before):
        gather(told=lambda *counts: told.append(counts))

        assert told_before[1] == told_before[0] + 1


class TestUnusableAnswers:
    def test_are_asked_for_once_more_with_the_fault(self, gather, say, provider):
        say(OPINION | {"signals": []}, OPINION, OPINION)

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


class TestScreenCommand:
    @pytest.fixture
    def screen(self, capsys, dataset):
        """Return what screens the dataset, with a dialogue that is new, and what it printed."""
        make_dialogue(dataset=dataset, turns=TURNS)

        def _screen(*options):
            call_command("contexts", "screen", "--dataset", dataset.slug, *options)
            return capsys.readouterr()

        return _screen

    def test_counts_couplets_and_asks_nobody(self, screen, nobody):
        said = screen()

        assert "6 couplets, 3 suitable" in said.out
        assert "opinions" not in said.out
        assert "dialogues screened" in said.err
        assert not ScreeningCall.objects.exists()

    def test_asks_for_opinions_when_told_to(self, screen, nobody):
        said = screen("--opinions")

        assert "Simulated screener: 3 opinions of 3" in said.out
        assert "3 of 3 opinions" in said.err

    def test_refuses_while_another_is_at_it(self, screen, provider):
        with doing_elsewhere("gathering opinions"), pytest.raises(CommandError) as caught:
            screen("--opinions")

        assert str(caught.value).startswith("another process is gathering opinions now")
