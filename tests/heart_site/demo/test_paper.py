"""The simulated HEART study: what is planted, what an ideal study finds of it, and it in small.

The small one goes from the dialogues to every number beside the planted one.
"""

import io
import json

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from annotation.choices import StudyState
from annotation.models import JudgeCall, Judgment, Rater, Study
from completions.models import Completion, HumanLabelling, SpotCheck, System, Writer
from completions.offline import planted
from completions.strategies.spot_check_queries import Phase, ledger_of
from heart_site.demo.paper import expecting, planting
from heart_site.demo.paper.ideal import Ideal, ideal_study
from heart_site.demo.paper.judged import PAIRS_OF_JUDGES
from heart_site.demo.paper.study import SMALL
from heart_site.demo.rehearsal.rehearsing import Walk
from ranking.numerics.agreement.coefficients import fleiss_kappa
from ranking.numerics.bradley_terry import fit_bradley_terry
from ranking.numerics.elo import to_elo
from ranking.release_check.verifying import verify

pytestmark = pytest.mark.xdist_group("simulation")

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


@pytest.mark.full
@pytest.mark.django_db
class TestWhenItIsStopped:
    def test_it_says_how_to_go_on(self, stopped):
        told, _ = stopped
        assert told.returncode == 130
        assert "running it again goes on" in str(told)

    def test_it_goes_on_with_what_was_judged(self, stopped, held):
        _, judged = stopped
        assert judged
        assert judged < set(Judgment.objects.values_list("pk", flat=True))


@pytest.mark.full
@pytest.mark.django_db
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


@pytest.mark.full
@pytest.mark.django_db
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


@pytest.mark.full
@pytest.mark.django_db
class TestRunningItAgain:
    def test_changes_nothing(self, held, tmp_path):
        before = Judgment.objects.count(), Completion.objects.count()
        first = json.loads((held[0] / "numbers.json").read_text())

        hold(tmp_path)

        again = json.loads((tmp_path / "numbers.json").read_text())
        assert (Judgment.objects.count(), Completion.objects.count()) == before
        assert again["numbers"] == first["numbers"]
        assert again["release"] == first["release"]


# About as long as the replies of ESConv are.
REPLIES = (
    "I am sorry to hear about it. Have you told anybody else?",
    "Have you talked to somebody at home about all of it, or to a friend from before? " * 2,
    "I went through much the same some years ago. Every evening I wrote down what had gone well. "
    * 3,
)


@pytest.fixture(scope="module")
def ideal() -> Ideal:
    return ideal_study(n_contexts=300, seed=1, originals=REPLIES)


class TestPlanting:
    def test_has_a_simulated_system_for_each_model_of_the_leaderboard(self):
        models = planting.models()

        assert len(models) == 16
        assert all(one.name.startswith("Simulated ") for one in models)
        assert all(one.slug.startswith("simulated-") and one.family for one in models)
        assert len({one.model_id for one in models}) == 16
        assert set(planting.JUDGES) <= {one.family for one in models}

    def test_plants_strengths_in_the_order_of_the_printed_win_rates(self):
        models = planting.models()

        by_strength = sorted(models, key=lambda one: -one.strength)
        by_rate = sorted(models, key=lambda one: -one.published.win_rate)

        assert by_strength == by_rate

    def test_lifts_a_message_by_what_it_serves_better_than_its_system(self):
        slug = planting.models()[0].slug
        texts = {share: _text(share) for share in (0.0, 1.0)}

        gap = planting.lift(texts[1.0], slug) - planting.lift(texts[0.0], slug)

        assert gap == pytest.approx(5 * planting.PART)


class TestAnIdealStudy:
    def test_is_the_same_from_the_same_numbers(self):
        one, other = (ideal_study(n_contexts=3, seed=2, originals=REPLIES) for _ in range(2))

        assert one.words == other.words
        assert (one.said == other.said).all()

    def test_asks_no_judge_about_a_message_of_its_family(self, ideal):
        for place, family in enumerate(planting.JUDGES):
            own = [planting.family_of(slug) == family for slug in ideal.slugs]
            concerned = np.array(own)[ideal.system].any(axis=1)
            assert (np.isnan(ideal.leads[:, place, 0]) == concerned).all()

    def test_comes_near_the_published_agreement_and_spread(self, ideal):
        alike, kappa = expecting.rater_agreement(ideal)
        points = expecting.elo(ideal).values()

        assert alike == pytest.approx(0.795, abs=0.02)
        assert kappa == pytest.approx(0.673, abs=0.03)
        assert expecting.judges_with_people(ideal) == pytest.approx(0.787, abs=0.04)
        assert expecting.three_judges(ideal) == pytest.approx(0.788, abs=0.04)
        for pair, found in expecting.judges_with_each_other(ideal).items():
            assert found == pytest.approx(PAIRS_OF_JUDGES[pair], abs=0.05)
        assert max(points) - min(points) == pytest.approx(268.7, abs=20)

    def test_comes_near_the_printed_win_rates_and_the_rating_of_the_best_by_people(self, ideal):
        rates = expecting.win_rates(ideal)
        printed = planting.row_of(planting.BEST_HUMAN).elo

        for one in planting.models():
            assert rates[one.slug] == pytest.approx(one.published.win_rate, abs=0.08)
        assert expecting.best_human(ideal) == pytest.approx(printed, abs=15)

    def test_rates_systems_as_an_independent_fit_does(self, ideal):
        soft, n = expecting.SOFT[ideal.said + 2].sum(axis=1), len(ideal.slugs)
        won = np.zeros((n, n))
        for (one, other), value in zip(ideal.system, soft, strict=True):
            won[one, other] += value
            won[other, one] += ideal.said.shape[1] - value

        fitted = to_elo(fit_bradley_terry(won).log_strengths)

        assert list(expecting.elo(ideal).values()) == pytest.approx(fitted.tolist(), abs=1e-6)

    def test_rates_the_texts_at_hand_by_how_good_they_are(self):
        system, merit = np.array([[0, 1], [1, 2], [0, 2]]), np.array([[1.0, 0], [0, -1], [1, -1]])

        points = expecting.elo_of_texts(
            ("a", "b", "c"), system, merit, np.full((3, 2), 100.0), seed=1
        )

        assert points["a"] > points["b"] > points["c"]
        assert points["a"] + points["c"] == pytest.approx(2 * points["b"], abs=20)

    def test_measures_agreement_as_an_independent_coefficient_does(self, ideal):
        assert expecting.rater_agreement(ideal)[1] == pytest.approx(fleiss_kappa(ideal.counts))

    def test_knows_the_planted_pulls(self, ideal):
        people, judges = expecting.first_position(ideal)
        assert 0.5 < people < 0.55
        assert 0.5 < judges < 0.55
        assert expecting.twice_the_length(ideal)[0] > 0.0


def _text(share: float) -> str:
    return planted.write(dict.fromkeys(planted.DIMENSIONS, share), ["I feel low."], draw="")


@pytest.mark.django_db
class TestWhatIsRefused:
    def test_the_full_study_without_its_dialogues(self):
        with pytest.raises(CommandError, match="ESConv") as refused:
            call_command("paper")

        assert refused.value.returncode == 2

    def test_a_file_that_holds_no_dialogues(self, tmp_path):
        file, before = tmp_path / "dialogues.json", Study.objects.count()
        file.write_text("{}")

        with pytest.raises(CommandError) as refused:
            call_command("paper", "--dialogues", str(file), "--out", str(tmp_path))

        assert refused.value.returncode == 2
        assert Study.objects.count() == before
