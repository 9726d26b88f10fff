"""The command line of studies, from a file to an open study; and the shadow of a study."""

import hashlib
import io
import sys
from unittest.mock import Mock

import pytest
from django.core.management import CommandError, call_command

from access.models import LogEntry
from annotation.choices import Purpose, StudyState
from annotation.models import Comparison, QualityCheck, Study
from annotation.studies.protocol.files import STUDIES
from annotation.studies.services.shadow_studies import (
    Rehearsal,
    ShadowStudyError,
    make_shadow_study,
)
from completions.models import Hold
from tests.conftest import rolled_back
from tests.helpers.datasets import make_dialogues
from tests.helpers.factories import (
    NOW,
    make_comparison,
    make_completion,
    make_context,
    make_dataset,
    make_judgment,
    make_quality_check,
    make_rater,
    make_study,
)

pytestmark = pytest.mark.django_db

SEEDED = ", with a seed of its own, secret until the study is closed"
TEN = Rehearsal(n_raters=10, seed=1)


def run_study(*arguments):
    """Run an act and return what it said, line by line."""
    out = io.StringIO()
    call_command("study", *arguments, stdout=out)
    return out.getvalue().splitlines()


def make_locked():
    """Store and lock a study of the file that ships; return its dataset."""
    dataset = make_dialogues().slug
    run_study("create", "heart-rubric", "--dataset", dataset)
    run_study("lock", "heart-rubric")
    return dataset


def refusal(*arguments):
    with pytest.raises(CommandError) as caught:
        run_study(*arguments)
    assert caught.value.returncode == 2
    return str(caught.value)


class TestShippedStudies:
    def test_load_lock_plan_and_open(self):
        name, dataset = "heart-preference", make_dialogues(n_systems=9).slug

        said = run_study("create", name, "--dataset", dataset.capitalize())
        assert said == [f"{name}: draft on {dataset}{SEEDED}"]
        (locked,) = run_study("lock", name)
        report = run_study("plan", name, "--yes")
        assert run_study("open", name) == [f"{name}: open"]

        stored = Study.objects.get()
        assert locked == f"{name}: locked, version 1, protocol {stored.protocol_hash}"
        assert "56 comparisons: 0 planned before, 56 new, 28 in each context" in report
        assert Comparison.objects.filter(purpose="MAIN").count() == 56
        assert QualityCheck.objects.count() >= 20


def test_opening_says_that_nothing_is_planned():
    study = make_study(state="LOCKED")
    nothing = "Nothing is planned yet: raters would find nothing to judge."

    assert run_study("open", study.slug) == [f"{study.slug}: open", nothing]
    assert run_study("pause", study.slug) == [f"{study.slug}: paused"]
    make_comparison(study=study)
    assert run_study("open", study.slug) == [f"{study.slug}: open"]


class TestCreate:
    def test_makes_a_draft_of_a_changed_version_alone(self, tmp_path):
        make_locked()
        shipped = (STUDIES / "heart-rubric.toml").read_text(encoding="utf-8")
        file = tmp_path / "changed.toml"
        file.write_text(shipped.replace("session_length = 40", "session_length = 30"), "utf-8")

        assert "nothing to make a version of" in refusal("version", "heart-rubric")
        said = f"heart-rubric-v2: draft of version 2 of heart-rubric{SEEDED}"
        assert run_study("version", str(file)) == [said]

    @pytest.mark.parametrize(
        ("file", "dataset", "reason"),
        [
            ("heart-rubric", "nowhere", 'no dataset "nowhere"'),
            ("no-such-file.toml", "talks", "no-such-file.toml: cannot be read"),
        ],
        ids=["dataset", "file"],
    )
    def test_says_what_is_missing(self, file, dataset, reason):
        make_dataset(slug="talks")

        assert reason in refusal("create", file, "--dataset", dataset)
        assert not Study.objects.exists()


