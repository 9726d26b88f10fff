"""Rules of studies that know no database: rubrics, answers, pace, and the markup of their texts."""

import datetime as dt
import re
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.choices import Protocol
from annotation.studies import rubric
from annotation.studies.pace import FEWEST, Pace, raters_needed, time_left
from annotation.studies.rubric import RubricError
from annotation.studies.verdicts import (
    FARTHEST_MARK,
    SCALES,
    Answer,
    InvalidAnswerError,
    check_answer,
    swap_frame,
)
from annotation.templatetags.markdown import render

TEXT = (rubric.RUBRICS / "heart-1.toml").read_text(encoding="utf-8")


def heart():
    return rubric.load_rubric("heart-1")


class TestHeartRubric:
    def test_holds_what_its_file_does_and_changes_under_a_new_version_alone(self):
        assert "".join(heart().keys) == "HEART"
        assert heart().content() == tomllib.loads(TEXT)
        assert heart().sha256 == (
            "c06c3cacba206e48433e1e3546fded36a652b64384da861e1e98cb53790ef54d"
        )

    def test_has_a_hash_that_does_not_depend_on_comments_and_layout(self):
        other = "# a comment\n" + TEXT.replace("\n\n", "\n\n\n")

        assert rubric.parse_rubric(other, source="x").sha256 == heart().sha256

    @pytest.mark.parametrize(
        ("old", "new"),
        [("warmth", "care"), ('key = "R"', 'key = "Q"'), ('version = "1"', 'version = "2"')],
        ids=["a word", "a key", "version"],
    )
    def test_has_another_hash_with_another_content(self, old, new):
        changed = rubric.parse_rubric(TEXT.replace(old, new), source="x")

        assert changed.sha256 != heart().sha256


class TestBadRubric:
    @pytest.mark.parametrize(
        ("old", "new", "message"),
        [
            (TEXT, "name = ", "not valid TOML: Invalid value"),
            (TEXT, 'name = "a"', "version: Field required"),
            (TEXT, TEXT + 'hint = "x"', "dimensions.4.hint: Unexpected"),
            ('"A"', '"R"', "dimensions: every key may be used once, found H, E, R, R, T"),
            ('key = "A"', 'key = "a b"', "dimensions.2.key: String should match"),
            ('"Attunement"', '"  "', "dimensions.2.name: write something here"),
        ],
        ids=["not TOML", "missing field", "unknown", "key twice", "bad key", "empty name"],
    )
    def test_is_refused_with_file_field_and_reason(self, old, new, message):
        with pytest.raises(RubricError) as caught:
            rubric.parse_rubric(TEXT.replace(old, new), source="x.toml")

        assert f"x.toml: {message}" in str(caught.value)

    def test_unknown_reference_names_the_known_ones_and_cannot_leave_the_folder(self):
        with pytest.raises(RubricError, match='there is no rubric "heart-9"; known are heart-1'):
            rubric.load_rubric("heart-9")
        with pytest.raises(RubricError):
            rubric.load_rubric("../rubrics/heart-1")

    def test_file_must_be_named_after_its_content(self, tmp_path, monkeypatch):
        (tmp_path / "heart-2.toml").write_text(TEXT, encoding="utf-8")
        monkeypatch.setattr(rubric, "RUBRICS", tmp_path)

        with pytest.raises(RubricError, match=r"heart-2\.toml: holds heart-1"):
            rubric.load_rubric("heart-2")


HEART = ["human", "empathic", "attuned", "resonant", "task"]
RATED = dict.fromkeys(HEART, 3)


@st.composite
def answers(draw):
    protocol = draw(st.sampled_from(Protocol.values))
    if protocol == Protocol.LIKERT:
        ratings = {key: draw(st.integers(1, 5)) for key in HEART}
        return protocol, Answer(verdict=None, rationale=draw(st.text()), marks=ratings)
    marks = st.dictionaries(st.sampled_from(HEART), st.integers(-FARTHEST_MARK, FARTHEST_MARK))
    return protocol, Answer(
        verdict=draw(st.sampled_from(sorted(SCALES[protocol]))),
        rationale=draw(st.text()),
        marks=draw(marks) if protocol == Protocol.RUBRIC else {},
    )


