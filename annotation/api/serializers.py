"""What the API says of studies and comparisons, field by field."""

from rest_framework import serializers

from annotation.models import Comparison, Study


class StudyOut(serializers.ModelSerializer[Study]):
    """A study, without what would tell how its draws fall."""

    dataset = serializers.SlugField(source="dataset.slug")

    class Meta:
        model = Study
        fields = (
            *("slug", "name", "version", "title", "dataset", "protocol", "plan", "state"),
            *("is_simulated", "judgments_per_pair", "protocol_hash", "locked_at", "created_at"),
        )


class ComparisonOut(serializers.ModelSerializer[Comparison]):
    """A pair of completions in canonical order, or the one that is rated alone."""

    context = serializers.SlugField(  # type: ignore[assignment] # the base has another
        source="context.key"
    )
    first = serializers.IntegerField(source="first_id", help_text="Id of a completion.")
    second = serializers.IntegerField(source="second_id", allow_null=True)
    first_system = serializers.SlugField(source="first.system.slug")
    second_system = serializers.SlugField(
        source="second.system.slug", default=None, allow_null=True
    )
    is_held = serializers.BooleanField(help_text="Reports keep it from everybody.")

    class Meta:
        model = Comparison
        fields = (
            *("key", "context", "purpose", "first", "second", "first_system", "second_system"),
            *("slots_left", "is_held"),
        )
