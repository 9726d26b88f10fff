"""Completions wanted from models."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from completions.choices import CallState
from completions.models.call import FAILED, ProviderCall
from completions.models.completion import Completion
from completions.models.context import Context
from completions.models.run import GenerationRun
from completions.models.system import System


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
        indexes = (
            models.Index(
                fields=["id"],
                condition=Q(ended_at__isnull=True),
                name="generationcall_open",
            ),
            models.Index(fields=["ended_at"], condition=FAILED, name="generationcall_failed"),
        )

    def __str__(self) -> str:
        return f"#{self.pk} {self.system_id} on {self.context_id}"