class TestCheckAnswer:
    def test_chips_are_those_of_the_study(self):
        ticked = Answer(1, "", chips=frozenset({"warm", "pushy"}))

        check_answer(ticked, protocol="RUBRIC", dimensions=HEART, chips=("pushy", "warm"))
        with pytest.raises(InvalidAnswerError, match=r"unknown chips \['pushy'\]"):
            check_answer(ticked, protocol="RUBRIC", dimensions=HEART, chips=("warm",))

    @pytest.mark.parametrize(
        ("protocol", "answer", "reason"),
        [
            ("PREFERENCE", Answer(-3, "warm"), r"verdict -3 is not one of \[-2, -1, 0, 1, 2\]"),
            ("PREFERENCE", Answer(3, "warm"), r"verdict 3 is not one of \[-"),
            ("PREFERENCE", Answer(1, "warm", {"human": 1}), "never see the rubric"),
            ("RUBRIC", Answer(0, "warm"), r"0 is not one of \[-5, -4, -3, -2, -1, 1, 2, 3, 4, 5\]"),
            ("RUBRIC", Answer(6, "warm"), r"verdict 6 is not one of \[-"),
            ("RUBRIC", Answer(-6, "warm"), r"verdict -6 is not one of \[-"),
            ("RUBRIC", Answer(1, "", {"human": 1, "wit": 1}), r"unknown dimensions \['wit'\]"),
            ("RUBRIC", Answer(1, "", {"human": 5, "task": -6}), r"of \['task'\] are beyond 5"),
            ("RUBRIC", Answer(1, "", {"human": 5, "task": 6}), r"of \['task'\] are beyond 5"),
            ("LIKERT", Answer(1, "", RATED), "has no verdict"),
            ("LIKERT", Answer(None, "", {"human": 3}), "are not rated"),
            ("LIKERT", Answer(None, "", RATED | {"task": 0}), "not between 1 and 5"),
            ("LIKERT", Answer(None, "", RATED | {"wit": 3}), "unknown dimensions"),
        ],
    )
    def test_refuses_what_is_off_the_scale_and_says_why(self, protocol, answer, reason):
        with pytest.raises(InvalidAnswerError, match=reason):
            check_answer(answer, protocol=protocol, dimensions=HEART)

    @given(answers())
    def test_admits_every_answer_on_the_scale(self, protocol_and_answer):
        protocol, answer = protocol_and_answer

        check_answer(answer, protocol=protocol, dimensions=HEART)


class TestSwapFrame:
    def test_turns_verdict_and_marks_round_where_the_first_completion_is_b_alone(self):
        answer = Answer(4, "warm", {"human": 1, "task": -2})

        assert swap_frame(answer, first_is_a=True) == answer
        swapped = Answer(-4, "warm", {"human": -1, "task": 2})
        assert swap_frame(answer, first_is_a=False) == swapped

    @given(answers(), st.booleans())
    def test_is_its_own_inverse_and_keeps_an_answer_on_its_scale(
        self, protocol_and_answer, first_is_a
    ):
        protocol, answer = protocol_and_answer

        there = swap_frame(answer, first_is_a=first_is_a)

        assert swap_frame(there, first_is_a=first_is_a) == answer
        check_answer(there, protocol=protocol, dimensions=HEART)


