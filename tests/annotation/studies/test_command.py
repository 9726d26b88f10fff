"""The command line of studies, from a file to a planned and open study."""

import io
import sys
from types import SimpleNamespace

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Comparison, QualityCheck, Study
from annotation.studies.protocol.files import STUDIES
from completions.models import Hold
from tests.helpers.factories import (
    make_completion,
    make_context,
    make_dataset,
    make_dialogue,
    make_study,
    make_system,
)

pytestmark = pytest.mark.django_db
SEEDED = ", with a seed of its own, secret until the study is closed"


def study(*arguments):
    """Run an act and return what it said, line by line."""
    out = io.StringIO()
    call_command("study", *arguments, stdout=out)
    return out.getvalue().splitlines()


def make_dialogues(*, n_contexts=3, n_systems=4):
    dataset = make_dataset(slug="talks")
    systems = [make_system(slug=f"system-{n:02}") for n in range(n_systems)]
    for _ in range(n_contexts):
        context = make_context(dialogue=make_dialogue(dataset=dataset))
        for system in systems:
            make_completion(context=context, system=system)
    return dataset


def make_locked():
    """Store and lock a study of the file that ships."""
    make_dialogues()
    study("create", "heart-rubric", "--dataset", "talks")
    study("lock", "heart-rubric")


def changed_file(folder, old, new):
    """Return the path of the file that ships, with a change."""
    text = (STUDIES / "heart-rubric.toml").read_text(encoding="utf-8")
    file = folder / "changed.toml"
    file.write_text(text.replace(old, new), encoding="utf-8")
    return str(file)


def refusal(*arguments):
    with pytest.raises(CommandError) as caught:
        study(*arguments)
    assert caught.value.returncode == 2
    return str(caught.value)


@pytest.fixture
def person(monkeypatch):
    """Pretend that somebody sits at the terminal, who gives an answer to whatever is asked."""
    sits = SimpleNamespace(answer="", asked=[])

    def reply(prompt):
        sits.asked.append(prompt)
        return sits.answer

    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", reply)
    return sits


class TestShippedStudies:
    @pytest.mark.parametrize("name", ["heart-preference", "heart-rubric"])
    def test_load_lock_plan_and_open(self, name):
        make_dialogues(n_systems=20)

        assert study("create", name, "--dataset", "Talks") == [f"{name}: draft on talks{SEEDED}"]
        (locked,) = study("lock", name)
        report = study("plan", name, "--yes")
        assert study("open", name) == [f"{name}: open"]

        stored = Study.objects.get()
        assert locked == f"{name}: locked, version 1, protocol {stored.protocol_hash}"
        assert "84 comparisons: 0 planned before, 84 new, 28 in each context" in report
        assert Comparison.objects.filter(purpose="MAIN").count() == 84
        assert QualityCheck.objects.count() >= 20


class TestCreate:
    def test_makes_a_draft_of_a_changed_version_alone(self, tmp_path):
        make_locked()
        file = changed_file(tmp_path, "session_length = 40", "session_length = 30")

        assert "nothing to make a version of" in refusal("version", "heart-rubric")
        assert study("version", file) == [
            f"heart-rubric-v2: draft of version 2 of heart-rubric{SEEDED}"
        ]

    @pytest.mark.parametrize(
        ("file", "dataset", "reason"),
        [
            ("heart-rubric", "nowhere", 'no dataset "nowhere"'),
            ("no-such-file.toml", "talks", "no-such-file.toml: cannot be read"),
        ],
        ids=["dataset", "file"],
    )
    def test_says_what_is_missing(self, file, dataset, reason):
        make_dialogues()

        assert reason in refusal("create", file, "--dataset", dataset)
        assert not Study.objects.exists()


