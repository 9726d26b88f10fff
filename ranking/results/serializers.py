"""What the JSON API says of ratings, field by field."""

from typing import Any

from rest_framework import serializers

from annotation.models import Judgment
from ranking.boards import AnalysisLink, Board, PeopleRefusal
from ranking.models import Fit, HumanRating, Rating, Release
from ranking.models.fits import DimensionShare


class DimensionShareOut(serializers.Serializer[DimensionShare]):
    """The share of marks that a system won on one dimension."""

    key = serializers.CharField(help_text="Of the dimension, in the rubric.")
    name = serializers.CharField(help_text="Of the dimension, in words.")
    per_cent = serializers.FloatField(allow_null=True, help_text="Of the marks that named a side.")
    n_marks = serializers.IntegerField(help_text="Marks that named a side.")


class RatingOut(serializers.Serializer[Rating]):
    """One system of a fit."""

    system = serializers.CharField(source="system.slug", help_text="Its slug.")
    name = serializers.CharField(help_text="As results show it.")
    kind = serializers.CharField(source="system.kind", help_text="MODEL, HUMAN or ORIGINAL.")
    is_simulated = serializers.BooleanField(
        source="system.is_simulated", help_text="The offline provider stands in for a model."
    )
    tier = serializers.IntegerField(
        allow_null=True,
        help_text="1 is the first: systems that the joint intervals do not set apart "
        "from the best of their tier; null in fits made before there were tiers.",
    )
    rank = serializers.IntegerField(help_text="By rating.")
    rank_low = serializers.IntegerField(
        help_text="Best rank that the differences leave open, all systems at once."
    )
    rank_high = serializers.IntegerField(help_text="Worst such rank.")
    elo = serializers.FloatField(help_text="In points; a study's mean is 1500.")
    elo_se = serializers.FloatField(help_text="Bootstrap standard error.")
    elo_low = serializers.FloatField(
        help_text="Lower end of the 95 % interval, for this row alone."
    )
    elo_high = serializers.FloatField(help_text="Upper end of that interval.")
    joint_low = serializers.FloatField(
        allow_null=True,
        help_text="Lower end of the interval that holds for all systems at once; null as tier.",
    )
    joint_high = serializers.FloatField(allow_null=True, help_text="Upper end of that interval.")
    sandwich_se = serializers.FloatField(
        allow_null=True,
        help_text="Standard error in closed form, clustered by source dialogue: "
        "a cross-check; null as tier.",
    )
    win_per_cent = serializers.FloatField(
        source="win_rate", help_text="Judgments won, a tie counting half, whatever their strength."
    )
    n_judgments = serializers.IntegerField(help_text="Judgments of the system.")
    wins = serializers.IntegerField(help_text="Judgments won.")
    losses = serializers.IntegerField(help_text="Judgments lost.")
    ties = serializers.IntegerField(help_text="Judgments without a winner.")
    dimensions = DimensionShareOut(many=True, help_text="Empty if nobody marked anything.")


class PeopleOut(serializers.Serializer[HumanRating]):
    """A row derived from people's texts: not one of the systems."""

    derived = serializers.CharField(
        source="kind", help_text="AVERAGE, MEAN_TEXT, RANDOM_TEXT, BEST_CROSS_FITTED or BEST_PLAIN."
    )
    name = serializers.CharField(help_text="The same in words.")
    elo = serializers.FloatField(help_text="In points; a study's mean is 1500.")
    elo_se = serializers.FloatField(help_text="Bootstrap standard error.")
    elo_low = serializers.FloatField(
        help_text="Lower end of the 95 % interval, for this row alone."
    )
    elo_high = serializers.FloatField(help_text="Upper end of that interval.")
    is_optimistic = serializers.BooleanField(
        help_text="Its texts were chosen by the judgments that score them."
    )
    n_judgments = serializers.IntegerField(
        help_text="Behind the score; cross-fitted, on average over the splits."
    )
    n_contexts = serializers.IntegerField(
        help_text="Contexts with a say in it; cross-fitted, on average."
    )
    contexts = serializers.IntegerField(
        source="detail.contexts", help_text="Contexts that might have a say."
    )
    opponents_per_text = serializers.FloatField(
        source="detail.opponents_per_text",
        allow_null=True,
        help_text="Systems that a text met, on average.",
    )


class PeopleRefusalOut(serializers.Serializer[PeopleRefusal]):
    """A derived row that could not be computed, and why."""

    derived = serializers.CharField(source="kind", help_text="As of the rows.")
    name = serializers.CharField(help_text="The same in words.")
    reason = serializers.CharField(help_text="Why it could not be computed.")


