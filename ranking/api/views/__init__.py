"""The API of ratings, fits, analyses, judgments and releases."""

from ranking.api.views.ratings import Analysis, FitAnalyses, FitRatings, Fits, Judgments, Ratings
from ranking.api.views.releases import Release, ReleaseArchive, ReleaseFile, Releases

__all__ = [
    "Analysis",
    "FitAnalyses",
    "FitRatings",
    "Fits",
    "Judgments",
    "Ratings",
    "Release",
    "ReleaseArchive",
    "ReleaseFile",
    "Releases",
]
