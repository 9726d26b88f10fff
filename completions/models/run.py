"""Runs of calls to models, the calls of them, and labels of strategies, which people check."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q

from access.nudges import Work
from completions.choices import CallState, PauseReason, RunState
from completions.models.completion import Completion
from completions.models.context import Context
from completions.models.dataset import Dataset
from completions.models.shapes import (
    LabelSample,
    PeoplesLabels,
    ProviderCall,
    SampledItem,
    StoredLabel,
)
from completions.models.system import Assistant, System

OVER = (RunState.CANCELLED, RunState.ENDED)


class Run(models.Model):
    """What was asked for, how far it may go, and what it has cost so far, in US dollars.

    ``reserved_usd`` is the most that the calls in flight can cost: it is taken from the budget
    before a call is made, and given back, less the price, when the call has ended. ``work`` is what
    workers are nudged to do when it has calls to make, ``kind`` its name in addresses; calls of the
    kind are made while ``made_while`` holds of them.
    """

    kind: ClassVar[str]
    work: ClassVar[Work]
    made_while: ClassVar[Q] = Q()

    state = models.CharField(max_length=9, choices=RunState, default=RunState.RUNNING)
    pause_reason = models.CharField(max_length=7, choices=PauseReason, blank=True)
    pause_detail = models.TextField(blank=True)
    plan = models.JSONField(help_text="What was asked for: names and options.")
    n_planned = models.PositiveIntegerField(default=0, help_text="Calls that it added.")
    budget_usd = models.DecimalField(max_digits=12, decimal_places=6, null=True, blank=True)
    # Signed, so that the constraint below, and not a nameless one, refuses to go under zero.
    spent_usd = models.DecimalField(max_digits=12, decimal_places=6, default=0)
    reserved_usd = models.DecimalField(max_digits=12, decimal_places=6, default=0)
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True
        constraints: ClassVar[tuple[models.BaseConstraint, ...]] = (
            models.CheckConstraint(
                condition=Q(state__in=RunState.values), name="%(class)s_state_known"
            ),
            models.CheckConstraint(
                condition=(Q(state=RunState.PAUSED) & Q(pause_reason__in=PauseReason.values))
                | (~Q(state=RunState.PAUSED) & Q(pause_reason="")),
                name="%(class)s_paused_with_reason",
            ),
            models.CheckConstraint(
                condition=(Q(state__in=OVER) & Q(ended_at__isnull=False))
                | (~Q(state__in=OVER) & Q(ended_at__isnull=True)),
                name="%(class)s_over_with_time",
            ),
            models.CheckConstraint(
                condition=Q(budget_usd__isnull=True) | Q(budget_usd__gt=0),
                name="%(class)s_budget_positive",
            ),
            models.CheckConstraint(
                condition=Q(spent_usd__gte=0, reserved_usd__gte=0),
                name="%(class)s_money_not_negative",
            ),
        )

    def __str__(self) -> str:
        return f"#{self.pk} {self.state}"


class GenerationRun(Run):
    """A run that has models complete the contexts of a dataset."""

    kind = "completions"
    work = Work.GENERATE
    dataset = models.ForeignKey(Dataset, models.PROTECT, related_name="generation_runs")


class LabellingRun(Run):
    """A run that has a model name the strategies of a dataset's completions."""

    kind = "strategies"
    work = Work.NAME_STRATEGIES
    dataset = models.ForeignKey(Dataset, models.PROTECT, related_name="labelling_runs")


class GenerationCall(ProviderCall):
    """The call by which one model system completes one context."""

    run = models.ForeignKey(
        GenerationRun, models.PROTECT, null=True, blank=True, related_name="calls"
    )
    context = models.ForeignKey(Context, models.PROTECT, related_name="generation_calls")
    system = models.ForeignKey(System, models.PROTECT, related_name="generation_calls")
    completion = models.OneToOneField(
        Completion, models.PROTECT, null=True, blank=True, related_name="generation_call"
    )

    class Meta(ProviderCall.Meta):
        constraints: ClassVar[tuple[models.BaseConstraint, ...]] = (
            *ProviderCall.Meta.constraints,
            models.UniqueConstraint(
                fields=["context", "system"], name="generationcall_once_per_context"
            ),
            models.CheckConstraint(
                condition=Q(state=CallState.DONE, completion__isnull=False)
                | (~Q(state=CallState.DONE) & Q(completion__isnull=True)),
                name="generationcall_done_with_completion",
            ),
        )

    def __str__(self) -> str:
        return f"#{self.pk} {self.system_id} on {self.context_id}"


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
