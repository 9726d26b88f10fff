"""Which analyses of a study are confirmatory: named before the judgments are seen."""

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from annotation.studies.protocol.parts import Part

AnalysisName = Literal[
    "pairs",
    "dimensions",
    "weights",
    "likert",
    "people",
    "agreement",
    "checks",
    "fragility",
    "style",
    "bias",
    "draws",
    "raters",
    "rankers",
    "rationales",
    "strategies",
    "factors",
    "latency",
    "judge",
    "planning",
]
"""The analyses by their names in addresses; a test holds them against those that there are."""
Weight = Annotated[float, Field(ge=0, le=1000, allow_inf_nan=False)]
DimensionKey = Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9]{0,3}$")]


class AnalysisPlan(Part):
    """The analyses named in advance; those of weighted dimensions with the weights.

    ``weights`` are by the keys of the rubric's dimensions; only their ratios matter.
    """

    confirmatory: Annotated[tuple[AnalysisName, ...], Field(min_length=1)]
    weights: Mapping[DimensionKey, Weight] = {}

    @model_validator(mode="after")
    def _each_is_named_once(self) -> Self:
        if len(set(self.confirmatory)) < len(self.confirmatory):
            msg = "confirmatory: each analysis is named once"
            raise ValueError(msg)
        return self

    @model_validator(mode="after")
    def _weights_are_named_with_their_analysis(self) -> Self:
        if ("weights" in self.confirmatory) != bool(self.weights):
            msg = 'weights: they are given if, and only if, "weights" is confirmatory'
            raise ValueError(msg)
        if self.weights and not any(self.weights.values()):
            msg = "weights: one dimension at least needs a weight above 0"
            raise ValueError(msg)
        return self
