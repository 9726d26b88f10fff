import pytest

from completions.contexts.screening import lexicon
from completions.contexts.screening.lexicon import LexiconError
from completions.contexts.screening.reading import ReadText
from completions.contexts.screening.rules import RULES


def found(entries, text):
    """Return what a lexicon of these lines finds in a text."""
    spans = lexicon.parse(entries, name="test.txt").find(ReadText(text))
    return [text[span.start : span.end] for span in spans]


class TestAnEntry:
    def test_is_a_whole_word(self):
        assert found("art", "Art is no party, and art's end is art.") == ["Art", "art's", "art"]

    def test_with_a_star_is_every_word_that_begins_so(self):
        assert found("art*", "artful people party") == ["artful"]

    def test_with_a_bar_is_either_word(self):
        assert found("tea|milk now", "Milk now, tea later, tea now") == ["Milk now", "tea now"]

    def test_is_found_whatever_its_case(self):
        assert found("Tea time", "TEA TIME, tea Time") == ["TEA TIME", "tea Time"]

    @pytest.mark.parametrize("written", ["don't go", "don\u2019t go", "DONT go", "don`t go"])
    def test_with_an_apostrophe_is_found_without_and_with_any(self, written):
        assert found("don't go", written) == [written]

    def test_without_an_apostrophe_is_not_a_shortened_word(self):
        assert found("ill", "I'll come, he'll come") == []

    @pytest.mark.parametrize("written", ["so sad", "sooooo sad", "so saaaad", "SOOO SAAAD"])
    def test_is_found_with_stretched_letters(self, written):
        assert found("so sad", written) == [written]

    def test_keeps_double_letters_apart_from_single_ones(self):
        assert found("god", "a good god") == ["god"]

    def test_with_a_hyphen_is_found_with_and_without(self):
        assert found("well-known", "a well known, well-known house") == ["well known", "well-known"]

    def test_with_a_gap_spans_up_to_three_words(self):
        assert found("lost ... way", "lost way") == ["lost way"]
        assert found("lost ... way", "lost all of my way") == ["lost all of my way"]
        assert found("lost ... way", "lost in all of the way") == []

    def test_with_a_gap_may_cross_a_comma(self):
        assert found("so ... tired", "so, well, tired") == ["so, well, tired"]

    def test_does_not_cross_the_end_of_a_sentence(self):
        assert found("so ... tired", "I think so. Tired?") == []
        assert found("go home", "I go. Home is far") == []

    def test_without_a_gap_does_not_cross_a_comma(self):
        assert found("go home", "I go, home is far") == []

    def test_is_found_at_its_longest_and_without_overlaps(self):
        assert found("tea\ntea cup\ncup", "a tea cup") == ["tea cup"]


class TestAnEntryAfterAnother:
    def test_is_found_without_what_stands_before_it(self):
        assert found("i feel > sad", "I feel sad, and it is sad") == ["sad"]

    def test_may_stand_a_gap_away(self):
        assert found("i ... > sad", "I was very sad. Sad") == ["sad"]

    def test_can_be_denied_right_before_it(self):
        assert found("i ... > sad\n- not ~", "I am not sad, I am very sad") == ["sad"]


class TestAnException:
    def test_takes_away_what_lies_inside_it(self):
        assert found("kill*\n- killing time", "killing time is not killing") == ["killing"]

    def test_leaves_what_only_overlaps_it(self):
        assert found("sad day\n- so sad", "so sad day") == ["sad day"]

    def test_can_stand_before_any_entry(self):
        assert found("sad\nlonely\n- not ~", "sad, not lonely, not sad") == ["sad"]

    def test_can_stand_around_any_entry_with_gaps(self):
        lines = "sad\n- not ... ~ at all"

        assert found(lines, "not so very sad at all") == []
        assert found(lines, "not so very sad") == ["sad"]


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

    @pytest.mark.parametrize(
        "path", sorted(lexicon.LEXICONS.rglob("*.txt")), ids=lambda one: one.stem
    )
    def test_says_what_is_left_out(self, path):
        comments = [line for line in path.read_text().splitlines() if line.startswith("#")]

        assert len(comments) >= 3

    @pytest.mark.parametrize("language", sorted(lexicon.languages()))
    def test_exists_for_each_lexical_rule_and_for_nothing_else(self, language):
        files = {path.stem for path in (lexicon.LEXICONS / language).iterdir()}

        assert files == {rule.name for rule in RULES if rule.lexicon} | {"not-names"}
