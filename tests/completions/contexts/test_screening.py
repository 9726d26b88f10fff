"""Couplets as the rules judge them, and what holds for any text."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from completions.contexts import screening
from completions.contexts.screening import Finding, checking
from completions.contexts.screening import rules as screening_rules
from completions.contexts.screening.reading import ReadText
from completions.contexts.screening.rules import MAX_WORDS, MIN_WORDS, RULES
from completions.contexts.selection import MIN_GAP
from completions.dialogues import ingest
from completions.dialogues.couplets import couplets
from completions.dialogues.demo import DIALOGUES
from tests.helpers.datasets import shared_file

SAD = "I feel so lonely in that big house without her, and it shows in all I do."
CALM = "We had soup and then we watched the boats come in with the tide, one by one."
PLAIN = "What happened then?"
NEUTRAL = " The kettle stood by the window. "


def dialogue(*texts):
    """Return turns that alternate and end with the supporter's."""
    roles = ("seeker", "supporter") * len(texts)
    first = len(texts) % 2
    return [{"role": role, "text": text} for role, text in zip(roles[first:], texts, strict=False)]


def screen(*texts, situation="", language="en"):
    return screening.screen(dialogue(*texts), situation=situation, language=language)


def read(path):
    """Return the turns of each dialogue of a file, and the dialogue."""
    return [
        ([{"role": turn.role, "text": turn.text} for turn in one.turns], one)
        for one in ingest.read_dialogues(path)
        if isinstance(one, ingest.ParsedDialogue)
    ]


