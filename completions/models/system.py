"""What produces completions, and language models that help to prepare contexts."""

from django.db import models
from django.db.models import Q

from completions.choices import SystemKind
from completions.models.shapes import Endpoint


class System(models.Model):
    """A producer of completions: one model, the human supporters, or the original reply."""

    slug = models.SlugField(unique=True)
    name = models.CharField(max_length=120, unique=True, help_text="As leaderboards show it.")
    kind = models.CharField(max_length=8, choices=SystemKind)
    family = models.SlugField(
        blank=True, help_text="Maker of the model; a judge never judges its own family."
    )
    model_id = models.CharField(
        max_length=120,
        blank=True,
        help_text='As LiteLLM spells it, e.g. "openai/gpt-5"; empty: its texts are brought in.',
    )
    api_base = models.CharField(max_length=200, blank=True)
    parameters = models.JSONField(default=dict, blank=True, help_text="What this model needs set.")
    facts = models.JSONField(
        default=dict, blank=True, help_text="External facts with their source."
    )
    writer = models.OneToOneField(
        "completions.Writer",
        models.PROTECT,
        null=True,
        blank=True,
        related_name="system",
        help_text="The one supporter whose completions these are; nobody: all others'.",
    )
    is_simulated = models.BooleanField(
        default=False, help_text="Answered by the offline provider; its scores mean nothing."
    )

    retired_at = models.DateTimeField(
        null=True, blank=True, help_text="Since when no new completion of it is asked for."
    )

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=Q(kind__in=SystemKind.values), name="system_kind_known"
            ),
            models.CheckConstraint(
                condition=(Q(kind=SystemKind.MODEL) & ~Q(family=""))
                | (~Q(kind=SystemKind.MODEL) & Q(family="", model_id="")),
                name="system_model_has_family",
            ),
            models.CheckConstraint(
                condition=Q(writer__isnull=True) | Q(kind=SystemKind.HUMAN),
                name="system_of_one_writer_is_human",
            ),
            models.CheckConstraint(
                condition=Q(is_simulated=False) | Q(name__icontains="simulated"),
                name="system_simulated_says_so",
            ),
        )

    def __str__(self) -> str:
        return self.slug


class Assistant(Endpoint):
    """A language model that screens candidates, rewrites seekers or rates hostility.

    It neither competes nor judges: what it makes is checked by rules and by people.
    """
