"""What models find in rationales, and which of them may be released."""

from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q

from access.models import AppendOnlyModel
from access.nudges import Work
from annotation.choices import TextOutcome, TextState
from annotation.models.judging import Judgment
from annotation.models.study import Study
from completions.models import (
    Assistant,
    LabelSample,
    PeoplesLabels,
    ProviderCall,
    Run,
    SampledItem,
    StoredLabel,
)


class RationaleRun(Run):
    """A run that has a model find the themes of a study's rationales."""

    kind = "rationales"
    work = Work.FIND_THEMES
    study = models.ForeignKey(Study, models.PROTECT, related_name="rationale_runs")


class RationaleCall(ProviderCall):
    """The call by which one assistant finds the themes that one judgment's rationale speaks of."""

    run = models.ForeignKey(RationaleRun, models.PROTECT, related_name="calls")
    judgment = models.ForeignKey(Judgment, models.PROTECT, related_name="rationale_calls")
    assistant = models.ForeignKey(Assistant, models.PROTECT, related_name="rationale_calls")
    codebook = models.CharField(max_length=60, help_text="Name and version.")

    class Meta(ProviderCall.Meta):
        constraints: ClassVar[tuple[models.BaseConstraint, ...]] = (
            *ProviderCall.Meta.constraints,
            models.UniqueConstraint(
                fields=["judgment", "assistant", "codebook"],
                name="rationalecall_once_per_judgment",
            ),
        )

    def __str__(self) -> str:
        return f"#{self.pk} {self.assistant_id} on {self.judgment_id}"


class ThemeLabel(StoredLabel):
    """What a model said of one theme in one rationale."""

    KEY = "theme"

    call = models.ForeignKey(RationaleCall, models.PROTECT, related_name="labels")
    theme = models.CharField(max_length=40, help_text="A key of the codebook.")

    class Meta(StoredLabel.Meta):
        constraints: ClassVar[tuple[models.BaseConstraint, ...]] = (
            models.UniqueConstraint(fields=["call", "theme"], name="themelabel_once"),
            *StoredLabel.Meta.constraints,
        )

    def __str__(self) -> str:
        return f"{self.call_id} {self.theme} {self.presence}"


class ThemeCheck(LabelSample):
    """A sample of rationales whose themes two people name, unseen by each other."""

    study = models.ForeignKey(Study, models.PROTECT, related_name="theme_checks")
    assistant = models.ForeignKey(Assistant, models.PROTECT, related_name="theme_checks")

    class Meta(LabelSample.Meta):
        constraints: ClassVar[tuple[models.BaseConstraint, ...]] = (
            models.UniqueConstraint(
                fields=["study", "assistant", "codebook", "seed"], name="themecheck_once"
            ),
            *LabelSample.Meta.constraints,
        )

    def __str__(self) -> str:
        return f"#{self.pk} {self.study_id}"


class ThemeCheckItem(SampledItem):
    """One rationale of the sample, at its place in the order."""

    spot_check = models.ForeignKey(ThemeCheck, models.PROTECT, related_name="items")
    judgment = models.ForeignKey(Judgment, models.PROTECT, related_name="theme_check_items")

    class Meta(SampledItem.Meta):
        constraints: ClassVar[tuple[models.BaseConstraint, ...]] = (
            models.UniqueConstraint(
                fields=["spot_check", "judgment"], name="themecheckitem_judgment_once"
            ),
            *SampledItem.Meta.constraints,
        )

    def __str__(self) -> str:
        return f"{self.spot_check_id} {self.position}"


class ThemeLabelling(PeoplesLabels):
    """Which themes a person finds in one rationale."""

    FOUND = "themes"

    item = models.ForeignKey(ThemeCheckItem, models.PROTECT, related_name="labellings")
    labeller = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="theme_labellings"
    )
    themes = models.JSONField(help_text="Keys of the codebook that are present.")

    class Meta(PeoplesLabels.Meta):
        indexes = (models.Index(fields=["item", "labeller"], name="themelabelling_by_person"),)

    def __str__(self) -> str:
        return f"{self.item_id} by {self.labeller_id}"


class MarkedText:
    """Has the passages of a text that may be personal data: kind, start and end of each."""

    passages: Any

    @property
    def kinds(self) -> list[str]:
        """Which kinds there are, by name."""
        return sorted({str(kind) for kind, *_ in self.passages})


class RationaleScan(MarkedText, models.Model):
    """What the rules on personal data found in one judgment's rationale, and how it stands."""

    judgment = models.OneToOneField(Judgment, models.PROTECT, related_name="scan")
    rules = models.CharField(max_length=60, help_text="Version of the rules that read it last.")
    text_hash = models.CharField(max_length=64, help_text="SHA-256 of the text that was read.")
    passages = models.JSONField(default=list, blank=True, help_text="Kind, start, end of each.")
    n_passages = models.PositiveSmallIntegerField(default=0)
    state = models.CharField(max_length=8, choices=TextState)
    scanned_at = models.DateTimeField()

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=Q(state__in=TextState.values), name="rationalescan_state_known"
            ),
            models.CheckConstraint(
                condition=Q(state__in=(TextState.RELEASED, TextState.WITHHELD))
                | Q(state=TextState.CLEAN, n_passages=0)
                | Q(state__in=(TextState.WAITING, TextState.MASKED), n_passages__gt=0),
                name="rationalescan_state_fits_passages",
            ),
            models.CheckConstraint(
                condition=~Q(rules="") & ~Q(text_hash=""), name="rationalescan_says_what_read_what"
            ),
        )
        indexes = (
            models.Index(
                fields=["judgment"],
                condition=Q(state=TextState.WAITING),
                name="rationalescan_waiting",
            ),
        )

    def __str__(self) -> str:
        return f"#{self.judgment_id} {self.state}"


class RationaleDecision(MarkedText, AppendOnlyModel):
    """What somebody decided about a judgment's rationale; the newest holds."""

    judgment = models.ForeignKey(Judgment, models.PROTECT, related_name="text_decisions")
    outcome = models.CharField(max_length=8, choices=TextOutcome)
    passages = models.JSONField(default=list, blank=True, help_text="As they were marked then.")
    reason = models.TextField(blank=True)
    decided_at = models.DateTimeField()
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=Q(outcome__in=TextOutcome.values), name="rationaledecision_outcome_known"
            ),
        )

    def __str__(self) -> str:
        return f"#{self.judgment_id} {self.outcome}"