class TestScreen:
    def test_gives_one_result_per_couplet_in_order(self):
        turns = dialogue(CALM, PLAIN, SAD, PLAIN, CALM, PLAIN)

        found = screening.screen(turns, situation="", language="en")

        assert [one.turn_index for one in found] == couplets(turns) == [0, 2, 4]

    def test_takes_a_couplet_with_a_signal_and_nothing_against_it(self):
        _, point = screen(CALM, PLAIN, SAD, PLAIN)

        assert point.is_suitable
        assert point.reasons == ()
        assert point.findings == (Finding("distress", 2, 10, 16),)

    def test_removes_a_couplet_without_a_signal_and_has_no_reason(self):
        _, point = screen(SAD, PLAIN, CALM, PLAIN)

        assert not point.is_suitable
        assert point.reasons == ()

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

    def test_does_not_read_what_comes_after_the_reply(self):
        found = screen(CALM, PLAIN, SAD, PLAIN, "There was a survey.", "Oh.")

        assert [one.is_suitable for one in found] == [False, True, False]

    def test_reads_signals_and_leave_taking_in_the_last_turn_alone(self):
        _, point = screen(f"{SAD} Goodbye!", PLAIN, CALM, PLAIN)

        assert point.findings == ()

    def test_names_every_reason_once_in_the_order_of_the_rules(self):
        point, *_ = screen("Goodbye, survey. Goodbye, my medication.", "A survey.")

        assert point.reasons == ("platform", "clinical", "closing", "too-early", "too-short")

    def test_removes_every_couplet_of_a_language_without_lexicons(self):
        found = screen(CALM, PLAIN, SAD, PLAIN, language="xx")

        assert all("language" in one.reasons for one in found)
        assert not any(one.is_suitable for one in found)

    @pytest.mark.parametrize("tag", ["en-GB", "EN", "en-Latn-US"])
    def test_reads_a_language_of_any_region_by_its_lexicons(self, tag):
        assert screen(CALM, PLAIN, SAD, PLAIN, language=tag) == screen(CALM, PLAIN, SAD, PLAIN)
        assert screening.rules_version(tag) == screening.rules_version("en")

    @pytest.mark.parametrize("language", ["", "..", "en/", "en_GB", "english", "und"])
    def test_takes_no_other_tag_for_a_language_it_knows(self, language):
        assert "language" in screen(CALM, PLAIN, SAD, PLAIN, language=language)[1].reasons

    def test_of_a_dialogue_without_couplets_is_empty(self):
        assert screening.screen([], situation=SAD, language="en") == []

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
    def test_finds_what_removes_a_text_that_stands_alone(self):
        (found,) = screening.disqualifying("Some nights I want to die.", language="en")

        assert found == Finding("self-harm", None, 14, 25)

    def test_asks_no_rule_on_form_or_on_leave_taking(self):
        assert screening.disqualifying("Bye.", language="en") == []

    def test_reports_no_signals(self):
        assert screening.disqualifying(SAD, language="en") == []

    def test_never_passes_a_language_without_lexicons(self):
        (found,) = screening.disqualifying("Hallo", language="xx")

        assert found == Finding("language", None, 0, 5)


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
    def test_has_its_spans_inside_it(self, text):
        for rule in RULES:
            for span in rule.find(ReadText(text, index=1)):
                assert 0 <= span.start <= span.end <= len(text)

    @given(texts)
    def test_gives_the_same_findings_again(self, text):
        for rule in RULES:
            assert rule.find(ReadText(text, index=1)) == rule.find(ReadText(text, index=1))

    @given(texts)
    def test_keeps_its_findings_beside_a_neutral_sentence(self, text):
        for rule in (one for one in RULES if one.lexicon):
            alone = [text[slice(*span)] for span in rule.find(ReadText(text))]
            beside = f"{NEUTRAL}.{text}.{NEUTRAL}"

            assert [beside[slice(*span)] for span in rule.find(ReadText(beside))] == alone

    @pytest.mark.parametrize("one_in", [10, pytest.param(1, marks=pytest.mark.full)])
    @pytest.mark.parametrize(
        "hostile",
        [
            "a" * 60_000,
            "1" * 60_000,
            "1-" * 30_000,
            "a." * 30_000,
            "not " * 15_000,
            "i " * 30_000,
            "@" * 60_000,
            "I'm A" * 12_000,
            "www." * 15_000,
            "https://" * 7_500,
            "a at a dot " * 5_000,
            "My " * 20_000,
            "Aa " * 20_000,
            "'" * 60_000,
            " " * 60_000,
            ":" * 60_000,
            "my name is " * 5_000,
            "feel ... like " * 4_000,
        ],
        ids=lambda text: repr(text[:9]),
    )
    def test_that_is_long_and_hostile_is_read_to_its_end(self, hostile, one_in):
        """A rule that tried every way to fail would not come back."""
        text = hostile[: len(hostile) // one_in]
        for rule in RULES:
            spans = rule.find(ReadText(text, index=1))

            assert all(0 <= start < end <= len(text) for start, end in spans)


class TestRulesVersion:
    def test_has_a_number_and_a_hash_and_fits_its_column(self):
        assert re.fullmatch(r"screening-\d+ [0-9a-f]{12}", screening.rules_version("en"))
        assert len(screening.rules_version("en")) <= 64

    def test_differs_between_languages(self):
        assert screening.rules_version("en") != screening.rules_version("xx")

    @pytest.mark.parametrize("name", ["rules.py", "personal/names.py", "lexicons/en/hate.txt"])
    def test_changes_with_what_decides(self, name, tmp_path, monkeypatch):
        here = screening_rules.HERE
        copies = [path for path in here.rglob("*") if path.suffix in {".py", ".txt"}]
        for path in copies:
            (tmp_path / path.relative_to(here)).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path.relative_to(here)).write_bytes(path.read_bytes())
        monkeypatch.setattr(screening_rules, "HERE", tmp_path)
        fresh = screening_rules.rules_version.__wrapped__

        assert fresh("en") == screening.rules_version("en")
        with (tmp_path / name).open("a") as file:
            file.write("# one more line\n")
        assert fresh("en") != screening.rules_version("en")


class TestTheDemonstration:
    def test_gives_two_suitable_couplets_far_enough_apart_in_every_dialogue(self):
        for turns, one in read(DIALOGUES):
            found = screening.screen(turns, situation=one.situation, language="en")
            places = [point.turn_index for point in found if point.is_suitable]

            assert places, one.situation
            assert max(places) - min(places) >= MIN_GAP, one.situation


class TestThePage:
    @pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
    def test_has_a_row_for_each_rule_as_it_is(self, rule):
        page = (Path(__file__).parents[3] / "docs" / "dialogues.md").read_text()
        reads = "last turn" if rule.reads == ("turn",) else "all"

        assert f"| `{rule.name}` | {rule.kind} | {reads} |" in page

    def test_says_how_short_and_how_long_a_turn_may_be(self):
        page = (Path(__file__).parents[3] / "docs" / "dialogues.md").read_text()

        assert f"fewer than {MIN_WORDS} words" in page
        assert f"more than {MAX_WORDS} words" in page


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
            for point in screening.screen(turns, situation=one.situation, language="en"):
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
            for point in screening.screen(turns, situation=one.situation, language="en")
        }

        suitable, *_ = checking.compare(labels, screened)

        assert (suitable.precision, suitable.recall) == (precision, recall)
