"""Couplets as the rules judge them, entries of lexicons, and what holds for any text."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from completions.contexts.screening import checking, lexicon
from completions.contexts.screening import rules as screening_rules
from completions.contexts.screening.lexicon import LexiconError
from completions.contexts.screening.reading import ReadText
from completions.contexts.screening.rules import MAX_WORDS, MIN_WORDS, RULES, Finding
from completions.contexts.selection import MIN_GAP
from completions.dialogues.couplets import couplets
from completions.dialogues.demo import DIALOGUES
from completions.dialogues.ingest.dialogue import ParsedDialogue
from completions.dialogues.ingest.files import read_dialogues
from tests.helpers.datasets import REPOSITORY, shared_file

SAD = "I feel so lonely in that big house without her, and it shows in all I do."
CALM = "We had soup and then we watched the boats come in with the tide, one by one."
PLAIN = "What happened then?"
NEUTRAL = " The kettle stood by the window. "

HOSTILE = [
    *("a", "1", "1-", "a.", "not ", "i ", "@", "I'm A", "www.", "https://", "a at a dot "),
    *("My ", "Aa ", "'", " ", ":", "my name is ", "feel ... like "),
]
"""What was repeated to make a text of 60,000 letters."""


def dialogue(*texts):
    """Return turns that alternate and end with the supporter's."""
    roles = ("seeker", "supporter") * len(texts)
    first = len(texts) % 2
    return [{"role": role, "text": text} for role, text in zip(roles[first:], texts, strict=False)]


def screen(*texts, situation="", language="en"):
    return screening_rules.screen(dialogue(*texts), situation=situation, language=language)


def read(path):
    """Return the turns of each dialogue of a file, and the dialogue."""
    return [
        ([{"role": turn.role, "text": turn.text} for turn in one.turns], one)
        for one in read_dialogues(path)
        if isinstance(one, ParsedDialogue)
    ]


class TestScreen:
    def test_takes_each_couplet_with_a_signal_and_nothing_against_it(self):
        turns = dialogue(CALM, PLAIN, SAD, PLAIN, f"{CALM} Goodbye, sad survey!", PLAIN)

        found = screening_rules.screen(turns, situation="", language="en")

        first, second, third = found
        assert [one.turn_index for one in found] == couplets(turns) == [0, 2, 4]
        assert (first.is_suitable, first.reasons) == (False, ("too-early",))
        assert (second.is_suitable, second.reasons) == (True, ())  # what comes later is not read
        assert second.findings == (Finding("distress", 2, 10, 16),)
        assert (third.is_suitable, third.reasons) == (False, ("platform", "closing"))

    def test_has_no_reason_against_a_couplet_without_a_signal(self):
        """Signals and leave-taking count in the last turn alone."""
        _, point = screen(f"{SAD} Goodbye!", PLAIN, CALM, PLAIN)

        assert (point.is_suitable, point.reasons, point.findings) == (False, (), ())

    @pytest.mark.parametrize("place", ["situation", "history", "turn", "reply"])
    def test_reads_the_situation_the_history_the_turn_and_the_reply(self, place):
        bad = "There was a survey."
        texts = [CALM, PLAIN, SAD, PLAIN]
        at = {"history": 1, "turn": 2, "reply": 3}.get(place)
        if at is not None:
            texts[at] = f"{texts[at]} {bad}"

        _, point = screen(*texts, situation=bad if at is None else "")

        assert point.reasons == ("platform",)
        assert [one.turn for one in point.findings if one.rule == "platform"] == [at]

    def test_names_every_reason_once_in_the_order_of_the_rules(self):
        point, *_ = screen("Goodbye, survey. Goodbye, my medication.", "A survey.")

        assert point.reasons == ("platform", "clinical", "closing", "too-early", "too-short")

    @pytest.mark.parametrize("tag", ["en-GB", "EN", "en-Latn-US"])
    def test_reads_a_language_of_any_region_by_its_lexicons(self, tag):
        assert screen(CALM, PLAIN, SAD, PLAIN, language=tag) == screen(CALM, PLAIN, SAD, PLAIN)
        assert screening_rules.rules_version(tag) == screening_rules.rules_version("en")

    @pytest.mark.parametrize("language", ["xx", "", "..", "en/", "en_GB", "english", "und"])
    def test_removes_every_couplet_of_another_language(self, language):
        for point in screen(CALM, PLAIN, SAD, PLAIN, language=language):
            assert "language" in point.reasons
            assert not point.is_suitable

    def test_of_a_dialogue_without_couplets_is_empty(self):
        assert screening_rules.screen([], situation=SAD, language="en") == []

    def test_reads_each_text_once_however_many_couplets_show_it(self, monkeypatch):
        n_read = 0

        def counted(self):
            nonlocal n_read
            n_read += 1
            return original(self)

        original = vars(ReadText)["words"].func
        monkeypatch.setattr(vars(ReadText)["words"], "func", counted)
        screen(*[SAD, PLAIN] * 20, situation=SAD)

        assert n_read == 41


