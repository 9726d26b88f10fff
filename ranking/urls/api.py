"""Addresses of the API of ratings, fits, judgments and releases, mounted under /api/v1/."""

from django.urls import path

from ranking import api

app_name = "api"
RELEASE = "studies/<slug:study>/releases/<slug:release>/"
urlpatterns = [
    path("studies/<slug:study>/ratings/", api.Ratings.as_view(), name="ratings"),
    path("studies/<slug:study>/judgments/", api.Judgments.as_view(), name="judgments"),
    path("studies/<slug:study>/fits/", api.Fits.as_view(), name="fits"),
    path("studies/<slug:study>/fits/<slug:key>/", api.FitRatings.as_view(), name="fit"),
    path(
        "studies/<slug:study>/fits/<slug:key>/analyses/",
        api.FitAnalyses.as_view(),
        name="analyses",
    ),
    path(
        "studies/<slug:study>/fits/<slug:key>/analyses/<slug:kind>/",
        api.AnalysisView.as_view(),
        name="analysis",
    ),
    path("studies/<slug:study>/releases/", api.Releases.as_view(), name="releases"),
    path(RELEASE, api.ReleaseView.as_view(), name="release"),
    path(f"{RELEASE}archive/", api.ReleaseArchive.as_view(), name="release_archive"),
    path(f"{RELEASE}files/<path:path>", api.ReleaseFile.as_view(), name="release_file"),
]
