"""What raters post, as forms read it: answers on a scale, reasons, and what a page reports."""

import pytest

from annotation.models import Study
from annotation.session.blinded import StudyPage
from annotation.session.forms import FORMS, ConsentForm
from annotation.studies.verdicts import Answer
from tests.helpers.visits import ANSWERS, study_content

LONGEST = "word\r\n" * 799 + "words"
"""4,000 characters: a browser counts an end of line as one, and sends two."""
REASONS = {
    "few words": ("A is warmer.", True),
    "two words": ("more empathy", True),
    "Chinese": ("它更关心她的感受并且提出了问题", True),
    "a null byte among words": ("it names\0 the feeling", True),
    "lines as long as the browser counts": (LONGEST, True),
    "one character more": (f"{LONGEST}!", False),
    "too short": ("   short   ", False),
    "signs that nobody sees": ("\u200b" * 20, False),
    "blanks of other scripts": ("\u3164" * 20, False),
    "one word again and again": ("ok ok ok ok ok", False),
    "one letter": ("aaaaaaaaaaaa", False),
    "one word with a comma": ("no no no, no", False),
    "dots alone": (". . . . . . .", False),
}
"""Reasons, and whether each is taken where a study asks for one."""


def page_of(kind, *, shortest=0):
    content = study_content(kind)
    study = Study(protocol=kind.upper(), content=content, min_rationale_length=shortest)
    return StudyPage.from_study(study)


def posted(kind, fields, *, shortest=0):
    form = FORMS[kind.upper()](fields, study=page_of(kind, shortest=shortest))
    form.is_valid()
    return form


@pytest.mark.parametrize(
    ("kind", "answer"),
    [
        ("preference", Answer(2, "B asks for more than it hears.")),
        ("rubric", Answer(-4, "", {"E": -1, "R": 0})),
        ("likert", Answer(None, "", dict.fromkeys("HEART", 4))),
    ],
)
class TestWhatWasChosen:
    def test_is_an_answer_in_the_frame_of_the_screen(self, kind, answer):
        assert posted(kind, ANSWERS[kind]).answer() == answer

    def test_is_shown_again(self, kind, answer):
        form = FORMS[kind.upper()](study=page_of(kind), answer=answer)

        assert {name: str(form[name].value()) for name in ANSWERS[kind]} == ANSWERS[kind]


def test_a_rubric_needs_neither_a_mark_nor_a_reason():
    assert posted("rubric", {"winner": "A", "strength": "5"}).answer() == Answer(5, "")


@pytest.mark.parametrize(
    ("kind", "field", "value"),
    [
        *(("preference", "verdict", value) for value in ("3", "-3", "1.5", "A")),
        *(("rubric", "strength", value) for value in ("6", "0")),
        ("rubric", "winner", "C"),
        ("rubric", "mark_E", "2"),
        *(("likert", "rating_E", value) for value in ("0", "6", "NaN", "+")),
    ],
)
def test_what_is_off_the_scale_is_refused_at_its_field(kind, field, value):
    assert list(posted(kind, ANSWERS[kind] | {field: value}).errors) == [field]


RATED = ("Human Alignment", "Empathic Responsiveness", "Attunement", "Resonance", "Task-Following")
MISSING = {
    "preference": ["Choose one of the five answers."],
    "rubric": ["Choose A or B.", "Say by how much it is better."],
    "likert": [f"Rate it on {name}." for name in RATED],
}


@pytest.mark.parametrize("kind", MISSING)
def test_what_is_missing_is_named(kind):
    errors = posted(kind, {}, shortest=10).errors

    reason = "Please say in a few words what made the difference."
    assert [said for messages in errors.values() for said in messages] == [*MISSING[kind], reason]


class TestAReason:
    @pytest.mark.parametrize(("reason", "is_taken"), REASONS.values(), ids=REASONS)
    def test_is_taken_if_it_says_something(self, reason, is_taken):
        form = posted("preference", {"verdict": "0", "rationale": reason}, shortest=10)

        assert form.is_valid() is is_taken

    @pytest.mark.parametrize("kind", ANSWERS)
    def test_is_required_where_the_study_says_so(self, kind):
        without = ANSWERS[kind] | {"rationale": ""}

        assert posted(kind, without).is_valid()
        assert list(posted(kind, without, shortest=10).errors) == ["rationale"]


@pytest.mark.parametrize(
    ("field", "reported", "kept"),
    [
        ("hidden_ms", "1500", 1500),
        *(("hidden_ms", senseless, 0) for senseless in ("-3", "99999999999", "NaN", "")),
        ("opened_earlier", "1", 1),
        ("opened_earlier", "0", 0),
        *(("opened_earlier", senseless, None) for senseless in ("", "2", "yes")),
    ],
)
def test_what_a_page_reports_is_kept_where_it_makes_sense(field, reported, kept):
    form = posted("preference", ANSWERS["preference"] | {field: reported})

    assert form.cleaned_data[field] == kept


@pytest.mark.parametrize(
    ("reported", "kept"), [("-120", -120), ("840", 840), ("841", None), ("soon", None), ("", None)]
)
def test_a_time_zone_is_an_offset_or_nothing(reported, kept):
    form = ConsentForm({"choice": "agree", "entry": "x", "utc_offset_minutes": reported})

    assert form.is_valid()
    assert form.cleaned_data["utc_offset_minutes"] == kept
