"""What gives the source of a completion away, and what only looks as if it did."""

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from completions.dialogues.demo import DIALOGUES
from completions.dialogues.ingest.dialogue import ParsedDialogue
from completions.dialogues.ingest.files import read_dialogues
from completions.leaks import rules
from completions.leaks.rules import EXPLANATIONS, RULES, find_leaks
from completions.offline.voices import VOICES, reply
from tests.helpers.datasets import shared_file


def reasons(text, **options):
    return [leak.reason for leak in find_leaks(text, **options)]


SELF = (
    "As an AI language model, I don't have feelings, but I hear you.",
    "as an ai, I can only listen",
    "I\N{RIGHT SINGLE QUOTATION MARK}m just an AI, but I'm here to listen.",
    "I am a large language model trained to be helpful.",
    "I'm not a human, so I can't know how that feels.",
    "I'm a real person, promise, and I have been there.",
    "My training data does not cover this.",
    "I was trained by people who care about this.",
    "I'm not a bot, I do read what you write.",
    "I don't have personal experiences like that.",
    "I can't feel emotions the way you do.",
    "I'm your listener, made by Google.",
)
NAMES = (
    "You could also ask ChatGPT for a list of places.",
    "I'm Claude, and I'm glad you wrote.",
    "My name is Gemini. What happened next?",
    "OpenAI's rules ask me to say this.",
    "Maybe GPT-4o has an idea?",
    "I'm powered by Llama 3.1, so bear with me.",
    "Google Gemini here, ready to listen.",
    "Claude Sonnet would say: breathe.",
    "Kimi K2 at your side.",
    "Anthropic built me to be kind.",
)
REFUSALS = (
    "I'm sorry, but I can't assist with that.",
    "I cannot provide medical advice, but a doctor can.",
    "I'm really sorry you feel this way, but I'm unable to provide the help that you need.",
    "I can't help with that.",
    "I must decline to talk about your brother.",
    "That would go against my guidelines.",
    "I am not able to continue this conversation.",
    "I won't engage with that.",
)
UNFINISHED = (
    "It makes sense that you feel torn, and",
    "You have been carrying this alone for so long, because the",
    "What helped last time was a walk,",
    "I hear how much this has hurt you. It's",
    "That must be so exhaus-",
    "You could start with one small thing (",
    "She came with you, although . . . ",
)
MARKUP = (
    "## You are not alone\nThat sounds heavy.",
    "- Take a breath\n- Call your sister",
    "You could: 1. take a breath 2. call your sister",
    "That sounds **really** hard.",
    "Try `breathing` for a minute.",
    "See [this page](https://example.org/help) for more.",
    "See [this page](https://example.org/help[1]) for more.",
    'Here it is.\n{"text": "That sounds hard.",\n "score": 1}\nTake care.',
    "-\nbreathe in\n\n-\nbreathe out",
    "That sounds hard.<|im_end|>",
    "[INST] That sounds hard.",
    "<think>The user is sad.</think> That sounds hard.",
    "</s>",
    "Supporter: That sounds hard.",
    "**Assistant:** That sounds hard.",
    "That sounds hard. Seeker: It is.",
    "Here's a supportive response: That sounds hard.",
    "Sure! Here is one possible reply: That sounds hard.",
    '"That sounds really hard, and I am glad you told me."',
    '{"reply": "That sounds hard."}',
    "| Step | What |\n|---|---|",
)

GIVEAWAYS = {
    "empty": ("", "  \n", "...", "\N{EM DASH}", "\N{HANGUL FILLER} \N{HALFWIDTH HANGUL FILLER}."),
    "self-identification": SELF,
    "model-name": NAMES,
    "refusal": REFUSALS,
    "unfinished": UNFINISHED,
    "markup": MARKUP,
}
ALONE = {"empty", "refusal", "unfinished"}
"""Reasons whose texts have no other."""
DRESSED = (
    ("Ask GPT\N{NON-BREAKING HYPHEN}4 about it.", "model-name", "GPT-4"),
    ("Chat\N{ZERO WIDTH SPACE}GPT would say: breathe.", "model-name", "ChatGPT"),
    ("As an\N{NO-BREAK SPACE}AI, I listen.", "self-identification", "As an AI"),
    ("I am an\N{NARROW NO-BREAK SPACE}AI here.", "self-identification", "I am an AI"),
    ("As an *AI*, I listen.", "self-identification", "As an AI"),
    ("As  an AI, I listen.", "self-identification", "As an AI"),
    ("I was trained\nby people who care.", "self-identification", "I was trained by"),
    ("I\N{MODIFIER LETTER APOSTROPHE}m an AI.", "self-identification", "I'm an AI."),
    ("I can\N{ACUTE ACCENT}t help with that.", "refusal", "I can't help with that."),
)
"""What gives itself away in the plain dress that raters see."""
INNOCENT = (
    "That sounds really hard. What would help you get through tonight?",
    "My friend Claude went through the same thing with his boss.",
    "I'm a Gemini, so I know what it is like to be of two minds.",
    "It's Gemini season, of all things.",
    "Your sister Gemma sounds like someone you can trust.",
    "Is Alexa the friend you told me about?",
    "The petting zoo with the llama sounds like a lovely day.",
    "The bard said it well: this too shall pass.",
    "Lie down with your palm on your chest and breathe.",
    "Kimi was lucky to have you.",
    "I can't imagine how hard that was.",
    "I can't help but notice how much you care.",
    "I'm sorry, but I can't see how that was your fault.",
    "I'm sorry I can't help more, but I am here.",
    "I can't give that kind of pain a name either",
    "I don't have feelings for him any more was what you said; how is that now?",
    "You are not a machine, you are allowed to rest.",
    "You're treated as a number, and as a program manager you deserve better.",
    "I am a person who worries too.",
    "Your job at Google must have been stressful.",
    "Have you googled groups near you?",
    "I'm here for you :(",
    "Hang in there :)",
    "That is something to look forward to",
    "ok, what are you afraid of",
    "I feel for you",
    "It's just awful, isn't it",
    "He said: you are 1 of 2 people I trust.",
    "I made a mistake on my final 2. It happens.",
    'You said "I am fine" and I wonder whether that is true.',
    "We met at 5 - or was it 6? - and it was * lovely *.",
    "I <3 that you told her.",
    "Her response: silence. That hurts.",
    "The mistral was blowing, and you felt alone.",
    "Polaris is still up there, as you said.",
    "The answer is not yours to find alone.",
)


