"""Other people's estimators, loaded when a test asks for one: collecting the tests loads none."""

from typing import TYPE_CHECKING

from access.later import names_of

if TYPE_CHECKING:
    from evalica import Winner, average_win_rate, bradley_terry, eigen, elo, pagerank
    from pandas import DataFrame, Series
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import accuracy_score, cohen_kappa_score
    from statsmodels.discrete.discrete_model import Logit
    from statsmodels.genmod.families import Binomial, Poisson
    from statsmodels.genmod.generalized_linear_model import GLM
    from statsmodels.miscmodels.ordinal_model import OrderedModel
    from statsmodels.regression.linear_model import OLS
    from statsmodels.stats.inter_rater import cohens_kappa, fleiss_kappa
    from statsmodels.stats.multitest import multipletests
    from statsmodels.stats.power import TTestPower
    from statsmodels.tools import add_constant

__all__ = [
    "GLM",
    "OLS",
    "Binomial",
    "DataFrame",
    "LogisticRegression",
    "Logit",
    "OrderedModel",
    "Poisson",
    "Series",
    "TTestPower",
    "Winner",
    "accuracy_score",
    "add_constant",
    "average_win_rate",
    "bradley_terry",
    "cohen_kappa_score",
    "cohens_kappa",
    "eigen",
    "elo",
    "fleiss_kappa",
    "multipletests",
    "pagerank",
]

__getattr__ = names_of(__name__)
