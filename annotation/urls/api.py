"""Addresses of the API of studies and what belongs to them, mounted under /api/v1/."""

from django.urls import path

from annotation.api import views

app_name = "api_studies"
urlpatterns = [
    path("studies/", views.Studies.as_view(), name="studies"),
    path("studies/<slug:study>/", views.StudyView.as_view(), name="study"),
    path("studies/<slug:study>/comparisons/", views.Comparisons.as_view(), name="comparisons"),
    path(
        "studies/<slug:study>/external-judgments/",
        views.ExternalJudgments.as_view(),
        name="external_judgments",
    ),
]
