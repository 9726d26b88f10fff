"""Enumerations stored by the ranking app."""

from django.db import models
from django.utils.translation import gettext_lazy as _


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

    @property
    def question(self) -> str:
        """Return what the analysis asks."""
        return str(QUESTIONS[self])


QUESTIONS = {
    AnalysisKind.PAIRS: _(
        "Who is preferred to whom, how often, and which differences are more than chance."
    ),
    AnalysisKind.DIMENSIONS: _("The ranking on each dimension of the rubric."),
    AnalysisKind.WEIGHTS: _("The ranking for whom some dimensions matter more than others."),
    AnalysisKind.LIKERT: _("How messages are rated that are read alone, and who is strict."),
    AnalysisKind.PEOPLE: _("How often people\u2019s messages are preferred to those of models."),
    AnalysisKind.AGREEMENT: _("How often people and judges say the same of the same pair."),
    AnalysisKind.CHECKS: _("Where the judgments and the model behind the table part."),
    AnalysisKind.FRAGILITY: _(
        "How many judgments, dialogues or evaluators would have to go for another first place."
    ),
    AnalysisKind.STYLE: _("What changes when replies of like length and style are compared."),
    AnalysisKind.BIAS: _("Whether place, length, kinship or time sways those who judge."),
    AnalysisKind.DRAWS: _("What changes when ties and grades are part of the model."),
    AnalysisKind.RATERS: _("Who judges reliably, and what changes when that counts."),
    AnalysisKind.RANKERS: _("What other ways to rank would say."),
    AnalysisKind.RATIONALES: _("What evaluators name when they say why."),
    AnalysisKind.STRATEGIES: _("Which ways of supporting each system uses, and which win."),
    AnalysisKind.FACTORS: _("Whether the dimensions measure one thing or several."),
    AnalysisKind.LATENCY: _("Whether fast or capable systems are rated higher."),
    AnalysisKind.JUDGE: _("How far a judge can stand in for people, once held against them."),
    AnalysisKind.PLANNING: _("How many judgments tell neighbouring systems apart."),
}


class ReleaseState(models.TextChoices):
    """Where a release stands."""

    BUILDING = "BUILDING", "Being built"
    DONE = "DONE", "Built"
    REFUSED = "REFUSED", "Not built"
