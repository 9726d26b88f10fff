"""Models of the ranking app, one aggregate per module."""

from ranking.models.fits import Analysis, DimensionRate, Fit, HumanRating, KeptCounts, Rating
from ranking.models.raters import Measurement, RaterFigures
from ranking.models.releases import Release

__all__ = [
    "Analysis",
    "DimensionRate",
    "Fit",
    "HumanRating",
    "KeptCounts",
    "Measurement",
    "RaterFigures",
    "Rating",
    "Release",
]