class TestDisqualifying:
    @pytest.mark.parametrize(
        ("text", "language", "found"),
        [
            ("Some nights I want to die.", "en", [Finding("self-harm", None, 14, 25)]),
            ("Bye.", "en", []),
            (SAD, "en", []),
            ("Hallo", "xx", [Finding("language", None, 0, 5)]),
        ],
        ids=["content", "form and leave-taking", "a signal", "another language"],
    )
    def test_finds_what_removes_a_text_that_stands_alone(self, text, language, found):
        assert screening_rules.disqualifying(text, language=language) == found


class TestAnyText:
    words = st.sampled_from(
        [
            *("I feel", "sad", "lonely", "kill", "myself", "bye", "thanks", "survey", "he", "hits"),
            *("medication", "me", "what", "should", "not", "don't", "\u2019", ",", ".", "!", "?"),
            *("porn", "retard", "\u0130", "\U0001f600", "kim@example.org", "212-456-7890"),
        ]
    )
    texts = st.one_of(st.text(max_size=200), st.lists(words, max_size=30).map(" ".join))

    @given(texts)
    def test_has_its_spans_inside_it_every_time(self, text):
        for rule in RULES:
            spans = rule.find(ReadText(text, index=1))

            assert all(0 <= span.start <= span.end <= len(text) for span in spans)
            assert rule.find(ReadText(text, index=1)) == spans

    @given(texts)
    def test_keeps_its_findings_beside_a_neutral_sentence(self, text):
        for rule in (one for one in RULES if one.lexicon):
            alone = [text[slice(*span)] for span in rule.find(ReadText(text))]
            beside = f"{NEUTRAL}.{text}.{NEUTRAL}"

            assert [beside[slice(*span)] for span in rule.find(ReadText(beside))] == alone

    @pytest.mark.parametrize("one_in", [10, pytest.param(1, marks=pytest.mark.full)])
    @pytest.mark.parametrize("piece", HOSTILE)
    def test_that_is_long_and_hostile_is_read_to_its_end(self, piece, one_in):
        """A rule that tried every way to fail would not come back."""
        text = piece * (60_000 // len(piece) // one_in)
        for rule in RULES:
            spans = rule.find(ReadText(text, index=1))

            assert all(0 <= start < end <= len(text) for start, end in spans)


class TestRulesVersion:
    def test_has_a_number_and_a_hash_for_each_language_and_fits_its_column(self):
        version = screening_rules.rules_version("en")

        assert re.fullmatch(r"screening-\d+ [0-9a-f]{12}", version)
        assert len(version) <= 64
        assert version != screening_rules.rules_version("xx")

    @pytest.mark.parametrize(
        ("name", "decides"),
        [
            ("rules.py", True),
            ("personal/names.py", True),
            ("lexicons/en/hate.txt", True),
            ("highlights.py", False),
        ],
    )
    def test_changes_with_what_decides_and_with_nothing_else(
        self, name, decides, tmp_path, monkeypatch
    ):
        here = screening_rules.HERE
        copies = [path for path in here.rglob("*") if path.suffix in {".py", ".txt"}]
        for path in copies:
            (tmp_path / path.relative_to(here)).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path.relative_to(here)).write_bytes(path.read_bytes())
        monkeypatch.setattr(screening_rules, "HERE", tmp_path)
        fresh = screening_rules.rules_version.__wrapped__

        assert fresh("en") == screening_rules.rules_version("en")
        with (tmp_path / name).open("a") as file:
            file.write("# one more line\n")
        assert (fresh("en") != screening_rules.rules_version("en")) is decides


