"""What a completion answers."""

from django.db import models
from django.db.models import Q

from completions.choices import EscalationProfile, Review, Stratum
from completions.models.dataset import Dataset, Dialogue


class ContextQuerySet(models.QuerySet["Context"]):
    """Contexts, by what a person decided about them."""

    def in_use(self) -> "ContextQuerySet":
        """Return those from which something new may be made: all that nobody dropped."""
        return self.exclude(review=Review.DROPPED)

    def dropped(self) -> "ContextQuerySet":
        """Return those that a person dropped."""
        return self.filter(review=Review.DROPPED)


class Context(models.Model):
    """A dialogue history that ends on a seeker turn."""

    dataset = models.ForeignKey(Dataset, models.PROTECT, related_name="contexts")
    dialogue = models.ForeignKey(Dialogue, models.PROTECT, related_name="contexts")
    key = models.CharField(
        max_length=24, unique=True, help_text="Stable public name, derived from the content."
    )
    turn_index = models.PositiveSmallIntegerField(
        help_text="Index, in the dialogue's merged turns, of the last seeker turn."
    )
    turns = models.JSONField(help_text='[{"role": "seeker" | "supporter", "text": ...}, ...].')
    stratum = models.CharField(max_length=12, choices=Stratum, default=Stratum.REGULAR)
    escalation_profile = models.CharField(max_length=12, choices=EscalationProfile, blank=True)
    source_context = models.ForeignKey(
        "self", models.PROTECT, null=True, blank=True, related_name="rewrites"
    )
    provenance = models.JSONField(
        default=dict, blank=True, help_text="Selection seed, signals, transformation, prompt hash."
    )
    content_hash = models.CharField(max_length=64)
    is_simulated = models.BooleanField(
        default=False, help_text="Seeker turns come from the offline provider: for trying out only."
    )
    review = models.CharField(max_length=8, choices=Review, default=Review.PENDING)
    review_note = models.TextField(blank=True)
    # Signed, so that the constraint below, and not a nameless one, refuses to go under zero.
    slots_left = models.SmallIntegerField(
        help_text="How many human completions are still wanted and not leased."
    )
    created_at = models.DateTimeField()

    objects = ContextQuerySet.as_manager()

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["dialogue", "turn_index"],
                condition=Q(stratum=Stratum.REGULAR),
                name="context_regular_once_per_turn",
            ),
            models.UniqueConstraint(
                fields=["source_context", "escalation_profile"],
                name="context_rewritten_once_per_profile",
            ),
            models.CheckConstraint(
                condition=Q(stratum__in=Stratum.values), name="context_stratum_known"
            ),
            models.CheckConstraint(
                # An adversarial context made elsewhere was imported whole: no source of ours.
                condition=Q(
                    stratum=Stratum.ADVERSARIAL,
                    escalation_profile__in=EscalationProfile.values,
                    source_context__isnull=False,
                )
                | Q(escalation_profile="", source_context__isnull=True),
                name="context_rewrite_has_profile_and_source",
            ),
            models.CheckConstraint(
                condition=Q(review__in=Review.values), name="context_review_known"
            ),
            models.CheckConstraint(
                condition=Q(slots_left__gte=0), name="context_slots_not_negative"
            ),
        )
        indexes = (
            models.Index(
                fields=["dataset", "id"], condition=Q(slots_left__gt=0), name="context_open"
            ),
        )

    def __str__(self) -> str:
        return self.key
