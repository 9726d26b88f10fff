"""The simulated HEART study in small, from the dialogues to every number beside the planted one."""

import io
import json

import pytest
from django.core.management import CommandError, call_command

from annotation.choices import StudyState
from annotation.models import JudgeCall, Judgment, Rater, Study
from completions.models import Completion, HumanLabelling, SpotCheck, System, Writer
from completions.strategies.spot_check_queries import Phase, ledger_of
from heart_site.demo.paper import planting
from heart_site.demo.paper.study import SMALL
from heart_site.demo.rehearsal.rehearsing import Walk
from ranking.release_check.verifying import verify

pytestmark = [pytest.mark.django_db, pytest.mark.full, pytest.mark.xdist_group("simulation")]

TOPICS = (
    *("Size", "Agreement", "Judges", "People and models", "Elo", "Win rate", "Dimensions"),
    *("People's messages", "Reasons", "Strategies", "Labels", "Speed and capability", "Factors"),
    *("Intervals", "Recovery", "Cheaters", "Biases"),
)
"""All that sections 4.3 to 4.9 and 9.6 to 9.12 of the paper report, and what was planted beside."""

PRINTED = {
    *(42_000, 300, 8_400, 0.795, 0.673, 0.787, 0.76, 0.613, 0.85, 0.859, 0.869, 0.788),
    *(0.468, 0.358, 0.174, 268.7, 1510.0, 0.68, 0.86, 0.53, 0.70, 0.94, 0.983, 5.0),
}
"""What protocol.md and the paper give as its figures, but for those of each system."""


def hold(folder) -> str:
    out = io.StringIO()
    call_command("paper", "--size", "small", "--out", str(folder), stdout=out, stderr=io.StringIO())
    return out.getvalue()


@pytest.fixture(scope="module")
def stopped(module_rows, tmp_path_factory):
    """The small study when it is stopped among its raters: the error, and the judgments by then."""
    act, acts = Walk.act, []

    def stop(walk, now):
        acts.append(now)
        if len(acts) == 100:
            raise KeyboardInterrupt
        return act(walk, now)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Walk, "act", stop)
        with pytest.raises(CommandError) as told:
            hold(tmp_path_factory.mktemp("stopped"))
    return told.value, set(Judgment.objects.values_list("pk", flat=True))


@pytest.fixture(scope="module")
def held(stopped, tmp_path_factory):
    """The same study to its end, for all tests below: where its numbers are, and what was said."""
    folder = tmp_path_factory.mktemp("paper")
    return folder, hold(folder)


@pytest.fixture
def numbers(held):
    return json.loads((held[0] / "numbers.json").read_text())


@pytest.fixture
def study(held):
    return Study.objects.get(is_simulated=True)


class TestWhenItIsStopped:
    def test_it_says_how_to_go_on(self, stopped):
        told, _ = stopped
        assert told.returncode == 130
        assert "running it again goes on" in str(told)

    def test_it_goes_on_with_what_was_judged(self, stopped, held):
        _, judged = stopped
        assert judged
        assert judged < set(Judgment.objects.values_list("pk", flat=True))


