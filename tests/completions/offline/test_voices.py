"""The simulated models: supporters in character, and others whose quality is planted.

Supporters are varied and safe, and never repeat who or where; the names of planted models say
what a study should find of them.
"""

import numpy as np
import pytest

from annotation.judges.prompts import PAIR, read_judge_answer
from annotation.studies.rubric import load_rubric
from completions.offline import planted, voices
from completions.offline.answers import RefusedRequestError, make_answer
from completions.offline.lexicon import STOCK_PHRASES, HeardTurns, listen, plain, words
from completions.offline.planted import DIMENSIONS, PlantedJudge, PlantedWriter

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
        cross, calm = (voices.reply("offline-alder", chat(turn)) for turn in (angry, "I am fine."))

        assert cross != calm
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


RUBRIC = load_rubric("heart-1")
TURNS = [{"role": "seeker", "text": "My boss keeps shouting and I feel low."}]
ALL, NONE = dict.fromkeys(DIMENSIONS, 1.0), dict.fromkeys(DIMENSIONS, 0.0)
FAIR = PlantedJudge("oak", noise=0.0, first=0.0, longer=0.0)


def texts(shares, n: int = 400) -> list[str]:
    return [planted.write(shares, ["I feel low about work."], draw=str(one)) for one in range(n)]


def verdict(judge: PlantedJudge, a: str, b: str):
    messages = PAIR.messages(RUBRIC, TURNS, a=a, b=b)
    return read_judge_answer(planted.answer(judge.name, messages), RUBRIC.keys)


class TestPlantedNames:
    @pytest.mark.parametrize(
        "name", ["offline-planted-63-69-91-75-90", "offline-planted-0-5-100-7-8-20ms"]
    )
    def test_of_writers_say_all_that_is_planted(self, name):
        writer = PlantedWriter.of(name)

        assert writer is not None
        assert writer.name == name

    def test_of_judges_say_all_that_is_planted(self):
        judge = PlantedJudge.of("offline-judge-planted-oak-30-15-50")

        assert judge == PlantedJudge("oak", noise=0.3, first=0.15, longer=0.5)
        assert judge.name == "offline-judge-planted-oak-30-15-50"

    @pytest.mark.parametrize(
        "name",
        [
            "offline-planted-63-69-91-75",
            "offline-planted-63-69-91-75-101",
            "offline-planted-63-69-91-75-90-soon",
            "offline-judge-planted-oak-30-15",
            "offline-judge-planted--30-15-50",
        ],
    )
    def test_of_any_other_form_are_no_model(self, name):
        with pytest.raises(RefusedRequestError, match="no model"):
            make_answer(name, chat("I feel low."), None)


class TestPlantedMessages:
    @pytest.mark.parametrize("key", DIMENSIONS)
    def test_serve_a_dimension_well_in_the_planted_share(self, key):
        shares = NONE | {key: 0.7}

        found = [planted.parts_done_well(text) for text in texts(shares)]

        assert np.mean([key in one for one in found]) == pytest.approx(0.7, abs=0.07)
        assert set().union(*found) == {key}

    def test_are_as_long_when_they_are_good_as_when_they_are_poor(self):
        good, poor = (np.mean([len(one) for one in texts(shares)]) for shares in (ALL, NONE))

        assert good == pytest.approx(poor, rel=0.02)

    def test_are_the_same_for_the_same_chat_and_point_to_people_in_danger(self):
        name = PlantedWriter(ALL, 0.0).name

        one, other = (planted.answer(name, chat("I feel low.")) for _ in range(2))

        assert one == other
        assert "emergency" in planted.write(ALL, ["Some nights I want to die."], draw="")

    def test_of_people_have_hardly_any_part(self):
        assert planted.parts_done_well("Have you talked to your mom about it?") == frozenset()

    @pytest.mark.parametrize("turn", SEEKER_TURNS)
    def test_stay_within_three_sentences_and_repeat_nothing_of_the_seeker(self, turn):
        for shares in (ALL, NONE):
            text = planted.write(shares, [turn], draw=turn)

            assert sum(text.count(mark) for mark in ".!?") == 3
            assert len(text.split()) <= 50
            assert "{" not in text
            assert "priya" not in text.lower()


class TestPlantedJudges:
    def test_prefer_the_message_that_serves_more_dimensions_on_either_side(self):
        good, poor = texts(ALL, 1)[0], texts(NONE, 1)[0]

        assert verdict(FAIR, good, poor).verdict == 5
        assert verdict(FAIR, poor, good).verdict == -5

    def test_mark_the_dimensions_that_tell_two_messages_apart(self):
        one, other = (texts(NONE | {key: 1.0}, 1)[0] for key in "HT")

        marks = verdict(FAIR, one, other).marks

        assert {key: np.sign(mark) for key, mark in marks.items()} == {
            "H": 1, "E": 0, "A": 0, "R": 0, "T": -1,
        }  # fmt: skip

    def test_are_drawn_to_the_first_place_and_the_longer_by_as_much_as_is_planted(self):
        to_first = PlantedJudge("oak", noise=0.0, first=0.4, longer=0.0)
        to_longer = PlantedJudge("oak", noise=0.0, first=0.0, longer=0.5)
        one, other = texts(ALL, 2)

        forth, back = to_first.lead("", one, other), to_first.lead("", other, one)
        lead = to_longer.lead("", one + one, one) - FAIR.lead("", one + one, one)

        assert (forth + back) / 2 == pytest.approx(0.4)
        assert lead == pytest.approx(0.5)

    def test_agree_with_each_other_more_often_than_not(self):
        judges = [PlantedJudge(tree, noise=0.3, first=0.0, longer=0.0) for tree in ("oak", "ash")]
        mixed = texts(dict.fromkeys(DIMENSIONS, 0.5))
        pairs = list(zip(mixed[::2], mixed[1::2], strict=True))

        alike = [len({judge.lead("", *pair) > 0 for judge in judges}) == 1 for pair in pairs]

        assert 0.7 < np.mean(alike) < 1.0

    def test_answer_nothing_else(self):
        with pytest.raises(RefusedRequestError, match="not a judging prompt"):
            make_answer(FAIR.name, chat("Which is better?"), None)


class TestPlantedReasons:
    def test_praise_what_one_message_does_better(self):
        said = {
            planted.reason(frozenset("HE"), frozenset("H"), draw=str(one)).partition(";")[0]
            for one in range(50)
        }

        assert said == {planted.PRAISE["E"]}

    def test_blame_only_what_the_other_message_lacks(self):
        sides = frozenset(DIMENSIONS), frozenset("HEAR")
        said = [planted.reason(*sides, draw=str(one)) for one in range(50)]

        assert {one.partition("; the other ")[2] for one in said} == {"", planted.BLAME["T"]}
