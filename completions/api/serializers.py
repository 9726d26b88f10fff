"""What the API says of contexts, systems and completions, field by field."""

from rest_framework import serializers

from completions.models import BroughtCompletion, Completion, Context, System
from completions.systems.services.importing import IntakeReport, Kept


class TurnOut(serializers.Serializer[dict[str, str]]):
    """One turn of a dialogue."""

    role = serializers.CharField()
    text = serializers.CharField()


class ContextOut(serializers.ModelSerializer[Context]):
    """What a completion answers."""

    dataset = serializers.SlugField(source="dataset.slug")
    turns = TurnOut(many=True)
    source_context = serializers.SlugField(
        source="source_context.key", default=None, allow_null=True
    )

    class Meta:
        model = Context
        fields = (
            *("key", "dataset", "turn_index", "turns", "stratum", "escalation_profile"),
            *("source_context", "is_simulated", "review", "created_at"),
        )


class SystemOut(serializers.ModelSerializer[System]):
    """A producer of completions; where it is reached and with which key stays here."""

    facts = serializers.DictField()

    class Meta:
        model = System
        fields = ("slug", "name", "kind", "family", "model_id", "is_simulated", "facts")


class BroughtOut(serializers.ModelSerializer[BroughtCompletion]):
    """Where a completion is from that was not made here, as far as somebody said."""

    class Meta:
        model = BroughtCompletion
        fields = ("way", "brought_at", "model_version", "source", "produced_at")


class CompletionOut(serializers.ModelSerializer[Completion]):
    """A reply to a context. Who wrote it is not said but by its system."""

    context = serializers.SlugField(  # type: ignore[assignment] # the base has another
        source="context.key"
    )
    system = serializers.SlugField(source="system.slug")
    is_simulated = serializers.BooleanField(source="system.is_simulated")
    is_erased = serializers.BooleanField(
        help_text="Its text was deleted at its writer's wish and is empty."
    )

    brought = BroughtOut(
        default=None,
        allow_null=True,
        help_text="Set if a model gave it elsewhere and somebody brought it in; else null.",
    )

    class Meta:
        model = Completion
        fields = (
            *("id", "context", "system", "is_simulated", "text", "content_hash", "created_at"),
            *("is_erased", "brought"),
        )


class KeptOut(serializers.Serializer[Kept]):
    """What became of one row."""

    position = serializers.IntegerField(source="row.position", help_text="Its index in the batch.")
    id = serializers.IntegerField(source="pk", help_text="Of the completion.")
    is_new = serializers.BooleanField(help_text="No if it was there with the same text.")
    held = serializers.ListField(
        child=serializers.CharField(),
        help_text="Why it is kept out of pairs until a person decides; empty if it is not.",
    )


class IntakeOut(serializers.Serializer[IntakeReport]):
    """What became of a batch: every row, in its order."""

    n_new = serializers.IntegerField()
    n_known = serializers.IntegerField(help_text="There before, with the same text.")
    n_held = serializers.IntegerField()
    completions = KeptOut(many=True, source="kept")
