"""The API of ratings, fits, analyses, judgments and releases."""

from ranking.api.fits import Fits
from ranking.api.judgments import Judgments
from ranking.api.ratings import Analysis, FitAnalyses, FitRatings, Ratings
from ranking.api.releases import Release, ReleaseArchive, ReleaseFile, Releases

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