class TestFindLeaks:
    @pytest.mark.parametrize("reason", GIVEAWAYS)
    def test_knows_what_gives_the_source_away(self, reason, subtests):
        for text in GIVEAWAYS[reason]:
            with subtests.test(text=text):
                found = reasons(text)
                assert found == [reason] if reason in ALONE else reason in found

    def test_lets_what_people_say_pass(self, subtests):
        for text in INNOCENT:
            with subtests.test(text=text):
                assert find_leaks(text) == ()

    def test_reads_what_raters_see_too(self, subtests):
        for text, reason, matched in DRESSED:
            with subtests.test(text=text):
                assert [(one.reason, one.matched) for one in find_leaks(text)] == [
                    (reason, matched)
                ]

    def test_says_what_it_matched_and_where(self):
        text = "Well, I\N{RIGHT SINGLE QUOTATION MARK}m an AI, you know. ChatGPT, in fact."

        first, second = find_leaks(text)

        assert (first.reason, first.matched, first.start) == ("self-identification", "I'm an AI", 6)
        assert text[second.start :].startswith(second.matched)
        assert second.matched == "ChatGPT"

    def test_tells_each_reason_once_in_the_order_of_their_explanations(self):
        text = "**Sorry**, as an AI language model I can't assist with that, ask ChatGPT, or"

        assert ["empty", *reasons(text)] == [*GIVEAWAYS] == [*EXPLANATIONS]
        assert all(said.endswith(".") for said in EXPLANATIONS.values())

    def test_does_not_stumble_over_a_long_text(self):
        assert find_leaks("a 1. b " * 20_000 + "end.") == ()


def asked_for_every_pattern(monkeypatch):
    """Let each pattern be looked for in every text, whatever signs it has."""
    always = [(reason, [one._replace(signs=("",)) for one in forms]) for reason, forms in RULES]
    monkeypatch.setattr(rules, "RULES", always)


of = cache(st.from_regex)
"""What draws texts that a pattern matches, made once for each: that takes longest."""
ODD_LETTERS: tuple[dict[str, str], ...] = (
    {},
    {"i": "\u0131"},
    {"i": "\u0130"},
    {"s": "\u017f"},
    {"k": "\u212a"},
)
"""What a pattern that passes over case takes for a letter, though it is none of its two cases."""


class TestSigns:
    """To look for the signs of a pattern first leaves nothing unfound."""

    @pytest.mark.parametrize("spell", [str, str.upper, str.title])
    @pytest.mark.parametrize("letters", ODD_LETTERS)
    def test_change_nothing_of_what_is_found(self, letters, spell, monkeypatch):
        texts = [
            spell(text).translate(str.maketrans(letters))
            for text in (*SELF, *NAMES, *REFUSALS, *UNFINISHED, *MARKUP, *INNOCENT)
        ]
        found = [find_leaks(text) for text in texts]

        asked_for_every_pattern(monkeypatch)

        assert found == [find_leaks(text) for text in texts]

    @given(data=st.data())
    def test_are_in_every_text_that_the_pattern_matches(self, data):
        for reason, forms in RULES:
            for one in forms:
                text = data.draw(of(one.pattern))
                assert any(sign in rules.folded(text) for sign in one.signs), one.pattern.pattern
                assert reason != rules.UNFINISHED or not text.endswith((".", "!", "?"))

    @given(data=st.data())
    def test_a_text_that_breaks_off_need_not_be_read_from_its_start(self, data):
        for one in dict(RULES)[rules.UNFINISHED]:
            text = data.draw(of(one.pattern))
            found = [match.span() for match in one.pattern.finditer(text)]
            begin = rules.before_last_word(text)

            assert found == [match.span() for match in one.pattern.finditer(text, begin)]


class TestAlarms:
    def test_are_not_raised_by_the_authored_dialogues(self):
        turns = supporter_turns(DIALOGUES)

        assert turns
        assert [text for text in turns if find_leaks(text)] == []

    @pytest.mark.parametrize("voice", sorted(VOICES))
    def test_are_not_raised_by_simulated_supporters(self, voice):
        replies = [
            reply(voice, [{"role": "user", "content": turn.text}])
            for dialogue in dialogues(DIALOGUES)
            for turn in dialogue.turns
            if turn.role == "seeker"
        ]

        assert [text for text in replies if find_leaks(text)] == []

    @pytest.mark.parametrize("one_in", [4, pytest.param(1, marks=pytest.mark.full)])
    def test_are_rare_among_people_who_wrote_before_there_were_chat_models(self, one_in):
        turns = supporter_turns(shared_file("esconv/ESConv.json"))[::one_in]

        held = [text for text in turns if find_leaks(text)]

        assert len(held) / len(turns) < 0.005


def dialogues(path):
    return [one for one in read_dialogues(path) if isinstance(one, ParsedDialogue)]


def supporter_turns(path):
    return [turn.text for one in dialogues(path) for turn in one.turns if turn.role == "supporter"]
