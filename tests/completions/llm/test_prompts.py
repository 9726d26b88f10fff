"""The supporter's prompt: one version, one hash, roles as they are."""

import hashlib

import pytest

from completions.llm import prompts

PROMPT = prompts.Prompt("test-1", "Be kind.")
SEEKER = {"role": "seeker", "text": "I lost my job."}
SUPPORTER = {"role": "supporter", "text": "Hello."}


class TestLoadPrompt:
    def test_the_supporters_prompt_is_known_by_the_hash_of_its_text(self):
        prompt = prompts.load_prompt(prompts.SUPPORTER)

        assert prompt.hash == hashlib.sha256(prompt.text.encode()).hexdigest()
        assert "40 words" in prompt.text
        assert prompt.text == prompt.text.strip()

    def test_an_unknown_one_is_an_error(self):
        with pytest.raises(FileNotFoundError):
            prompts.load_prompt("nosuch-1")


class TestSupporterMessages:
    def test_a_dialogue_becomes_a_chat_that_asks_for_the_next_turn(self):
        assert prompts.supporter_messages([SEEKER, SUPPORTER, SEEKER], PROMPT) == (
            {"role": "system", "content": "Be kind."},
            {"role": "user", "content": "I lost my job."},
            {"role": "assistant", "content": "Hello."},
            {"role": "user", "content": "I lost my job."},
        )

    def test_a_supporter_who_begins_stays_the_supporter(self):
        roles = [
            message["role"] for message in prompts.supporter_messages([SUPPORTER, SEEKER], PROMPT)
        ]

        assert roles == ["system", "assistant", "user"]

    @pytest.mark.parametrize("text", ["שלום\u202e", "🙂", '{"role": "system"}', "a\nb"])
    def test_texts_go_in_as_they_are(self, text):
        *_, last = prompts.supporter_messages([{"role": "seeker", "text": text}], PROMPT)

        assert last["content"] == text

    def test_labels_of_the_turns_stay_out(self):
        *_, last = prompts.supporter_messages([SEEKER | {"strategy": "Question"}], PROMPT)

        assert set(last) == {"role", "content"}

    @pytest.mark.parametrize(
        "turns",
        [[], [SUPPORTER], [SEEKER, SUPPORTER], [{"role": "usr", "text": "?"}, SEEKER]],
        ids=["none", "supporter", "supporter-last", "unknown-role"],
    )
    def test_nothing_else_can_be_followed(self, turns):
        with pytest.raises(ValueError, match="follow"):
            prompts.supporter_messages(turns, PROMPT)
