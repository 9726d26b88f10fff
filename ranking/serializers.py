"""What the JSON API says of ratings, field by field."""

from rest_framework import serializers

from ranking.board import (
    Board,
    BoardRow,
    Conditions,
    DimensionShare,
    Joining,
    PeopleRefusal,
    PeopleRow,
)
from ranking.results_links import AnalysisLink


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


class BoardOut(serializers.Serializer[Board]):
    """The ratings of one fit with their conditions, or why there are none."""

    study = serializers.CharField()
    fit = serializers.CharField(source="key")
    is_implied = serializers.BooleanField()
    refusal = serializers.CharField()
    components = serializers.ListField(child=serializers.ListField(child=serializers.CharField()))
    joining = JoiningOut(many=True)
    conditions = ConditionsOut()
    ratings = RatingOut(many=True, source="rows")
    people = PeopleOut(many=True)
    people_refused = PeopleRefusalOut(many=True)
    analyses = AnalysisOut(many=True)
