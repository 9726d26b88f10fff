"""`manage.py study quick`: from a spreadsheet to judged pairs, and to more of them."""

import csv
import io
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from access.choices import Role
from access.models import LogEntry
from annotation.choices import StudyState
from annotation.models import Comparison, Judgment, Lease, Study
from completions.choices import Way
from completions.models import BroughtCompletion, Completion, Context, Dialogue, System
from tests.helpers.factories_written_once import make_member
from tests.helpers.pages import console_pages, text
from tests.helpers.visits import enrol, open_study, url

pytestmark = pytest.mark.django_db
ROWS = [
    ("q1", "Ash", "We open at nine.", "When do you open?"),
    ("q1", "Beech", "At nine, but on Sundays we stay closed.", "When do you open?"),
    ("q2", "Ash", "Yes, within a month.", ""),
    ("q2", "Beech", "Returns are fine with us.", ""),
]


def as_csv(rows):
    file = io.StringIO()
    csv.writer(file).writerows([("item", "system", "text", "context"), *rows])
    return file.getvalue().encode()


@pytest.fixture
def make(tmp_path, capsys):
    def _make(*rows, name="opening hours", **options):
        file = tmp_path / f"{name}.csv"
        file.write_bytes(as_csv(rows))
        call_command("study", "quick", str(file), **options)
        return capsys.readouterr().out

    return _make


def judge(client, study):
    page = client.get(url(study, "judge"))
    lease = Lease.objects.get(closed_at=None, rater__study=study)
    answer = {"verdict": "1", "rationale": "It says on which days."}
    client.post(url(study, "submit", lease.token), answer)
    return page.content.decode()


def test_a_spreadsheet_becomes_a_study_that_a_rater_judges(make, client):
    said = make(*ROWS, question="Which answer is clearer?", judgments=2)

    study = Study.objects.get(slug="opening-hours")
    assert (study.state, study.judgments_per_pair, study.session_length) == ("OPEN", 2, 2)
    assert "2 items, 4 texts (a row for each text)" in said
    assert f"/s/{study.slug}/" in said
    assert f"/results/{study.slug}/" in said
    enrol(client, study)
    practice = client.get(url(study, "how")).content.decode()
    pages = [judge(client, study) for _ in range(2)]
    assert Judgment.objects.count() == 2
    asked, alone = sorted(pages, key=lambda page: "When do you open?" not in page)
    for page in (practice, *pages):
        assert "Which answer is clearer?" in page
        assert "Text A" in page
        assert not [word for word in ("Reply A", "Seeker", "conversation", "Ash") if word in page]
    assert "The task" in asked
    assert '<div class="context">' not in alone


@pytest.mark.parametrize(
    ("name", "said"), [("skip", {"reason": "upsetting"}), ("report", {"text": "Broken."})]
)
def test_a_task_that_is_reported_is_called_no_conversation(make, client, name, said):
    make(*ROWS)
    study = Study.objects.get()
    enrol(client, study)
    client.get(url(study, "judge"))

    page = client.post(url(study, name, Lease.objects.get().token), said).content.decode()

    assert "You won’t see this again" in page
    assert "conversation" not in page


def test_the_same_file_adds_nothing_and_a_longer_one_what_is_new(make):
    make(*ROWS)

    again = make(*ROWS)
    longer = make(*ROWS[:2], ("q3", "ASH", "No.", ""), ("q3", "beech", "Sadly not.", ""))
    tried = make(*ROWS, name="second", dry_run=True)

    assert "0 new texts, 0 new pairs" in again
    assert "2 new texts, 1 new pair" in longer
    assert "Dry run" in tried
    assert (Dialogue.objects.count(), Comparison.objects.count()) == (3, 3)
    assert set(System.objects.values_list("name", flat=True)) == {"Ash", "Beech"}
    brought = BroughtCompletion.objects.values_list("way", "brought_by")
    assert set(brought) == {("COMMAND", None)}, "nobody is said to have brought it in"


def test_two_files_may_call_different_things_by_one_name(make):
    make(*ROWS)
    make(*ROWS, name="second")

    names = System.objects.filter(name__startswith="Ash").values_list("name", flat=True)
    assert sorted(names) == ["Ash", "Ash (second)"]


NEARLY_ALIKE = (
    *("Ash", "GPT-4", "GPT 4", "Модель один", "Модель два", "系统一", "系统二"),
    *("Llama 3.1 405B Instruct, quantized to FP8", "Llama 3.1 405B Instruct, quantized to FP4"),
)


