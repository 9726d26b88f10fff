"""What is planted for the simulated HEART study, what an ideal study finds of it, and refusals."""

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from annotation.models import Study
from completions.offline import planted
from heart_site.demo.paper import expecting, planting
from heart_site.demo.paper.ideal import Ideal, ideal_study
from heart_site.demo.paper.judged import PAIRS_OF_JUDGES
from ranking.numerics.agreement.coefficients import fleiss_kappa
from ranking.numerics.bradley_terry import fit_bradley_terry
from ranking.numerics.elo import to_elo

# About as long as the replies of ESConv are.
REPLIES = (
    "I am sorry to hear about it. Have you told anybody else?",
    "Have you talked to somebody at home about all of it, or to a friend from before? " * 2,
    "I went through much the same some years ago. Every evening I wrote down what had gone well. "
    * 3,
)


@pytest.fixture(scope="module")
def study() -> Ideal:
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

    def test_asks_no_judge_about_a_message_of_its_family(self, study):
        for place, family in enumerate(planting.JUDGES):
            own = [planting.family_of(slug) == family for slug in study.slugs]
            concerned = np.array(own)[study.system].any(axis=1)
            assert (np.isnan(study.leads[:, place, 0]) == concerned).all()

    def test_comes_near_the_published_agreement_and_spread(self, study):
        alike, kappa = expecting.rater_agreement(study)
        points = expecting.elo(study).values()

        assert alike == pytest.approx(0.795, abs=0.02)
        assert kappa == pytest.approx(0.673, abs=0.03)
        assert expecting.judges_with_people(study) == pytest.approx(0.787, abs=0.04)
        assert expecting.three_judges(study) == pytest.approx(0.788, abs=0.04)
        for pair, found in expecting.judges_with_each_other(study).items():
            assert found == pytest.approx(PAIRS_OF_JUDGES[pair], abs=0.05)
        assert max(points) - min(points) == pytest.approx(268.7, abs=20)

    def test_comes_near_the_printed_win_rates_and_the_rating_of_the_best_by_people(self, study):
        rates = expecting.win_rates(study)
        printed = planting.row_of(planting.BEST_HUMAN).elo

        for one in planting.models():
            assert rates[one.slug] == pytest.approx(one.published.win_rate, abs=0.08)
        assert expecting.best_human(study) == pytest.approx(printed, abs=15)

    def test_rates_systems_as_an_independent_fit_does(self, study):
        soft, n = expecting.SOFT[study.said + 2].sum(axis=1), len(study.slugs)
        won = np.zeros((n, n))
        for (one, other), value in zip(study.system, soft, strict=True):
            won[one, other] += value
            won[other, one] += study.said.shape[1] - value

        fitted = to_elo(fit_bradley_terry(won).log_strengths)

        assert list(expecting.elo(study).values()) == pytest.approx(fitted.tolist(), abs=1e-6)

    def test_rates_the_texts_at_hand_by_how_good_they_are(self):
        system, merit = np.array([[0, 1], [1, 2], [0, 2]]), np.array([[1.0, 0], [0, -1], [1, -1]])

        points = expecting.elo_of_texts(
            ("a", "b", "c"), system, merit, np.full((3, 2), 100.0), seed=1
        )

        assert points["a"] > points["b"] > points["c"]
        assert points["a"] + points["c"] == pytest.approx(2 * points["b"], abs=20)

    def test_measures_agreement_as_an_independent_coefficient_does(self, study):
        assert expecting.rater_agreement(study)[1] == pytest.approx(fleiss_kappa(study.counts))

    def test_knows_the_planted_pulls(self, study):
        people, judges = expecting.first_position(study)
        assert 0.5 < people < 0.55
        assert 0.5 < judges < 0.55
        assert expecting.twice_the_length(study)[0] > 0.0


def _text(share: float) -> str:
    return planted.write(dict.fromkeys(planted.DIMENSIONS, share), ["I feel low."], draw="")


@pytest.mark.django_db
class TestWhatIsRefused:
    def test_the_full_study_without_its_dialogues(self):
        with pytest.raises(CommandError, match="ESConv") as refused:
            call_command("paper")

        assert refused.value.returncode == 2

    def test_a_file_that_holds_no_dialogues(self, tmp_path):
        file = tmp_path / "dialogues.json"
        file.write_text("{}")

        with pytest.raises(CommandError) as refused:
            call_command("paper", "--dialogues", str(file), "--out", str(tmp_path))

        assert refused.value.returncode == 2
        assert not Study.objects.exists()
