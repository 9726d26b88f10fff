"""Which strategies of support a text shows: asked of a model, and checked by people."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q

from completions.models.completion import Completion
from completions.models.dataset import Dataset
from completions.models.run import LabellingRun
from completions.models.shapes import (
    FAILED,
    LabelSample,
    PeoplesLabels,
    ProviderCall,
    SampledItem,
    StoredLabel,
)
from completions.models.system import Assistant


class StrategyCall(ProviderCall):
    """The call by which one assistant names the strategies of one completion."""

    run = models.ForeignKey(
        LabellingRun, models.PROTECT, null=True, blank=True, related_name="calls"
    )
    completion = models.ForeignKey(Completion, models.PROTECT, related_name="strategy_calls")
    assistant = models.ForeignKey(Assistant, models.PROTECT, related_name="strategy_calls")

    class Meta(ProviderCall.Meta):
        constraints: ClassVar[tuple[models.BaseConstraint, ...]] = (
            *ProviderCall.Meta.constraints,
            models.UniqueConstraint(
                fields=["completion", "assistant"], name="strategycall_once_per_completion"
            ),
        )
        indexes = (
            models.Index(
                fields=["id"], condition=Q(ended_at__isnull=True), name="strategycall_open"
            ),
            models.Index(fields=["ended_at"], condition=FAILED, name="strategycall_failed"),
        )

    def __str__(self) -> str:
        return f"#{self.pk} {self.assistant_id} on {self.completion_id}"


class StrategyLabel(StoredLabel):
    """What a model said of one strategy in one completion."""

    KEY = "strategy"

    call = models.ForeignKey(StrategyCall, models.PROTECT, related_name="labels")
    strategy = models.CharField(max_length=40, help_text="A key of the codebook.")

    class Meta(StoredLabel.Meta):
        constraints: ClassVar[tuple[models.BaseConstraint, ...]] = (
            models.UniqueConstraint(fields=["call", "strategy"], name="strategylabel_once"),
            *StoredLabel.Meta.constraints,
        )

    def __str__(self) -> str:
        return f"{self.call_id} {self.strategy} {self.presence}"


class SpotCheck(LabelSample):
    """A stratified sample of completions whose strategies two people name, unseen by each other."""

    dataset = models.ForeignKey(Dataset, models.PROTECT, related_name="spot_checks")
    assistant = models.ForeignKey(Assistant, models.PROTECT, related_name="spot_checks")

    class Meta(LabelSample.Meta):
        constraints: ClassVar[tuple[models.BaseConstraint, ...]] = (
            models.UniqueConstraint(
                fields=["dataset", "assistant", "codebook", "seed"], name="spotcheck_once"
            ),
            *LabelSample.Meta.constraints,
        )

    def __str__(self) -> str:
        return f"#{self.pk} {self.dataset_id}"


class SpotCheckItem(SampledItem):
    """One completion of the sample, at its place in the order."""

    spot_check = models.ForeignKey(SpotCheck, models.PROTECT, related_name="items")
    completion = models.ForeignKey(Completion, models.PROTECT, related_name="spot_check_items")

    class Meta(SampledItem.Meta):
        constraints: ClassVar[tuple[models.BaseConstraint, ...]] = (
            models.UniqueConstraint(
                fields=["spot_check", "completion"], name="spotcheckitem_completion_once"
            ),
            *SampledItem.Meta.constraints,
        )

    def __str__(self) -> str:
        return f"{self.spot_check_id} {self.position}"


class HumanLabelling(PeoplesLabels):
    """Which strategies a person finds in one completion."""

    FOUND = "strategies"

    item = models.ForeignKey(SpotCheckItem, models.PROTECT, related_name="labellings")
    labeller = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="strategy_labellings"
    )
    strategies = models.JSONField(help_text="Keys of the codebook that are present.")

    class Meta(PeoplesLabels.Meta):
        indexes = (models.Index(fields=["item", "labeller"], name="humanlabelling_by_person"),)

    def __str__(self) -> str:
        return f"{self.item_id} by {self.labeller_id}"