@pytest.mark.parametrize("study", ["pilot", "emotional support, second pilot of May"])
def test_systems_of_different_names_are_never_one(make, study):
    rows = [("q1", name, f"Answer {n}.", "") for n, name in enumerate(NEARLY_ALIKE)]
    make(*rows, name=study)
    make(*rows, name=f"{study} and of June")

    told = {(one.system.name, one.text) for one in Completion.objects.select_related("system")}
    assert {(name, text) for _, name, text, _ in rows} <= told
    assert System.objects.count() == 2 * len(NEARLY_ALIKE)
    assert "0 new texts, 0 new pairs" in make(*rows, name=study)


@pytest.mark.parametrize(
    ("name", "other"),
    [("Pilot 漢字", "Pilot 仮名"), (f"{'long ' * 8}one", f"{'long ' * 8}two"), ("C++", "C#")],
)
def test_nothing_is_added_to_a_study_whose_name_only_has_the_same_address(make, name, other):
    make(*ROWS, name=name)

    with pytest.raises(CommandError, match="choose a name that differs more"):
        make(*ROWS[:2], ("q3", "Ash", "No.", ""), ("q3", "Beech", "Sadly.", ""), name=other)

    assert "0 new texts" in make(*ROWS, name=name.upper())
    assert Dialogue.objects.count() == 2


def test_nobody_is_led_to_help_lines_that_there_are_none_of(make, client):
    make(*ROWS)
    study = Study.objects.get()

    for page in ("entry", "how"):
        assert "Help lines" not in client.get(url(study, page)).content.decode()
    assert client.get(url(study, "help")).status_code == 404


def test_a_conversation_is_shown_as_one(make, client):
    turns = '[{"role": "user", "text": "Hi."}, {"role": "assistant", "text": "Hello."}]'
    make(("q", "Ash", "Well then.", turns), ("q", "Beech", "And now?", turns), name="talks")
    study = Study.objects.get(slug="talks")
    enrol(client, study)

    page = judge(client, study)

    assert "The conversation so far" in page
    assert "Reply A" in page


def test_no_page_of_the_console_fails_on_it(make, client):
    make(*ROWS)
    study = Study.objects.get()
    enrol(client, study)
    for _item in ("with a prompt", "without one"):
        judge(client, study)
    client.force_login(make_member(role=Role.OWNER))

    shown = [client.get(page.address).status_code for page in console_pages(study)]

    assert shown.count(200) > len(shown) / 3
    assert max(shown) < 500
    for one in Context.objects.all():
        address = reverse("contexts:context", args=[study.dataset.slug, one.key])
        assert client.get(address).status_code == 200


def test_what_seems_to_give_its_source_away_is_held(make):
    said = make(*ROWS[:3], ("q2", "Beech", "As an AI language model, I cannot say.", ""))

    assert "1 text held" in said
    assert Comparison.objects.count() == 1


