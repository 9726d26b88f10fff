"""What analyses rate from single judgments is what the fit rated from groups of them."""

import numpy as np
import pytest

from ranking.analyses.boards import rated
from ranking.choices import ContextSet, EvaluatorPool
from ranking.fits.estimate import estimate_ratings
from ranking.judgments import frames
from ranking.judgments.method import Method
from ranking.numerics.elo import to_elo
from ranking.numerics.strength_mode import StrengthMode
from tests.helpers.judged import make_judged_study

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("masses", [None, (1.0, 3.0)], ids=["as many as there are", "masses"])
@pytest.mark.parametrize("strength", StrengthMode)
def test_a_board_has_the_ratings_and_the_resamples_of_the_fit(now, strength, masses):
    study = make_judged_study(with_llm=True, n_dialogues=6)
    selection = frames.Selection(study, EvaluatorPool.COMBINED, ContextSet.ALL, now)
    method = Method(strength, 2, 4, level=0.95, replicates=30, seed=5, masses=masses)

    board = rated(frames.read_columns(selection), method)

    fit = estimate_ratings(frames.read_groups(selection), method)
    assert board.systems == fit.systems
    np.testing.assert_allclose(board.elo, fit.elo, atol=1e-6)
    np.testing.assert_allclose(board.resampled, to_elo(fit.replicates.fitted()), atol=1e-5)