class TestTheDemonstration:
    def test_gives_two_suitable_couplets_far_enough_apart_in_every_dialogue(self):
        for turns, one in read(DIALOGUES):
            found = screening_rules.screen(turns, situation=one.situation, language="en")
            places = [point.turn_index for point in found if point.is_suitable]

            assert places, one.situation
            assert max(places) - min(places) >= MIN_GAP, one.situation


class TestThePage:
    PAGE = (REPOSITORY / "docs" / "dialogues.md").read_text(encoding="utf-8")

    def test_has_a_row_for_each_rule_as_it_is(self):
        for rule in RULES:
            reads = "last turn" if rule.reads == ("turn",) else "all"

            assert f"| `{rule.name}` | {rule.kind} | {reads} |" in self.PAGE

    def test_says_how_short_and_how_long_a_turn_may_be(self):
        assert f"fewer than {MIN_WORDS} words" in self.PAGE
        assert f"more than {MAX_WORDS} words" in self.PAGE


@pytest.fixture(scope="module")
def esconv():
    return read(shared_file("esconv/ESConv.json"))


class TestESConv:
    @pytest.mark.parametrize(
        ("one_in", "couplets_in_all"),
        [(10, 1_451), pytest.param(1, 14_642, marks=pytest.mark.full)],
    )
    def test_leaves_between_300_and_2100_candidates_of_all_couplets(
        self, esconv, one_in, couplets_in_all
    ):
        n_couplets, suitable, dialogues = 0, 0, set()
        for turns, one in esconv[::one_in]:
            for point in screening_rules.screen(turns, situation=one.situation, language="en"):
                n_couplets += 1
                suitable += point.is_suitable
                dialogues |= {one.content_hash} if point.is_suitable else set()

        assert n_couplets == couplets_in_all
        assert 300 <= suitable * one_in <= 2_100
        assert len(dialogues) * one_in >= 300

    @pytest.mark.parametrize(
        ("sample", "precision", "recall"),
        [("tuning", (19, 20), (19, 35)), ("held-out", (9, 12), (9, 36))],
    )
    def test_agrees_with_readers_as_well_as_the_page_says(self, esconv, sample, precision, recall):
        labels = checking.read_labels(checking.LABELS / f"{sample}.csv")
        wanted = {label.point[0] for label in labels}
        screened = {
            (one.content_hash[: checking.PREFIX], point.turn_index): point
            for turns, one in esconv
            if one.content_hash[: checking.PREFIX] in wanted
            for point in screening_rules.screen(turns, situation=one.situation, language="en")
        }

        suitable, *_ = checking.compare(labels, screened)

        assert (suitable.precision, suitable.recall) == (precision, recall)


def in_text(entries, text):
    """Return what a lexicon of these lines finds in a text."""
    spans = lexicon.parse(entries, name="test.txt").find(ReadText(text))
    return [text[span.start : span.end] for span in spans]


