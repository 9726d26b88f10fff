"""The API of ratings, fits, analyses, judgments and releases."""

from ranking.api.views.ratings import (
    AnalysisView,
    FitAnalyses,
    FitRatings,
    Fits,
    Judgments,
    Ratings,
)
from ranking.api.views.releases import ReleaseArchive, ReleaseFile, Releases, ReleaseView

__all__ = [
    "AnalysisView",
    "FitAnalyses",
    "FitRatings",
    "Fits",
    "Judgments",
    "Ratings",
    "ReleaseArchive",
    "ReleaseFile",
    "ReleaseView",
    "Releases",
]
