"""What the JSON API says of ratings, field by field."""

from rest_framework import serializers

from annotation.models import Judgment
from ranking.boards.board import (
    AnalysisLink,
    Board,
    BoardRow,
    Conditions,
    DimensionShare,
    Joining,
    PeopleRefusal,
    PeopleRow,
)
from ranking.models import Fit, Release
from ranking.released.queries import ReleasedFile


class DimensionShareOut(serializers.Serializer[DimensionShare]):
    """The share of marks that a system won on one dimension."""

    key = serializers.CharField()
    name = serializers.CharField()
    per_cent = serializers.FloatField(allow_null=True)
    n_marks = serializers.IntegerField()


class RatingOut(serializers.Serializer[BoardRow]):
    """One system of a fit."""

    system = serializers.CharField(source="slug")
    name = serializers.CharField()
    kind = serializers.CharField()
    is_simulated = serializers.BooleanField()
    tier = serializers.IntegerField(allow_null=True)
    rank = serializers.IntegerField()
    rank_low = serializers.IntegerField()
    rank_high = serializers.IntegerField()
    elo = serializers.FloatField()
    elo_se = serializers.FloatField()
    elo_low = serializers.FloatField()
    elo_high = serializers.FloatField()
    joint_low = serializers.FloatField(allow_null=True)
    joint_high = serializers.FloatField(allow_null=True)
    sandwich_se = serializers.FloatField(allow_null=True)
    win_per_cent = serializers.FloatField(source="win_rate")
    n_judgments = serializers.IntegerField()
    wins = serializers.IntegerField()
    losses = serializers.IntegerField()
    ties = serializers.IntegerField()
    dimensions = DimensionShareOut(many=True)


class PeopleOut(serializers.Serializer[PeopleRow]):
    """A row derived from people's texts: not one of the systems."""

    derived = serializers.CharField(source="kind")
    name = serializers.CharField()
    elo = serializers.FloatField()
    elo_se = serializers.FloatField()
    elo_low = serializers.FloatField()
    elo_high = serializers.FloatField()
    is_optimistic = serializers.BooleanField()
    n_judgments = serializers.IntegerField()
    n_contexts = serializers.IntegerField()
    contexts = serializers.IntegerField()
    opponents_per_text = serializers.FloatField(allow_null=True)


class PeopleRefusalOut(serializers.Serializer[PeopleRefusal]):
    """A derived row that could not be computed, and why."""

    derived = serializers.CharField(source="kind")
    name = serializers.CharField()
    reason = serializers.CharField()


class ConditionsOut(serializers.Serializer[Conditions]):
    """The terms on which the ratings hold."""

    pool = serializers.CharField()
    contexts = serializers.CharField(source="context_set")
    as_of = serializers.DateTimeField()
    n_judgments = serializers.IntegerField()
    n_dialogues = serializers.IntegerField()
    n_raters = serializers.IntegerField()
    judges = serializers.ListField(child=serializers.CharField())
    is_simulated = serializers.BooleanField()
    warnings = serializers.ListField(child=serializers.CharField())
    replicates = serializers.IntegerField()
    replicates_without_maximum = serializers.IntegerField()
    seed = serializers.IntegerField()
    inputs_hash = serializers.CharField()
    protocol_hash = serializers.CharField()
    plan = serializers.CharField()
    code_version = serializers.CharField()


class JoiningOut(serializers.Serializer[Joining]):
    """A judgment that would join groups of systems."""

    winner = serializers.CharField()
    loser = serializers.CharField()
    is_either_way = serializers.BooleanField()


class AnalysisOut(serializers.Serializer[AnalysisLink]):
    """An analysis of a fit, and where it stands."""

    analysis = serializers.CharField(source="slug")
    title = serializers.CharField(source="label")
    fit = serializers.CharField()
    state = serializers.CharField()
    is_exploratory = serializers.BooleanField()


class AnalysesOut(serializers.Serializer[AnalysisLink]):
    """The analyses of one fit; there are some thirty at most, so they have no pages."""

    results = AnalysisOut(many=True)


class BoardOut(serializers.Serializer[Board]):
    """The ratings of one fit with their conditions, or why there are none."""

    study = serializers.CharField()
    fit = serializers.CharField(source="key")
    is_implied = serializers.BooleanField()
    is_embargoed = serializers.BooleanField(
        help_text="For the study's team alone: the study is not closed, and nobody published this."
    )
    refusal = serializers.CharField()
    components = serializers.ListField(child=serializers.ListField(child=serializers.CharField()))
    joining = JoiningOut(many=True)
    conditions = ConditionsOut()
    ratings = RatingOut(many=True, source="rows")
    people = PeopleOut(many=True)
    people_refused = PeopleRefusalOut(many=True)
    analyses = AnalysisOut(many=True)