class TestPlan:
    def test_reports_systems_pairs_of_systems_and_connection(self):
        made = make_study(dataset=make_dialogues(), pairs_per_context=3)

        report = run_study("plan", made.slug, "--dry-run")

        assert f"{made.slug}: Balanced: every pair as often as the others" in report
        assert "6 comparisons: 0 planned before, 6 new, 3 in each context" in report
        assert "Systems appear 3 times" in report
        assert "Pairs of systems are met 1 times" in report
        assert "    2 system-1      3   1" in report
        assert "    4 system-3      3   1  1  1" in report
        assert "REGULAR: 2 contexts, 6 comparisons, connected" in report

    def test_says_where_a_stratum_falls_into_groups_and_why(self):
        few = make_study(dataset=make_dialogues(), pairs_per_context=1)
        apart = make_dataset()
        for _ in range(2):
            context = make_context(dataset=apart)
            make_completion(context=context)
            make_completion(context=context)

        of_few = "\n".join(run_study("plan", few.slug, "--dry-run"))
        of_apart = "\n".join(run_study("plan", make_study(dataset=apart).slug, "--dry-run"))

        assert "NOT CONNECTED: 2 groups of systems, there are too few pairs" in of_few
        assert "no pair of its contexts would connect them" in of_apart

    def test_counts_the_pairs_of_one_text_and_what_is_held_by_reason(self):
        context = make_context()
        for text in ("I hear you.", "I hear you. ", "What helps?", "As an AI, I hear you."):
            make_completion(context=context, text=text)
        made = make_study(dataset=context.dataset, pairs_per_context=3)

        report = run_study("plan", made.slug, "--dry-run")

        assert "2 comparisons: 0 planned before, 2 new, 3 in each context" in report
        assert "too few different completions for that many: 1 context" in report
        assert "1 pair left out because both replies are word for word the same" in report
        held = "1 completion that may give the source away; 0 dropped, 0 released"
        assert f"Held back: {held}" in report
        assert "  self-identification: 1" in report

    def test_writes_when_told_so_beforehand_and_nothing_in_a_dry_run(self):
        made = make_study(dataset=make_dialogues())

        assert run_study("plan", made.slug, "--dry-run")[-1] == "Dry run: nothing was written."
        assert not Comparison.objects.exists()
        assert not Hold.objects.exists()
        said = "Written: 12 comparisons, 0 completions held; 0 quality checks are planted."
        assert run_study("plan", made.slug, "--yes")[-1] == said
        assert Comparison.objects.count() == 12
        assert "0 comparisons: 0 planned before, 0 new" in run_study(
            "plan", make_study().slug, "--dry-run"
        )

    @pytest.mark.parametrize(("answer", "n"), [("y", 12), ("Yes", 12), ("", 0), ("no", 0)])
    def test_asks_a_person_after_the_report(self, monkeypatch, answer, n):
        made, ask = make_study(dataset=make_dialogues()), Mock(return_value=answer)
        monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
        monkeypatch.setattr("builtins.input", ask)

        if n:
            run_study("plan", made.slug)
        else:
            assert refusal("plan", made.slug) == "nothing was written"

        ask.assert_called_once_with("Write 12 comparisons? [y/N] ")
        assert Comparison.objects.count() == n

    def test_refuses_to_guess_where_nobody_can_be_asked(self, monkeypatch):
        made = make_study(dataset=make_dialogues())
        monkeypatch.setattr(sys, "stdin", io.StringIO())

        assert "add --yes" in refusal("plan", made.slug)
        assert not Comparison.objects.exists()

    def test_reports_appearances_alone_for_a_likert_study(self):
        made = make_study(dataset=make_dialogues(), protocol="LIKERT")

        report = run_study("plan", made.slug, "--yes")

        assert "8 comparisons: 0 planned before, 8 new" in report
        assert not any("Pairs of systems" in line for line in report)
        assert Comparison.objects.filter(second=None).count() == 8


class TestShow:
    def test_tells_state_version_hash_and_numbers(self):
        run_study("create", "demo", "--dataset", make_locked())

        shown = run_study("show", "heart-rubric")

        stored = Study.objects.get(slug="heart-rubric")
        assert "  version 1 of heart-rubric, locked, not open yet, on Dataset" in shown[1]
        assert f"  protocol {stored.protocol_hash}" in shown
        assert "  confirmatory: nothing is named" in shown
        assert "  2 contexts, 8 completions" in shown
        assert not any("NOT WHAT WAS LOCKED" in line for line in shown)
        assert "  confirmatory: pairs, dimensions" in run_study("show", "demo")

    def test_raises_the_alarm_when_the_stored_content_was_tampered_with(self):
        made = make_study()
        Study.objects.update(content=made.content | {"question": "Which one do you like?"})

        assert any("NOT WHAT WAS LOCKED" in line for line in run_study("show", made.slug))


class TestAnyAct:
    @pytest.mark.parametrize("act", ["lock", "plan", "open", "pause", "close", "show"])
    def test_refuses_a_study_that_does_not_exist(self, act):
        assert refusal(act, "nowhere") == 'there is no study "nowhere"'

    def test_refuses_a_step_that_cannot_follow(self):
        assert "closed cannot be opened" in refusal("open", make_study(state="CLOSED").slug)

    @pytest.mark.parametrize(("act", "state"), [("pause", "PAUSED"), ("close", "CLOSED")])
    def test_moves_an_open_study(self, act, state):
        made = make_study()

        assert run_study(act, made.slug) == [f"{made.slug}: {state.lower()}"]
        assert Study.objects.get().state == state


@pytest.fixture
def study():
    study = make_study(slug="real", title="Kindness", session_length=4, judgments_per_pair=2)
    judged = make_comparison(study=study, slots_left=0, weight=2.0, shown_first_as_a=2)
    make_judgment(comparison=judged, rater=make_rater(study=study))
    make_comparison(study=study, held_at=NOW)
    make_quality_check(comparison=make_comparison(study=study, purpose=Purpose.CHECK, slots_left=0))
    return study