class TestTheStudy:
    def test_has_contexts_of_both_kinds_and_pairs_as_asked_for(self, study):
        contexts = study.dataset.contexts

        assert contexts.filter(stratum="REGULAR").count() == SMALL.regular
        assert (
            contexts.filter(stratum="ADVERSARIAL", is_simulated=True).count() == SMALL.adversarial
        )
        n_contexts = SMALL.regular + SMALL.adversarial
        assert study.comparisons.filter(purpose="MAIN").count() == (
            n_contexts * SMALL.pairs_per_context
        )

    def test_has_a_text_of_every_system_and_three_by_people_in_each_context(self, study):
        texts = Completion.objects.filter(context__dataset=study.dataset)
        n_contexts = SMALL.regular + SMALL.adversarial

        for slug in planting.strengths():
            wanted = n_contexts * (3 if slug == planting.HUMAN_SLUG else 1)
            if slug == planting.ORIGINAL_SLUG:  # nobody replied to a seeker who was made hostile
                wanted = SMALL.regular
            assert texts.filter(system__slug=slug).count() == wanted

    def test_is_simulated_in_all_its_parts(self, study):
        assert "Simulated" in study.title
        assert all(Rater.objects.filter(study=study).values_list("is_simulated", flat=True))
        assert all(Writer.objects.values_list("is_simulated", flat=True))
        written_by_people = {planting.ORIGINAL_SLUG, "authored-high", "authored-low"}
        systems = System.objects.filter(is_simulated=False)
        assert set(systems.values_list("slug", flat=True)) == written_by_people
        told = study.raters.filter(judgments__isnull=False).values_list("judgments__rationale")
        assert all(words.startswith("Simulated: ") for (words,) in told)

    def test_gives_no_pair_more_judgments_by_people_than_asked_for(self, study):
        for pair in study.comparisons.filter(purpose="MAIN"):
            counted = pair.judgments.filter(rater__isnull=False, revises=None, is_surplus=False)
            main = counted.filter(lease__repeats=None, lease__quality_check=None)
            assert main.count() <= SMALL.judgments_per_pair

    def test_has_every_pair_judged_in_both_orders_by_judges_of_other_families(self, study):
        calls = JudgeCall.objects.filter(comparison__study=study)

        assert not calls.exclude(state="DONE").exists()
        for call in calls.select_related("judge"):
            assert call.judge.family not in {call.first_family, call.second_family}
        sides = calls.values_list("comparison", "judge", "first_side")
        assert {(*key, "A") for *key, _ in sides} == {(*key, "A") for *key, s in sides if s == "A"}
        assert {(*key, "B") for *key, _ in sides} == {(*key, "B") for *key, s in sides if s == "B"}

    def test_has_its_labels_checked_by_two_simulated_people_and_a_third(self, study):
        check = SpotCheck.objects.get(dataset=study.dataset)

        assert ledger_of(check).phase == Phase.SETTLED
        people = HumanLabelling.objects.values_list("labeller__username", flat=True)
        assert set(people) == {f"simulated-labeller-{n}" for n in (1, 2, 3)}

    def test_is_closed_so_that_its_results_can_be_read(self, study, client):
        assert study.state == StudyState.CLOSED
        page = client.get(f"/results/{study.slug}/").content.decode()
        assert "Simulated GPT-5" in page


class TestTheNumbers:
    def test_are_all_there_and_each_published_statistic_with_its_value(self, numbers):
        rows = numbers["numbers"]
        assert tuple(dict.fromkeys(row["topic"] for row in rows)) == TOPICS
        assert {row["printed"] for row in rows} >= PRINTED
        named = {(row["topic"], row["what"]) for row in rows}
        for row in planting.leaderboard():
            if row.kind != "human":
                name = row.name if row.kind == "original" else f"Simulated {row.name}"
                assert {("Elo", name), ("Win rate", name)} <= named
                assert {("Dimensions", f"{name}, {key}") for key in "HEART"} <= named

    def test_have_what_was_planted_and_found_beside(self, numbers):
        """But for what nobody plants: sizes, and the widths of intervals."""
        for row in numbers["numbers"]:
            assert row["found"] is not None, row["what"]
            is_measured = row["topic"] == "Size" or row["what"].startswith("mean half width")
            assert (row["planted"] is None) == is_measured, row["what"]

    def test_say_where_they_come_from(self, numbers, client):
        pages = {row["page"] for row in numbers["numbers"]}

        for page in pages:
            if page.startswith("/results/"):
                assert client.get(page).status_code == 200, page
        assert all(pages)

    def test_find_the_planted_order_and_cheaters(self, numbers):
        found = {row["what"]: row["found"] for row in numbers["numbers"]}

        assert found["planted and found strengths of any texts, Spearman"] > 0.8
        assert found["screened out or excluded, precision"] >= 0.9

    def test_are_a_page_too_that_says_what_it_is(self, held):
        page = (held[0] / "numbers.html").read_text()

        assert "Everything here is simulated" in page
        assert "they say nothing about any real model" in page.lower()
        assert "61.3 %" in page

    def test_come_with_a_release_that_verifies_in_another_folder(self, held):
        assert "verifies in another folder" in held[1]
        assert verify(held[0] / "release", is_quick=True).is_sound


class TestRunningItAgain:
    def test_changes_nothing(self, held, tmp_path):
        before = Judgment.objects.count(), Completion.objects.count()
        first = json.loads((held[0] / "numbers.json").read_text())

        hold(tmp_path)

        again = json.loads((tmp_path / "numbers.json").read_text())
        assert (Judgment.objects.count(), Completion.objects.count()) == before
        assert again["numbers"] == first["numbers"]
        assert again["release"] == first["release"]
