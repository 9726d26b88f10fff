"""What reviewers see in a text: marks on what a rule found, changed words, a curve."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from completions.contexts import rewrite_display
from completions.contexts.rewrite_display import HEIGHT, WIDTH, curve
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
    def test_numbers_and_explains_rules_in_their_order_whatever_fired_first(self):
        places = [
            ("weather", 1),
            ("violence", 0),
            ("distress", 4),
            ("violence", None),
            ("violence", 0),
        ]

        entries = legend(
            [{"rule": rule, "turn": turn, "start": 0, "end": 1} for rule, turn in places]
        )

        assert [(one.number, one.rule, one.places, one.is_signal) for one in entries] == [
            (1, "distress", (4,), True),
            (2, "violence", (0, None), False),
            (3, "weather", (1,), False),
        ]
        assert [bool(one.explanation) for one in entries] == [True, True, False]  # one is no more


class TestMark:
    @pytest.mark.parametrize(
        ("stored", "found", "shown"),
        [
            ("I am sad today.", "sad", "sad"),
            ("“I can\u2019t go on”, she said.", "can\u2019t go on", "can't go on"),
            ("“She left” — and I was so\u00a0 sad.", "so\u00a0 sad", "so sad"),
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

    def test_leaves_out_findings_of_other_turns_and_tells_those_of_the_whole_text_apart(self):
        text = "I am “sad”."
        findings = [
            finding("too-short", text, text, turn=2),
            finding("distress", text, "sad", turn=2),
            finding("distress", text, "sad", turn=2),
        ]

        found = marked(text, *findings, turn=2)

        assert [entry.rule for entry in found.whole] == ["too-short"]
        assert words_of(found) == [("sad", ["distress"])]
        assert not marked(text, *findings, turn=0).is_marked
        assert not marked(text, *findings, turn=None).is_marked
        assert not marked("sad\u00ad day", finding("distress", "sad\u00ad", "\u00ad")).is_marked

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

        ours = mark_dialogue(turns, [], [], is_simulated=True)
        theirs = DialogueView.of(turns, is_simulated=True)

        for our_turns, their_turns in (
            (ours.earlier, theirs.earlier),
            (ours.recent, theirs.recent),
            ([ours.latest], [theirs.latest]),
        ):
            shown = [
                (one.role, "".join(part.text for part in one.text.pieces)) for one in our_turns
            ]
            assert shown == [(turn.role, turn.text) for turn in their_turns]
        assert ours.is_simulated

    @pytest.mark.parametrize(("turn", "hidden"), [(0, True), (19, False)])
    def test_says_whether_a_mark_is_folded_away(self, turn, hidden):
        findings = [{"rule": "violence", "turn": turn, "start": 0, "end": 4}]

        dialogue = mark_dialogue(self.turns(20), findings, legend(findings))

        assert dialogue.hides_marks is hidden


WORDS = st.lists(st.sampled_from(["you", "are", "no", "help", "sleep", "rent"]), max_size=12)


class TestDiff:
    def test_names_the_changed_turns_alone(self):
        before = [{"text": "Hi!"}, {"text": "I failed the exam."}]
        after = [{"text": "Hi!"}, {"text": "Stop it. I failed the whole exam."}]

        assert rewrite_display.diff(before, after) == [
            {
                "turn": 1,
                "pieces": [
                    ["added", "Stop it."],
                    ["same", "I failed the"],
                    ["added", "whole"],
                    ["same", "exam."],
                ],
            }
        ]

    def test_puts_what_was_removed_before_what_came_in_its_place(self):
        assert rewrite_display.pieces("I am sad", "I am furious") == [
            ("same", "I am"),
            ("removed", "sad"),
            ("added", "furious"),
        ]

    @given(WORDS, WORDS)
    def test_holds_both_texts_whole(self, before, after):
        found = rewrite_display.pieces(" ".join(before), " ".join(after))

        def joined(*kinds):
            return " ".join(words for kind, words in found if kind in kinds)

        assert joined("same", "removed") == " ".join(before)
        assert joined("same", "added") == " ".join(after)


class TestCurve:
    def test_runs_from_the_left_to_the_right_and_upwards_beside_a_table(self):
        drawn = curve([0, 5, 10], [2, 10])

        assert drawn["target"] == [(0, HEIGHT), (WIDTH / 2, HEIGHT / 2), (WIDTH, 0)]
        assert [x for x, _ in drawn["measured"]] == [0, WIDTH / 2]
        assert drawn["rows"] == [(1, 0, 2), (2, 5, 10), (3, 10, None)]

    @pytest.mark.parametrize("values", [[], [7]])
    def test_draws_what_there_is(self, values):
        drawn = curve(values, values)

        assert [wanted for _, wanted, _ in drawn["rows"]] == values
        assert len(drawn["target"]) == len(values)