STORED = (Study, System, Context, BroughtCompletion)
REFUSED: dict[str, Any] = {
    "a text that changed": ([("q1", "Ash", "Another.", ""), ROWS[1]], {}, "nothing was written"),
    "a context that changed": (
        [(*ROWS[0][:3], "Why?"), (*ROWS[1][:3], "Why?")],
        {},
        "another context",
    ),
    "a fault": ([("", "Ash", "One.", ""), *ROWS], {}, "line 2: the item needs a name"),
    "no judgments": (ROWS, {"judgments": 0}, "no number of judgments"),
    "a question too long": (ROWS, {"question": "?" * 300, "name": "other"}, "question"),
    "a context for a bare item": ([(*ROWS[2][:3], "Why?")], {}, "fewer than 2 systems"),
    "texts of no two systems for one item": (
        [("q1", "Ash", "Yes.", ""), ("q2", "Beech", "No.", "")],
        {"name": "other"},
        "there is nothing to compare",
    ),
    "the same text by every system": (
        [("q1", "Ash", "Yes.", ""), ("q1", "Beech", "Yes.", "")],
        {"name": "other"},
        "there is nothing to compare",
    ),
    "a name without letters": (ROWS, {"name": "!!"}, "cannot name a study"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_is_refused_with_nothing_written(make, case):
    rows, options, why = REFUSED[case]
    make(*ROWS)
    before = [model.objects.count() for model in STORED]

    with pytest.raises(CommandError, match=why):
        make(*rows, **options)

    assert [model.objects.count() for model in STORED] == before


def test_a_study_that_is_closed_or_made_otherwise_is_not_touched(make):
    study = open_study(slug="opening-hours")
    make(*ROWS, name="second")
    Study.objects.filter(slug="second").update(state=StudyState.CLOSED)

    with pytest.raises(CommandError, match="not made from a file"):
        make(*ROWS)
    with pytest.raises(CommandError, match="is closed"):
        make(*ROWS, name="second")

    assert study.comparisons.count() == 2


def test_raters_of_a_platform_get_its_way_back(make):
    make(*ROWS, raters="prolific")
    study = Study.objects.get()

    came = {"PROLIFIC_PID": "p", "STUDY_ID": "s", "SESSION_ID": "x"}
    page = Client().get(url(study, "entry"), came)

    assert study.content["crowd"]["platform"] == "prolific"
    assert "as shown on the platform" in page.content.decode()


ANSWERS = {
    "name": "Opening hours",
    "question": "Which answer is clearer?",
    "judgments": "2",
    "raters": "link",
}


class TestInTheConsole:
    """The same study from the pages that ask for a file and three questions."""

    def check(self, staff, *rows, name="opening_hours.csv"):
        file = SimpleUploadedFile(name, as_csv(rows or ROWS))
        return staff.post(reverse("console:new_quick"), {"file": file})

    def make(self, staff, checked, **answers):
        sealed = checked.context["sealed"]
        return staff.post(reverse("console:make_quick"), {"sealed": sealed} | ANSWERS | answers)

    def test_a_file_and_three_answers_make_an_open_study(self, staff):
        checked = self.check(staff)
        assert "items 2 texts 4 pairs 2" in text(checked)
        assert not Dialogue.objects.exists()

        made = self.make(staff, checked)

        study = Study.objects.get()
        assert made["Location"] == reverse("console:study", args=["opening-hours"])
        assert (study.state, study.judgments_per_pair) == (StudyState.OPEN, 2)
        assert study.comparisons.count() == 2
        ways = BroughtCompletion.objects.values_list("way", flat=True)
        logged = LogEntry.objects.get(action="completions.brought_in").after
        assert {*ways, logged["way"]} == {Way.CONSOLE}

    def test_the_same_name_adds_what_is_new_and_changes_no_text(self, staff):
        self.make(staff, self.check(staff))

        longer = self.check(staff, *ROWS, ("q3", "Ash", "No.", ""), ("q3", "Beech", "Sadly.", ""))
        answer = staff.get(self.make(staff, longer)["Location"])
        other = self.check(staff, ("q1", "Ash", "Never.", "When do you open?"), *ROWS[1:])
        refused = self.make(staff, other)

        assert "Added to the study: 2 new texts, 1 new pair. Its settings stay." in text(answer)
        assert Study.objects.count() == 1
        assert refused.status_code == 422
        assert "Line 2" in text(refused)

    @pytest.mark.parametrize(
        ("answers", "said"),
        [
            ({"name": ""}, "Name the study."),
            ({"name": "漢字"}, "its address needs a Latin letter"),
            ({"question": ""}, "Write the question."),
            ({"judgments": "0"}, "Give a whole number from 1 to 1,000."),
            ({"raters": "aliens"}, "Say who rates."),
        ],
    )
    def test_an_answer_that_cannot_be_is_asked_for_again(self, staff, answers, said):
        answer = self.make(staff, self.check(staff), **answers)

        assert answer.status_code == 422
        assert said in text(answer)
        assert 'name="sealed" value="' in answer.content.decode()
        assert not Study.objects.exists()

    @pytest.mark.parametrize(
        ("rows", "said"),
        [
            ([("q1", "Ash", "", "")], "Line"),
            ([("q1", "Ash", "One system alone.", "")], "system"),
        ],
    )
    def test_a_file_at_fault_is_told_and_nothing_is_stored(self, staff, rows, said):
        answer = self.check(staff, *rows)

        assert answer.status_code == 422
        assert said in text(answer)
        assert not Dialogue.objects.exists()

    def test_a_page_of_somebody_else_is_not_trusted(self, staff, client):
        checked = self.check(staff)
        client.force_login(make_member("eve"))

        answer = self.make(client, checked)

        assert answer["Location"] == reverse("console:new_quick")
        assert not Study.objects.exists()