@pytest.fixture
def shadow(study):
    return make_shadow_study(study=study, rehearsal=TEN, now=NOW)


class TestAShadow:
    def test_says_that_it_is_simulated_in_its_name_its_title_and_its_row(self, shadow, study):
        assert shadow.is_simulated
        assert shadow.slug == shadow.name == "simulated-real-10-1"
        assert shadow.title == "Simulated raters: Kindness"
        assert shadow.content["title"] == shadow.title
        entry = LogEntry.objects.get(action="study.rehearsed")
        assert entry.after == {"copy_of": "real", "raters": 10, "seed": 1}

    def test_is_of_one_study_alone_however_alike_long_names_begin(self):
        studies = [make_study(slug=f"{'long-' * 8}{end}") for end in ("one", "two")]
        for one in studies:
            make_comparison(study=one)

        made = [make_shadow_study(study=one, rehearsal=TEN, now=NOW) for one in studies]

        assert len({one.slug for one in made}) == 2

    def test_is_open_and_locked_under_a_hash_of_its_own_without_people(self, shadow, study):
        assert (shadow.state, shadow.locked_at) == (StudyState.OPEN, NOW)
        assert len(shadow.protocol_hash) == 64
        assert shadow.protocol_hash != study.protocol_hash
        assert (shadow.raters.count(), study.raters.count()) == (0, 1)

    def test_has_the_protocol_of_its_study(self, shadow, study):
        own = {"slug", "name", "title", "version", "judgments_per_pair", "seed_sha256"}

        assert {
            key for key in shadow.content if study.content.get(key) != shadow.content[key]
        } <= own
        assert shadow.session_length == study.session_length

    def test_has_a_seed_of_its_own_the_same_each_time_that_does_not_tell_its_studys(self, study):
        def seed_of(rehearsal):
            with rolled_back():
                shadow = make_shadow_study(study=study, rehearsal=rehearsal, now=NOW)
            assert shadow.content["seed_sha256"] == hashlib.sha256(shadow.seed.encode()).hexdigest()
            return shadow.seed

        assert seed_of(TEN) == seed_of(TEN) != seed_of(Rehearsal(10, 2))
        assert study.seed not in seed_of(TEN)

    def test_has_the_comparisons_with_every_slot_free_and_the_checks(self, shadow, study):
        def described(one: Study) -> list[tuple[object, ...]]:
            rows = one.comparisons.order_by("position")
            return list(rows.values_list("key", "first", "second", "purpose", "weight", "held_at"))

        main = shadow.comparisons.filter(purpose=Purpose.MAIN)
        assert described(shadow) == described(study)
        assert set(main.values_list("slots_left", "shown_first_as_a")) == {(20, 0)}
        check = QualityCheck.objects.get(comparison__study=shadow)
        assert (check.kind, check.expected, check.comparison.slots_left) == ("GOLD", "FIRST", 0)

    @pytest.mark.parametrize(
        ("rehearsal", "n"),
        [(Rehearsal(1, 1), 2), (Rehearsal(1000, 1, judgments_per_pair=3), 3)],
        ids=["as its study where its raters can give less", "as the rehearsal says"],
    )
    def test_asks_for_as_many_judgments(self, study, rehearsal, n):
        shadow = make_shadow_study(study=study, rehearsal=rehearsal, now=NOW)

        assert shadow.judgments_per_pair == n


class TestMakingAShadow:
    def test_again_finds_it_and_for_other_numbers_makes_another(self, shadow, study):
        assert make_shadow_study(study=study, rehearsal=TEN, now=NOW) == shadow
        assert shadow.comparisons.count() == 3
        assert make_shadow_study(study=study, rehearsal=Rehearsal(10, 2), now=NOW) != shadow

    def test_of_a_long_name_stays_within_the_column(self):
        study = make_study(slug="long-" * 9 + "long", title="t" * 120)
        make_comparison(study=study)

        shadow = make_shadow_study(study=study, rehearsal=TEN, now=NOW)

        assert len(shadow.slug) <= 50
        assert shadow.slug.endswith("-10-1")

    def test_refuses_to_simulate_into_a_real_study(self, study):
        make_study(slug=TEN.slug(study))

        with pytest.raises(ShadowStudyError, match="never let into"):
            make_shadow_study(study=study, rehearsal=TEN, now=NOW)

    def test_refuses_a_copy_of_a_copy(self, shadow):
        with pytest.raises(ShadowStudyError, match="itself simulated"):
            make_shadow_study(study=shadow, rehearsal=TEN, now=NOW)

    def test_refuses_a_study_without_comparisons_and_writes_nothing(self):
        study = make_study()

        with pytest.raises(ShadowStudyError, match="plan it first"):
            make_shadow_study(study=study, rehearsal=TEN, now=NOW)
        assert Study.objects.count() == 1