class FitOut(serializers.ModelSerializer[Fit]):
    """A fit as a computation."""

    fit = serializers.SlugField(source="key")
    is_embargoed = serializers.BooleanField(help_text="For the study's team alone.")

    class Meta:
        model = Fit
        fields = (
            *("fit", "pool", "context_set", "state", "as_of", "ended_at", "n_judgments"),
            *("n_units", "is_simulated", "is_embargoed", "published_at", "refusal"),
            *("inputs_hash", "code_version"),
        )


class ReleaseOut(serializers.ModelSerializer[Release]):
    """A release: what it is made of, and the hash by which all of it is known."""

    release = serializers.SlugField(source="key", help_text="Its permanent name.")
    fits = serializers.ListField(
        child=serializers.SlugField(), help_text="Of whose ratings it consists."
    )
    built_at = serializers.DateTimeField(
        source="ended_at", allow_null=True, help_text="When building it ended."
    )
    published_at = serializers.DateTimeField(
        allow_null=True, help_text="Since when everybody may download it; null if only the team."
    )
    checksums_sha256 = serializers.CharField(
        source="manifest_hash", help_text="SHA-256 of its SHA256SUMS; empty until it is built."
    )
    counts = serializers.DictField(
        child=serializers.IntegerField(), help_text="Rows of each of its tables."
    )
    verified = serializers.DictField(
        source="check_summary",
        child=serializers.IntegerField(),
        help_text="How much was computed again from its files when it was built.",
    )

    class Meta:
        model = Release
        fields = (
            *("release", "version", "state", "as_of", "built_at", "published_at"),
            *("is_simulated", "licence", "fits", "checksums_sha256", "counts", "verified"),
            *("code_version", "refusal"),
        )


class ReleasedFileOut(serializers.Serializer[ReleasedFile]):
    """A file of a release."""

    path = serializers.CharField()
    size = serializers.IntegerField(help_text="Bytes.")
    sha256 = serializers.CharField()


class ReleaseWithFilesOut(ReleaseOut):
    """A release with its files; none if this site does not keep them."""

    files = ReleasedFileOut(many=True, read_only=True)

    class Meta(ReleaseOut.Meta):
        fields = (*ReleaseOut.Meta.fields, "files")  # type: ignore[assignment] # one more


class JudgmentOut(serializers.ModelSerializer[Judgment]):
    """One evaluator's answer. Nothing of a rater leaves but a pseudonym."""

    comparison = serializers.SlugField(source="comparison.key")
    context = serializers.SlugField(  # type: ignore[assignment] # the base has another
        source="comparison.context.key"
    )
    stratum = serializers.CharField(source="comparison.context.stratum")
    purpose = serializers.CharField(source="comparison.purpose")
    first_system = serializers.SlugField(source="comparison.first.system.slug")
    second_system = serializers.SlugField(
        source="comparison.second.system.slug", default=None, allow_null=True
    )
    rater = serializers.SlugField(source="rater.code", default=None, allow_null=True)
    judge = serializers.SlugField(source="judge.slug", default=None, allow_null=True)
    is_simulated = serializers.BooleanField()
    side_of_first = serializers.CharField(source="first_side")
    is_check = serializers.BooleanField()
    is_repeat = serializers.BooleanField()
    is_revised = serializers.BooleanField()
    sample = serializers.IntegerField(source="judge_call.sample", default=None, allow_null=True)
    marks = serializers.SerializerMethodField()
    counts = serializers.BooleanField(help_text="Whether a fit of now would use it.")

    class Meta:
        model = Judgment
        fields = (
            *("id", "comparison", "context", "stratum", "purpose", "first_system"),
            *("second_system", "rater", "judge", "is_simulated", "protocol", "protocol_hash"),
            *("verdict", "marks", "rationale", "chips", "side_of_first", "is_check"),
            *("is_repeat", "is_surplus", "is_revised", "sample", "shown_at", "submitted_at"),
            *("hidden_ms", "paused_ms", "opened_earlier", "counts"),
        )

    def get_marks(self, judgment: Judgment) -> dict[str, int]:
        """Return its marks by the keys of the rubric's dimensions."""
        return {mark.dimension: mark.advantage for mark in judgment.marks.all()}
