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


class FitState(models.TextChoices):
    """Where a fit stands."""

    RUNNING = "RUNNING", "Being computed"
    DONE = "DONE", "Computed"
    REFUSED = "REFUSED", "The data do not determine the ratings"
