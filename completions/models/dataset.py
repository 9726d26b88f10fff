"""Where dialogues come from."""

from django.db import models
from django.db.models import F, Q


class Dataset(models.Model):
    """A named collection of dialogues and the contexts built from it."""

    slug = models.SlugField(unique=True)
    name = models.CharField(max_length=120)
    licence = models.CharField(max_length=120, blank=True)
    is_authored = models.BooleanField(
        default=False, help_text="Written for this product; not a record of real people."
    )
    is_for_checks = models.BooleanField(
        default=False,
        help_text="Dialogues of quality checks or of vetting: nothing else is ever made from them.",
    )
    completions_per_context = models.PositiveSmallIntegerField(
        default=3, help_text="How many human completions each context wants."
    )
    most_adversarial = models.PositiveSmallIntegerField(
        default=25,
        help_text="Share of adversarial dialogues that one writer is given at most, in %.",
    )
    vetting = models.ForeignKey(
        "self",
        models.PROTECT,
        null=True,
        blank=True,
        related_name="vetted_datasets",
        help_text="Dialogues for newcomers on trial; without it they are let in at once.",
    )
    offers_own_systems = models.BooleanField(
        default=False, help_text="Writers may agree to be rated alone, under a pseudonym."
    )
    host = models.JSONField(
        default=dict,
        null=True,  # for processes of the version before it
        blank=True,
        help_text="Who invites its writers: person, lab, pay, time and contact, as they read it.",
    )
    frozen_at = models.DateTimeField(
        null=True, blank=True, help_text="Since when no text of a person changes any more."
    )
    created_at = models.DateTimeField()

    class Meta:
        constraints = (
            models.CheckConstraint(condition=~Q(slug=""), name="dataset_slug_given"),
            models.CheckConstraint(
                condition=Q(completions_per_context__range=(0, 50)),
                name="dataset_completions_per_context_range",
            ),
            models.CheckConstraint(
                condition=Q(most_adversarial__range=(0, 100)), name="dataset_most_adversarial_share"
            ),
            models.CheckConstraint(
                condition=Q(vetting__isnull=True) | ~Q(vetting=F("pk")),
                name="dataset_vetting_is_another",
            ),
        )

    def __str__(self) -> str:
        return self.slug


class Dialogue(models.Model):
    """One source dialogue: the unit of resampling, with all contexts cut from it."""

    dataset = models.ForeignKey(Dataset, models.PROTECT, related_name="dialogues")
    position = models.PositiveIntegerField(help_text="Place in the source file, from 0.")
    content_hash = models.CharField(max_length=64)
    source_id = models.CharField(max_length=120, blank=True, help_text="Its name in the source.")
    language = models.CharField(max_length=35, default="en", help_text="BCP 47 tag.")
    emotion_type = models.CharField(max_length=60, blank=True, help_text="Normalised label.")
    problem_type = models.CharField(max_length=60, blank=True, help_text="Normalised label.")
    situation = models.TextField(blank=True)
    source_labels = models.JSONField(default=dict, blank=True, help_text="Labels as imported.")
    turns = models.JSONField(help_text='Merged turns: [{"role": ..., "text": ...}, ...].')
    n_utterances = models.PositiveIntegerField(
        help_text="Of an item that is no conversation: 1 with a prompt, else 0."
    )
    imported_at = models.DateTimeField()

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["dataset", "content_hash"], name="dialogue_once_per_dataset"
            ),
        )

    def __str__(self) -> str:
        return f"#{self.pk} {self.dataset_id}/{self.position}"
