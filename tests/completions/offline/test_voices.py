"""The simulated supporters: varied, in character, safe, and never repeating who or where."""

import pytest

from completions.offline import voices
from completions.offline.lexicon import STOCK_PHRASES, HeardTurns, listen, plain, words

SEEKER_TURNS = [
    "My boss keeps shouting at me and I am so stressed.",
    "Since Priya Raman moved to 14 Elm Street I feel lonely, call me at 555-0134.",
    "The exam is on Friday and I can't sleep.",
    "We have three months of rent to pay and no income.",
    "My dad won't talk to me since the wedding.",
    "I don't know what to say, it is all just grey.",
    "My grandmother died in March and the house is so quiet.",
    "I feel guilty about my sister.",
    "My roommate told everyone about it and I am so embarrassed.",
    "Every night I lie awake and worry.",
    "The doctor said it will take months and the pain is still there.",
    "We are moving to another city and I am scared.",
    "My girlfriend left and I am heartbroken.",
    "The virus took my summer and I am frustrated.",
    "I failed the test again, I feel worthless.",
]


def chat(*seeker_turns: str) -> list[dict[str, str]]:
    return [
        {"role": "system", "content": "Be kind."},
        *({"role": "user", "content": turn} for turn in seeker_turns),
    ]


@pytest.mark.parametrize("voice", sorted(voices.VOICES))
class TestEveryVoice:
    def test_says_the_same_to_the_same_and_is_varied_over_dialogues(self, voice):
        once, again = ([voices.reply(voice, chat(turn)) for turn in SEEKER_TURNS] for _ in range(2))

        assert once == again
        assert len(set(once)) >= 13

    @pytest.mark.parametrize("turn", SEEKER_TURNS)
    def test_stays_within_one_to_three_sentences(self, voice, turn):
        reply = voices.reply(voice, chat(turn))

        n_sentences = sum(reply.count(mark) for mark in ".!?")
        assert 1 <= n_sentences <= 3
        assert 5 <= len(reply.split()) <= 50
        assert "{" not in reply

    def test_never_repeats_who_or_where_and_points_to_people_in_danger(self, voice):
        reply = voices.reply(voice, chat(SEEKER_TURNS[1]))

        for secret in ("priya", "raman", "elm", "14", "555", "0134"):
            assert secret not in plain(reply)
        assert "emergency" in voices.reply(voice, chat("Some nights I want to die."))


class TestAlder:
    def test_says_back_the_feeling_and_the_topic_and_asks(self):
        reply = voices.reply("offline-alder", chat(SEEKER_TURNS[0]))

        assert "stressed" in reply
        assert "your boss" in reply
        assert all("?" in voices.reply("offline-alder", chat(turn)) for turn in SEEKER_TURNS)

    def test_takes_anger_at_itself_seriously(self):
        angry = "You're useless, all you do is repeat what I say."

        assert voices.reply("offline-alder", chat(angry)) != voices.reply(
            "offline-alder", chat("I am fine.")
        )
        assert listen([angry]).is_hostile

    def test_lets_a_dialogue_come_to_its_end(self):
        reply = voices.reply("offline-alder", chat("Thank you, I will do that. Bye!"))

        assert "heavy to carry" not in reply
        assert listen(["Thank you, bye"]).is_closing


def test_birch_is_brief_and_offers_a_step():
    lengths = [len(voices.reply("offline-birch", chat(turn)).split()) for turn in SEEKER_TURNS]

    assert sum(lengths) / len(lengths) < 28


def test_cedar_comforts_with_stock_phrases():
    replies = [plain(voices.reply("offline-cedar", chat(turn))) for turn in SEEKER_TURNS]

    assert all(any(phrase in reply for phrase in STOCK_PHRASES) for reply in replies)


@pytest.mark.parametrize(
    ("turns", "heard"),
    [
        (["I am sad about my job.", "Now I am angry at my boss."], ("angry", "your boss", "work")),
        (["I am not sad, I wasn't lonely."], (None, None, None)),
        ([], (None, None, None)),
    ],
    ids=["the latest word counts", "a denied feeling is not said back", "nothing said"],
)
def test_what_is_said_is_heard(turns, heard):
    feeling, topic, group = heard

    assert listen(turns) == HeardTurns(feeling=feeling, topic=topic, group=group)


def test_a_loss_goes_before_the_person_and_curly_apostrophes_are_read():
    assert listen(["My wife passed away in spring."]).group == "loss"
    assert words("I don\N{RIGHT SINGLE QUOTATION MARK}t") == ["i", "don't"]
