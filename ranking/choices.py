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
    BEST_CROSS_FITTED = "BEST_CROSS_FITTED", "Best Human, cross-fitted"
    BEST_PLAIN = "BEST_PLAIN", "Best Human, plain"


class FitState(models.TextChoices):
    """Where a fit stands."""

    RUNNING = "RUNNING", "Being computed"
    DONE = "DONE", "Computed"
    REFUSED = "REFUSED", "The data do not determine the ratings"