class TestPace:
    @pytest.mark.parametrize(
        ("pace", "rate"),
        [
            (Pace(in_hour=30, in_day=48), 30.0),
            (Pace(in_hour=FEWEST - 1, in_day=48), 2.0),
            (Pace(in_hour=0, in_day=FEWEST - 1), None),
            (Pace(), None),
        ],
        ids=["the hour", "the day where the hour has few", "too few", "none"],
    )
    def test_goes_by_the_last_hour_then_by_the_last_day(self, pace, rate):
        assert pace.per_hour == rate

    @pytest.mark.parametrize(
        ("n_left", "pace", "left"),
        [
            (60, Pace(in_hour=30, in_day=30), dt.timedelta(hours=2)),
            (6, Pace(in_day=48), dt.timedelta(hours=3)),
            (0, Pace(), dt.timedelta()),
            (1, Pace(), None),
        ],
        ids=["at the rate of the hour", "of the day", "nothing is left", "nobody can tell"],
    )
    def test_says_how_long_what_is_left_takes(self, n_left, pace, left):
        assert time_left(n_left, pace) == left

    @pytest.mark.parametrize(
        ("n_judgments", "planted", "n"),
        [(100, 0.0, 10), (101, 0.0, 11), (80, 0.2, 10), (3, 0.0, 3), (0, 0.0, 0)],
        ids=["whole sessions", "one more", "planted pairs", "different people", "nothing left"],
    )
    def test_needs_raters_for_whole_sessions_and_never_fewer_than_judge_a_pair(
        self, n_judgments, planted, n
    ):
        found = raters_needed(
            n_judgments=n_judgments, session_length=10, planted=planted, per_pair=3
        )

        assert found == n


class TestRender:
    @pytest.mark.parametrize(
        ("text", "html"),
        [
            ("One.\n\nTwo.", "<p>One.</p>\n<p>Two.</p>"),
            ("Read *both*, **decide**.", "<p>Read <em>both</em>, <strong>decide</strong>.</p>"),
            ("- a\n- b", "<ul>\n<li>a</li>\n<li>b</li>\n</ul>"),
            ("1. a\n2. b", "<ol>\n<li>a</li>\n<li>b</li>\n</ol>"),
            (r"5 \* 3", "<p>5 * 3</p>"),
            ("one\ntwo", "<p>one\ntwo</p>"),
            ("", ""),
        ],
        ids=["paragraphs", "emphasis", "list", "numbers", "escaped", "line end", "nothing"],
    )
    def test_knows_the_few_things_that_authors_need(self, text, html):
        assert render(text) == html

    @pytest.mark.parametrize(
        "text",
        [
            "<script>alert(1)</script>",
            "<img src=x onerror=alert(1)>",
            "[x](javascript:alert(1))",
            "[x](JaVaScRiPt:alert(1))",
            "[x](data:text/html,x)",
            "[x](http://example.org/)",
            "[x](//example.org/)",
            "[x](/s/other/withdraw/)",
            "<https://example.org/>",
            "`code` and ```\nfence\n```",
            "> quoted",
            "&lt;b&gt;",
        ],
    )
    def test_leaves_everything_else_as_it_was_typed(self, text):
        html = render(text)

        assert set(re.findall(r"<(\w+)", html)) <= {"p"}

    def test_links_to_https_alone_and_tells_the_other_site_nothing(self):
        link = '<a href="https://example.org/a?b=1&amp;c=2" rel="noopener noreferrer">more</a>'

        assert render('[more](https://example.org/a?b=1&c=2 "title")') == f"<p>{link}</p>"

    def test_loads_no_picture_and_quotes_in_an_address_do_not_end_the_attribute(self):
        assert "<img" not in render("![x](https://example.org/x.png)")
        assert 'onclick="' not in render('[x](https://example.org/"onclick="x)')

    @pytest.mark.parametrize(
        ("text", "top", "levels"),
        [
            ("# a\n\n## b\n\n# c", 2, "232"),
            ("### a\n\n##### b", 3, "34"),
            ("### a\n\n# b", 2, "22"),
            ("# a\n\n## b\n\n### c", 5, "566"),
        ],
        ids=["lowered", "no gap", "deep first", "no deeper than six"],
    )
    def test_headings_continue_the_outline_of_the_page(self, text, top, levels):
        html = render(text, top=top)

        assert "".join(re.findall(r"<h(\d)>", html)) == levels
        assert re.findall(r"<h(\d)>", html) == re.findall(r"</h(\d)>", html)
