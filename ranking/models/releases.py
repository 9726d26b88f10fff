"""Releases: a study's data and results as files that recompute their own table."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from ranking.choices import ReleaseState


class Release(models.Model):
    """One release of a study: what it is made of, and the hash of what came of it.

    A row is claimed when the building starts and completed once. After that only its publication
    is added. ``secret`` makes the ids of raters, and leaves the platform in no form.
    """

    study = models.ForeignKey("annotation.Study", models.PROTECT, related_name="releases")
    version = models.PositiveIntegerField(help_text="1 is the study's first release.")
    key = models.CharField(
        max_length=24, unique=True, help_text="Permanent public name, derived from the contents."
    )
    state = models.CharField(max_length=8, choices=ReleaseState, default=ReleaseState.BUILDING)
    as_of = models.DateTimeField(help_text="Judgments and decisions are those as of this time.")
    fits = models.JSONField(help_text="Keys of the fits whose ratings are released, in order.")
    licence = models.CharField(max_length=60, help_text="SPDX name; of the judgments and ratings.")
    secret = models.CharField(max_length=64, help_text="Key of the raters' ids; never released.")
    manifest_hash = models.CharField(
        max_length=64, blank=True, help_text="SHA-256 of the list of all files' checksums."
    )
    counts = models.JSONField(default=dict, blank=True, help_text="Of what the release holds.")
    check_summary = models.JSONField(
        default=dict, blank=True, help_text="What verifying it said when it was built."
    )
    is_simulated = models.BooleanField(help_text="Some evaluator, system or dialogue is simulated.")
    code_version = models.CharField(max_length=40)
    refusal = models.TextField(blank=True)
    begun = models.PositiveSmallIntegerField(
        default=0, help_text="How often a worker began it; one whose workers are lost is given up."
    )
    step = models.CharField(max_length=60, blank=True, help_text="What is being built now.")
    built_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )
    claimed_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    published_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["study", "version"], name="release_version_once"),
            models.UniqueConstraint(
                fields=["study"],
                condition=Q(state=ReleaseState.BUILDING),
                name="release_one_under_way",
            ),
            models.CheckConstraint(condition=Q(version__gte=1), name="release_version_from_one"),
            models.CheckConstraint(
                condition=Q(state__in=ReleaseState.values), name="release_state_known"
            ),
            models.CheckConstraint(
                condition=Q(
                    state=ReleaseState.BUILDING,
                    ended_at__isnull=True,
                    refusal="",
                    manifest_hash="",
                )
                | (
                    Q(state=ReleaseState.DONE, ended_at__isnull=False, refusal="")
                    & ~Q(manifest_hash="")
                )
                | (
                    Q(state=ReleaseState.REFUSED, ended_at__isnull=False, manifest_hash="")
                    & ~Q(refusal="")
                ),
                name="release_ended_by_state",
            ),
            models.CheckConstraint(
                condition=~Q(secret="") & ~Q(licence=""), name="release_secret_and_licence_given"
            ),
            models.CheckConstraint(
                condition=Q(published_at__isnull=True) | Q(state=ReleaseState.DONE),
                name="release_published_when_done",
            ),
        )
        indexes = (
            models.Index(fields=["study", "-version"], name="release_latest"),
            models.Index(
                fields=["id"],
                condition=Q(state=ReleaseState.BUILDING),
                name="release_building",
            ),
        )

    def __str__(self) -> str:
        return self.key