ENTRIES = {
    "a whole word": ("art", "Art is no party, and art's end is art.", ["Art", "art's", "art"]),
    "a star": ("art*", "artful people party", ["artful"]),
    "a bar": ("tea|milk now", "Milk now, tea later, tea now", ["Milk now", "tea now"]),
    "any case": ("Tea time", "TEA TIME, tea Time", ["TEA TIME", "tea Time"]),
    "any apostrophe or none": (
        "don't go",
        "don't go, don\u2019t go, DONT go, don`t go",
        ["don't go", "don\u2019t go", "DONT go", "don`t go"],
    ),
    "no shortened word": ("ill", "I'll come, he'll come", []),
    "stretched letters": ("so sad", "sooooo sad, so saaaad", ["sooooo sad", "so saaaad"]),
    "double letters": ("god", "a good god", ["god"]),
    "a hyphen": ("well-known", "a well known, well-known man", ["well known", "well-known"]),
    "no gap": ("lost ... way", "lost way", ["lost way"]),
    "a gap of three words": ("lost ... way", "lost all of my way", ["lost all of my way"]),
    "a gap of four words": ("lost ... way", "lost in all of the way", []),
    "a gap over a comma": ("so ... tired", "so, well, tired", ["so, well, tired"]),
    "a gap over two sentences": ("so ... tired", "I think so. Tired?", []),
    "two sentences": ("go home", "I go. Home is far", []),
    "a comma": ("go home", "I go, home is far", []),
    "the longest alone": ("tea\ntea cup\ncup", "a tea cup", ["tea cup"]),
    "after another": ("i feel > sad", "I feel sad, and it is sad", ["sad"]),
    "a gap after another": ("i ... > sad", "I was very sad. Sad", ["sad"]),
    "denied after another": ("i ... > sad\n- not ~", "I am not sad, I am very sad", ["sad"]),
    "inside an exception": ("kill*\n- killing time", "killing time is not killing", ["killing"]),
    "over an exception": ("sad day\n- so sad", "so sad day", ["sad day"]),
    "an exception before it": ("sad\nlonely\n- not ~", "sad, not lonely, not sad", ["sad"]),
    "an exception around it": ("sad\n- not ... ~ at all", "not so very sad at all", []),
    "half an exception": ("sad\n- not ... ~ at all", "not so very sad", ["sad"]),
}


@pytest.mark.parametrize(("lines", "text", "spans"), ENTRIES.values(), ids=ENTRIES)
def test_an_entry_is_found_as_a_lexicon_says(lines, text, spans):
    assert in_text(lines, text) == spans


class TestALexiconFile:
    @pytest.mark.parametrize(
        ("lines", "error"),
        [
            ("tea\n\nco*ffee", r"x.txt, line 3: 'co\*ffee' is not a word"),
            ("tea & milk", "x.txt, line 1: '&' is not a word"),
            ("tea|", "x.txt, line 1: 'tea|' is not a word"),
            ("... tea", "x.txt, line 1: a phrase begins and ends with a word"),
            ("> tea", "a phrase begins and ends with a word"),
            ("tea ... >", "a phrase begins and ends with a word"),
            ("tea > ... milk", "a phrase begins and ends with a word"),
            ("tea > milk > now", "'>' is not a word"),
            ("tea\n- tea > milk", "x.txt, line 2: '>' is not a word"),
            ("tea\n- ... ~", "a phrase begins and ends with a word"),
            ("tea ...", "begins and ends with a word"),
            ("tea\n- ~", "x.txt, line 2: '- ~': an exception has one ~, and a word"),
            ("tea\n- ~ milk ~", "x.txt, line 2: .* has one ~"),
            ("tea ~", "x.txt, line 1: 'tea ~': ~ stands in exceptions only"),
            ("tea\nmilk\nTea # again", "x.txt, line 3: 'Tea' is on line 1 already"),
            ("# nothing\n\n", "x.txt: holds no entry"),
            ("- not ~", "x.txt: holds no entry"),
        ],
    )
    def test_is_refused_with_the_line_at_fault(self, lines, error):
        with pytest.raises(LexiconError, match=error.replace("|", r"\|")):
            lexicon.parse(lines, name="x.txt")

    def test_that_is_missing_is_refused(self):
        with pytest.raises(LexiconError, match=r"no-such-rule\.txt: cannot be read"):
            lexicon.load("en", "no-such-rule")

    @pytest.mark.parametrize("language", sorted(lexicon.languages()))
    def test_exists_for_each_lexical_rule_and_for_nothing_else(self, language):
        files = {path.stem for path in (lexicon.LEXICONS / language).iterdir()}

        assert files == {rule.name for rule in RULES if rule.lexicon} | {"not-names"}
