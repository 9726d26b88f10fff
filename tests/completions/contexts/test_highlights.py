"""Marks land on the characters that a rule found, whatever dress the text is shown in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from completions.contexts.screening.highlights import legend, mark, mark_dialogue
from completions.dialogues.display import DialogueView
from completions.dialogues.normaliser import plain


def finding(rule, text, words, *, turn=0):
    """Return a finding on the first place where ``words`` stand in ``text``."""
    start = text.index(words)
    return {"rule": rule, "turn": turn, "start": start, "end": start + len(words)}


def marked(text, *findings, turn=0):
    return mark(text, findings, legend(findings), turn=turn)


def words_of(marked_text):
    """Return the marked words with the rules on them."""
    return [
        (piece.text, [entry.rule for entry in piece.entries])
        for piece in marked_text.pieces
        if piece.entries
    ]


class TestLegend:
    def test_numbers_rules_in_their_order_whatever_fired_first(self):
        entries = legend(
            [
                {"rule": "violence", "turn": 0, "start": 0, "end": 1},
                {"rule": "distress", "turn": 4, "start": 0, "end": 1},
                {"rule": "violence", "turn": None, "start": 0, "end": 1},
                {"rule": "violence", "turn": 0, "start": 5, "end": 6},
            ]
        )

        assert [(one.number, one.rule, one.places) for one in entries] == [
            (1, "distress", (4,)),
            (2, "violence", (0, None)),
        ]

    def test_says_what_kind_each_rule_is_and_what_it_means(self):
        distress, violence = legend(
            [{"rule": rule, "turn": 0, "start": 0, "end": 1} for rule in ("violence", "distress")]
        )

        assert (distress.is_signal, violence.is_signal) == (True, False)
        assert distress.explanation
        assert violence.explanation

    def test_keeps_a_rule_that_is_no_more(self):
        (entry,) = legend([{"rule": "weather", "turn": 0, "start": 0, "end": 1}])

        assert (entry.rule, entry.is_signal, entry.explanation) == ("weather", False, "")


class TestMark:
    @pytest.mark.parametrize(
        ("stored", "found", "shown"),
        [
            ("I am sad today.", "sad", "sad"),
            (
                "“I can\u2019t go on”, she said — and I was so\u00a0 sad.",
                "can\u2019t go on",
                "can't go on",
            ),
            ("“I can\u2019t go on”, she said — and I was so\u00a0 sad.", "so\u00a0 sad", "so sad"),
            ("Well…  I  am\n\nsad \u2013 really.", "sad", "sad"),
            ("Well—sad—yes.", "sad", "sad"),
            ("It is **very sad** here.", "very sad", "very sad"),
            ("It is **very sad** here.", "sad** here", "sad here"),
            ("- sad\n- and alone", "alone", "alone"),
            ("Cafe\u0301 days were sad.", "sad", "sad"),
            ("  Sad, and so on.", "Sad", "Sad"),
            ("I was sad \u2014", "sad", "sad"),
            ("so\u00adrry and sad", "so\u00adrry", "sorry"),
        ],
    )
    def test_lands_on_the_words_that_the_rule_found(self, stored, found, shown):
        text = marked(stored, finding("distress", stored, found))

        assert words_of(text) == [(shown, ["distress"])]

    def test_cuts_overlapping_findings_where_they_overlap(self):
        text = "I hate my sad job"

        found = marked(
            text, finding("violence", text, "hate my sad"), finding("distress", text, "sad job")
        )

        assert words_of(found) == [
            ("hate my ", ["violence"]),
            ("sad", ["distress", "violence"]),
            (" job", ["distress"]),
        ]
        assert found.pieces[2].numbers == "1, 2"
        assert [piece.is_signal for piece in found.pieces[1:]] == [False, False, True]

    def test_marks_a_place_once_that_a_rule_found_twice(self):
        text = "I am sad"

        assert words_of(marked(text, *[finding("distress", text, "sad")] * 2)) == [
            ("sad", ["distress"])
        ]

    def test_tells_what_is_said_of_the_whole_text_apart(self):
        text = "I am “sad”."

        found = marked(text, finding("too-short", text, text), finding("distress", text, "sad"))

        assert [entry.rule for entry in found.whole] == ["too-short"]
        assert words_of(found) == [("sad", ["distress"])]

    def test_leaves_out_findings_of_other_turns(self):
        text = "I am sad"
        elsewhere = finding("distress", text, "sad", turn=2)

        assert not marked(text, elsewhere, turn=0).is_marked
        assert not marked(text, elsewhere, turn=None).is_marked
        assert marked(text, elsewhere, turn=2).is_marked

    def test_leaves_out_what_dressing_took_away(self):
        text = "sad\u00ad day"

        assert not marked(text, finding("distress", text, "\u00ad")).is_marked

    @given(
        st.text("ab “”\u2019—\u2013-*_ \n…\u00ad", max_size=40),
        st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=4),
    )
    def test_never_changes_what_is_shown(self, text, spans):
        findings = [
            {"rule": "distress", "turn": 0, "start": min(span), "end": max(span)}
            for span in spans
            if max(span) <= len(text)
        ]

        pieces = marked(text, *findings).pieces

        assert "".join(piece.text for piece in pieces) == plain(text)


class TestMarkDialogue:
    def turns(self, n):
        return [
            {"role": "seeker" if place % 2 else "supporter", "text": f"Line {place} — “so”"}
            for place in range(n)
        ]

    @pytest.mark.parametrize("n", [1, 2, 8, 9, 20])
    def test_shows_what_a_rater_sees(self, n):
        turns = self.turns(n)

        ours, theirs = (
            mark_dialogue(turns, [], [], is_simulated=True),
            DialogueView.of(turns, is_simulated=True),
        )

        def plainly(turns):
            return [(turn.role, "".join(one.text for one in turn.text.pieces)) for turn in turns]

        def theirs_plainly(turns):
            return [(turn.role, turn.text) for turn in turns]

        assert plainly(ours.earlier) == theirs_plainly(theirs.earlier)
        assert plainly(ours.recent) == theirs_plainly(theirs.recent)
        assert plainly([ours.latest]) == theirs_plainly([theirs.latest])
        assert ours.is_simulated

    @pytest.mark.parametrize(("turn", "hidden"), [(0, True), (19, False)])
    def test_says_whether_a_mark_is_folded_away(self, turn, hidden):
        findings = [{"rule": "violence", "turn": turn, "start": 0, "end": 4}]

        dialogue = mark_dialogue(self.turns(20), findings, legend(findings))

        assert dialogue.hides_marks is hidden

    def test_counts_turns_from_one(self):
        dialogue = mark_dialogue(self.turns(3), [], [])

        assert [turn.place for turn in (*dialogue.recent, dialogue.latest)] == [1, 2, 3]
