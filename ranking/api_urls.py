"""Addresses of the JSON API of ratings, mounted under /api/v1/."""

from django.urls import path

from ranking import api

app_name = "api"
urlpatterns = [
    path("studies/<slug:study>/ratings/", api.Ratings.as_view(), name="ratings"),
    path("studies/<slug:study>/fits/<slug:key>/", api.FitRatings.as_view(), name="fit"),
    path(
        "studies/<slug:study>/fits/<slug:key>/analyses/<slug:kind>/",
        api.Analysis.as_view(),
        name="analysis",
    ),
]
