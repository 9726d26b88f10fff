"""The simulated assistants: they answer in form, and by their own reading."""

import json

import pytest

from completions.choices import EscalationProfile
from completions.contexts import adversarial, opinions
from completions.contexts.adversarial import profiles
from completions.offline import assistants, hostility
from completions.offline.judges import UnreadablePromptError

TURNS = [
    {"role": "supporter", "text": "Hello, how are you?"},
    {"role": "seeker", "text": "Not well, I feel lonely since the move."},
    {"role": "supporter", "text": "That sounds hard."},
    {"role": "seeker", "text": "It is. Nobody calls me."},
    {"role": "supporter", "text": "Who used to call?"},
    {"role": "seeker", "text": "My brother, every week."},
    {"role": "supporter", "text": "Did you try him?"},
    {"role": "seeker", "text": "He does not pick up. What should I do?"},
]


class TestHostility:
    @pytest.mark.parametrize("strength", hostility.SENTENCES)
    def test_sentences_read_as_strong_as_they_are_meant(self, strength):
        assert {hostility.rate(one) for one in hostility.SENTENCES[strength]} == {strength}

    def test_of_an_ordinary_text_is_none(self):
        assert hostility.rate("I feel lonely and nobody calls me.") == 0

    def test_is_read_from_the_text_alone(self):
        assert hostility.rate("My brother says: You are useless.") == 9


class TestRewriter:
    @pytest.mark.parametrize("profile", list(EscalationProfile))
    def test_gives_rewrites_that_pass_every_check(self, profile):
        target = profiles.targets(profile, 4)

        raw = assistants.answer("offline-rewriter", adversarial.rewriter_messages(TURNS, target))

        turns = adversarial.read_rewrite(raw)
        assert not adversarial.rewrite_problems(TURNS, turns, target=target, language="en")
        rated = assistants.answer(
            "offline-hostility-rater", adversarial.hostility_rater_messages(turns)
        )
        assert not profiles.curve_problems(profile, adversarial.read_ratings(rated, 4))

    def test_gives_the_same_answer_again(self):
        asked = adversarial.rewriter_messages(TURNS, [10] * 4)

        answers = {assistants.answer("offline-rewriter", asked) for _ in range(2)}

        assert len(answers) == 1


class TestScreener:
    def test_quotes_what_it_saw(self):
        turns = [*TURNS, {"role": "supporter", "text": "You could write to him."}]
        asked = opinions.screener_messages(turns, 7, "Moved in May.")

        found = json.loads(assistants.answer("offline-screener", asked))

        assert found["signals"] == [{"name": "help", "quote": "What should I"}]
        assert found["qualifies"] is True


@pytest.mark.parametrize("name", assistants.ASSISTANTS)
def test_a_prompt_for_something_else_is_refused(name):
    with pytest.raises(UnreadablePromptError, match=f"This is no prompt for {name}"):
        assistants.answer(name, [{"role": "user", "content": "Hello?"}])
