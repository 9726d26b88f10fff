"""Other people's estimators, loaded when a test asks for one: collecting the tests loads none."""

from typing import TYPE_CHECKING

from access.later import names_of

if TYPE_CHECKING:
    from choix import ilsr_pairwise_dense, opt_pairwise
    from evalica import Winner, average_win_rate, bradley_terry, eigen, elo, pagerank
    from pandas import DataFrame, Series
    from sklearn.decomposition import FactorAnalysis
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import accuracy_score, brier_score_loss, cohen_kappa_score
    from sklearn.model_selection import GroupKFold, cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer
    from statsmodels.discrete.discrete_model import Logit
    from statsmodels.genmod.families import Binomial, Poisson
    from statsmodels.genmod.generalized_linear_model import GLM
    from statsmodels.miscmodels.ordinal_model import OrderedModel
    from statsmodels.multivariate.factor import Factor
    from statsmodels.multivariate.factor_rotation import rotate_factors
    from statsmodels.regression.linear_model import OLS
    from statsmodels.stats.inter_rater import cohens_kappa, fleiss_kappa
    from statsmodels.stats.multitest import multipletests
    from statsmodels.stats.power import TTestPower
    from statsmodels.stats.proportion import proportion_confint
    from statsmodels.tools import add_constant

__all__ = [
    "GLM",
    "OLS",
    "Binomial",
    "DataFrame",
    "Factor",
    "FactorAnalysis",
    "FunctionTransformer",
    "GroupKFold",
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
    "brier_score_loss",
    "cohen_kappa_score",
    "cohens_kappa",
    "cross_val_predict",
    "eigen",
    "elo",
    "fleiss_kappa",
    "ilsr_pairwise_dense",
    "make_pipeline",
    "multipletests",
    "opt_pairwise",
    "pagerank",
    "proportion_confint",
    "rotate_factors",
]

__getattr__ = names_of(__name__)
