"""Enumerations stored by the ranking app."""

from django.db import models


class EvaluatorPool(models.TextChoices):
    """Whose judgments a fit rests on."""

    HUMAN = "HUMAN", "People"
    LLM = "LLM", "LLM judges"
    COMBINED = "COMBINED", "People and LLM judges"


class ContextSet(models.TextChoices):
    """Which contexts a fit rests on."""

    ALL = "ALL", "All contexts"
    REGULAR = "REGULAR", "Regular contexts"
    ADVERSARIAL = "ADVERSARIAL", "Adversarial contexts"


class PeopleKind(models.TextChoices):
    """Which system made from people's texts a rating is of, in the order they are shown."""

    AVERAGE = "AVERAGE", "Average Human"
    MEAN_TEXT = "MEAN_TEXT", "Mean of the texts of a context"
    RANDOM_TEXT = "RANDOM_TEXT", "Random text of a context"
    BEST_CROSS_FITTED = "BEST_CROSS_FITTED", "Best Human, cross-fitted"
    BEST_PLAIN = "BEST_PLAIN", "Best Human, plain"


class FitState(models.TextChoices):
    """Where a fit stands."""

    RUNNING = "RUNNING", "Being computed"
    DONE = "DONE", "Computed"
    REFUSED = "REFUSED", "The data do not determine the ratings"


class AnalysisKind(models.TextChoices):
    """What an analysis of a fit is about, in the order they are shown."""

    PAIRS = "PAIRS", "System against system"
    DIMENSIONS = "DIMENSIONS", "Dimension by dimension"
    WEIGHTS = "WEIGHTS", "Dimensions by weight"
    LIKERT = "LIKERT", "Messages rated alone"
    PEOPLE = "PEOPLE", "People and models"
    AGREEMENT = "AGREEMENT", "Do evaluators agree?"
    CHECKS = "CHECKS", "Does the model fit?"
    FRAGILITY = "FRAGILITY", "Robustness of first place"
    STYLE = "STYLE", "Adjusted for length and style"
    BIAS = "BIAS", "Bias audits"
    DRAWS = "DRAWS", "Ties and strengths"
    RATERS = "RATERS", "Strict and lenient judges"
    RANKERS = "RANKERS", "Other rankers"
    RATIONALES = "RATIONALES", "Rationale themes"
    STRATEGIES = "STRATEGIES", "Strategies of support"
    FACTORS = "FACTORS", "What the dimensions have in common"
    LATENCY = "LATENCY", "Speed and capability"
    JUDGE = "JUDGE", "A judge calibrated by people"
    PLANNING = "PLANNING", "How many more judgments?"


class ReleaseState(models.TextChoices):
    """Where a release stands."""

    BUILDING = "BUILDING", "Being built"
    DONE = "DONE", "Built"
    REFUSED = "REFUSED", "Not built"