class ConditionsOut(serializers.Serializer[Fit]):
    """The terms on which the ratings hold."""

    pool = serializers.CharField(source="get_pool_display", help_text="Whose judgments, in words.")
    contexts = serializers.CharField(
        source="get_context_set_display", help_text="On which contexts, in words."
    )
    as_of = serializers.DateTimeField(help_text="Judgments and exclusions up to this time entered.")
    n_judgments = serializers.IntegerField(help_text="Judgments that count.")
    n_dialogues = serializers.IntegerField(
        source="n_units", help_text="Source dialogues, which are what is resampled."
    )
    n_raters = serializers.IntegerField(
        source="diagnostics.n_raters", help_text="People who judged."
    )
    judges = serializers.ListField(
        source="diagnostics.judges", child=serializers.CharField(), help_text="LLM judges, by name."
    )
    is_simulated = serializers.BooleanField(
        help_text="Some system, person or judge behind it is simulated."
    )
    warnings = serializers.ListField(
        child=serializers.CharField(), help_text="What a reader should know, in sentences."
    )
    replicates = serializers.IntegerField(
        source="method.replicates", help_text="Bootstrap replicates drawn."
    )
    replicates_without_maximum = serializers.IntegerField(
        help_text="Those without finite strengths."
    )
    seed = serializers.IntegerField(source="method.seed", help_text="Of the bootstrap.")
    inputs_hash = serializers.CharField(help_text="SHA-256 of the judgments.")
    protocol_hash = serializers.CharField(
        source="study.protocol_hash", help_text="SHA-256 of the study's locked file."
    )
    plan = serializers.CharField(
        source="study.plan",
        help_text="BALANCED, or ADAPTIVE: informative pairs were asked about more often.",
    )
    code_version = serializers.CharField(help_text="Of the estimators' code.")


class JoiningOut(serializers.Serializer[dict[str, Any]]):
    """A judgment that would join groups of systems."""

    winner = serializers.CharField(
        help_text="A share of a win goes to it, as by a graded judgment or a tie."
    )
    loser = serializers.CharField(help_text="Against this one.")
    is_either_way = serializers.BooleanField(
        help_text="They never met, and each needs a share from the other."
    )


class AnalysisOut(serializers.Serializer[AnalysisLink]):
    """An analysis of a fit, and where it stands."""

    analysis = serializers.CharField(source="slug", help_text="Its name in addresses.")
    title = serializers.CharField(source="label", help_text="Its name in words.")
    fit = serializers.CharField(help_text="This fit, or the last that was analysed before it.")
    state = serializers.CharField(help_text="RUNNING, DONE or REFUSED.")
    is_exploratory = serializers.BooleanField(
        help_text="It was not planned before the judgments came."
    )


class AnalysesOut(serializers.Serializer[AnalysisLink]):
    """The analyses of one fit; there are some thirty at most, so they have no pages."""

    results = AnalysisOut(many=True)


class BoardOut(serializers.Serializer[Board]):
    """The ratings of one fit with their conditions, or why there are none."""

    study = serializers.CharField(source="fit.study.slug", help_text="Its slug.")
    fit = serializers.CharField(source="fit.key", help_text="The permanent name of the fit.")
    is_implied = serializers.BooleanField(
        help_text="Of pairs that nobody compared: in a likert study messages are rated alone, "
        "and points imply the pairs; mean points are its analysis likert."
    )
    is_embargoed = serializers.BooleanField(
        source="fit.is_embargoed",
        help_text="For the study's team alone: the study is not closed, and nobody published this.",
    )
    refusal = serializers.CharField(
        help_text="Why there are no ratings, or empty; then ratings is empty, "
        "and the status is still 200."
    )
    components = serializers.ListField(
        child=serializers.ListField(child=serializers.CharField()),
        help_text="With a refusal for lack of connection: the groups of systems "
        "that could be rated apart, by name.",
    )
    joining = JoiningOut(
        many=True, help_text="With components: judgments that together would join the groups."
    )
    conditions = ConditionsOut(
        source="fit",
        help_text="The terms on which the numbers hold; to be shown wherever they are.",
    )
    ratings = RatingOut(many=True, source="rows", help_text="One entry per system, best first.")
    people = PeopleOut(
        many=True,
        help_text="Rows derived from what people wrote; no systems, "
        "and empty if no person wrote any of them.",
    )
    people_refused = PeopleRefusalOut(many=True, help_text="Which of these could not be computed.")
    analyses = AnalysisOut(many=True, help_text="What else was looked into.")


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


class ReleasedFileOut(serializers.Serializer[dict[str, Any]]):
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

    comparison = serializers.SlugField(source="comparison.public_key")
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
