"""Addresses of the API of studies and what belongs to them, mounted under /api/v1/."""

from django.urls import path

from annotation import api

app_name = "api_studies"
urlpatterns = [
    path("studies/", api.Studies.as_view(), name="studies"),
    path("studies/<slug:study>/", api.Study.as_view(), name="study"),
    path("studies/<slug:study>/comparisons/", api.Comparisons.as_view(), name="comparisons"),
    path(
        "studies/<slug:study>/external-judgments/",
        api.ExternalJudgments.as_view(),
        name="external_judgments",
    ),
]
