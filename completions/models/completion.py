"""What is judged."""

from django.db import models
from django.db.models import Q

from completions.models.context import Context
from completions.models.system import System
from completions.models.writer import Writer


class Completion(models.Model):
    """One candidate supporter reply to a context."""

    context = models.ForeignKey(Context, models.PROTECT, related_name="completions")
    system = models.ForeignKey(System, models.PROTECT, related_name="completions")
    writer = models.ForeignKey(
        Writer, models.PROTECT, null=True, blank=True, related_name="completions"
    )
    text = models.TextField()
    content_hash = models.CharField(max_length=64)
    created_at = models.DateTimeField()
    fixed_at = models.DateTimeField(
        null=True, blank=True, help_text="Since when a study compares it: its text stays as it is."
    )
    erased_at = models.DateTimeField(
        null=True, blank=True, help_text="When its text was deleted at its writer's wish."
    )

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["context", "system"],
                condition=Q(writer__isnull=True),
                name="completion_once_per_system",
            ),
            models.UniqueConstraint(
                fields=["context", "writer"],
                condition=Q(writer__isnull=False),
                name="completion_once_per_writer",
            ),
            models.CheckConstraint(
                condition=(~Q(text="") & Q(erased_at__isnull=True))
                | Q(text="", erased_at__isnull=False, writer__isnull=False),
                name="completion_text_unless_erased",
            ),
        )

    def __str__(self) -> str:
        return f"#{self.pk} {self.context_id}/{self.system_id}"