class TestPlan:
    def test_reports_systems_pairs_of_systems_and_connection(self):
        made = make_study(dataset=make_dialogues(), pairs_per_context=4)

        report = study("plan", made.slug, "--dry-run")

        assert f"{made.slug}: Balanced: every pair as often as the others" in report
        assert "12 comparisons: 0 planned before, 12 new, 4 in each context" in report
        assert "Systems appear 6 times" in report
        assert "Pairs of systems are met 2 times" in report
        assert "    2 system-01      6   2" in report
        assert "    4 system-03      6   2  2  2" in report
        assert "REGULAR: 3 contexts, 12 comparisons, connected" in report

    def test_says_where_a_stratum_falls_into_groups_and_why(self):
        few = make_study(dataset=make_dialogues(n_contexts=1), pairs_per_context=2)
        apart = make_dataset()
        for _ in range(2):
            context = make_context(dialogue=make_dialogue(dataset=apart))
            make_completion(context=context)
            make_completion(context=context)

        of_few = "\n".join(study("plan", few.slug, "--dry-run"))
        of_apart = "\n".join(study("plan", make_study(dataset=apart).slug, "--dry-run"))

        assert "NOT CONNECTED: 2 groups of systems, there are too few pairs" in of_few
        assert "no pair of its contexts would connect them" in of_apart

    def test_counts_the_pairs_of_one_text_and_what_is_held_by_reason(self):
        context = make_context()
        for text in ("I hear you.", "I hear you. ", "What helps?", "As an AI, I hear you."):
            make_completion(context=context, text=text)
        made = make_study(dataset=context.dataset, pairs_per_context=3)

        report = study("plan", made.slug, "--dry-run")

        assert "2 comparisons: 0 planned before, 2 new, 3 in each context" in report
        assert "1 contexts have too few different completions for that many" in report
        assert "1 pairs left out because both replies are word for word the same" in report
        held = "1 completions that seem to give their source away; 0 dropped, 0 released"
        assert f"Held back: {held}" in report
        assert "  self-identification: 1" in report

    def test_writes_when_told_so_beforehand_and_nothing_in_a_dry_run(self):
        made = make_study(dataset=make_dialogues())

        assert study("plan", made.slug, "--dry-run")[-1] == "Dry run: nothing was written."
        assert not Comparison.objects.exists()
        assert not Hold.objects.exists()
        said = "Written: 18 comparisons, 0 completions held; 0 quality checks are planted."
        assert study("plan", made.slug, "--yes")[-1] == said
        assert Comparison.objects.count() == 18
        assert "0 comparisons: 0 planned before, 0 new" in study(
            "plan", make_study().slug, "--dry-run"
        )

    @pytest.mark.parametrize(("answer", "n"), [("y", 18), ("Yes", 18), ("", 0), ("no", 0)])
    def test_asks_a_person_after_the_report(self, person, answer, n):
        made = make_study(dataset=make_dialogues())
        person.answer = answer

        if n:
            study("plan", made.slug)
        else:
            assert refusal("plan", made.slug) == "nothing was written"

        assert person.asked == ["Write 18 comparisons? [y/N] "]
        assert Comparison.objects.count() == n

    def test_refuses_to_guess_where_nobody_can_be_asked(self, monkeypatch):
        made = make_study(dataset=make_dialogues())
        monkeypatch.setattr(sys, "stdin", io.StringIO())

        assert "add --yes" in refusal("plan", made.slug)
        assert not Comparison.objects.exists()

    def test_reports_appearances_alone_for_a_likert_study(self):
        made = make_study(dataset=make_dialogues(), protocol="LIKERT")

        report = study("plan", made.slug, "--yes")

        assert "12 comparisons: 0 planned before, 12 new" in report
        assert not any("Pairs of systems" in line for line in report)
        assert Comparison.objects.filter(second=None).count() == 12


class TestShow:
    def test_tells_state_version_hash_and_numbers(self):
        make_locked()
        study("create", "demo", "--dataset", "talks")

        shown = study("show", "heart-rubric")

        stored = Study.objects.get(slug="heart-rubric")
        assert "  version 1 of heart-rubric, locked, not open yet, on Dataset" in shown[1]
        assert f"  protocol {stored.protocol_hash}" in shown
        assert "  confirmatory: nothing is named" in shown
        assert "  3 contexts, 12 completions" in shown
        assert not any("NOT WHAT WAS LOCKED" in line for line in shown)
        assert "  confirmatory: pairs, dimensions" in study("show", "demo")

    def test_raises_the_alarm_when_the_stored_content_was_tampered_with(self):
        made = make_study()
        Study.objects.update(content=made.content | {"question": "Which one do you like?"})

        assert any("NOT WHAT WAS LOCKED" in line for line in study("show", made.slug))


class TestAnyAct:
    @pytest.mark.parametrize("act", ["lock", "plan", "open", "pause", "close", "show"])
    def test_refuses_a_study_that_does_not_exist(self, act):
        assert refusal(act, "nowhere") == 'there is no study "nowhere"'

    def test_refuses_a_step_that_cannot_follow(self):
        assert "cannot become open" in refusal("open", make_study(state="CLOSED").slug)

    @pytest.mark.parametrize(("act", "state"), [("pause", "PAUSED"), ("close", "CLOSED")])
    def test_moves_an_open_study(self, act, state):
        made = make_study()

        assert study(act, made.slug) == [f"{made.slug}: {state.lower()}"]
        assert Study.objects.get().state == state
