"""Addresses of the API of ratings, fits, judgments and releases, mounted under /api/v1/."""

from django.urls import path

from ranking.api import views

app_name = "api"
RELEASE = "studies/<slug:study>/releases/<slug:release>/"
urlpatterns = [
    path("studies/<slug:study>/ratings/", views.Ratings.as_view(), name="ratings"),
    path("studies/<slug:study>/judgments/", views.Judgments.as_view(), name="judgments"),
    path("studies/<slug:study>/fits/", views.Fits.as_view(), name="fits"),
    path("studies/<slug:study>/fits/<slug:key>/", views.FitRatings.as_view(), name="fit"),
    path(
        "studies/<slug:study>/fits/<slug:key>/analyses/",
        views.FitAnalyses.as_view(),
        name="analyses",
    ),
    path(
        "studies/<slug:study>/fits/<slug:key>/analyses/<slug:kind>/",
        views.AnalysisView.as_view(),
        name="analysis",
    ),
    path("studies/<slug:study>/releases/", views.Releases.as_view(), name="releases"),
    path(RELEASE, views.ReleaseView.as_view(), name="release"),
    path(f"{RELEASE}archive/", views.ReleaseArchive.as_view(), name="release_archive"),
    path(f"{RELEASE}files/<path:path>", views.ReleaseFile.as_view(), name="release_file"),
]
