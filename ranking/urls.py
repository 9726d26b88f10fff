"""Addresses of ratings: pages and downloads."""

from django.urls import path

from ranking import views

app_name = "ranking"
urlpatterns = [
    path("results/<slug:study>/", views.leaderboard, name="leaderboard"),
    path("results/<slug:study>/fits/<slug:key>/", views.fit_page, name="fit"),
    path("results/<slug:study>/fits/<slug:key>/ratings.csv", views.ratings_csv, name="ratings_csv"),
    path("console/studies/<slug:study>/judgments.csv", views.judgments_csv, name="judgments_csv"),
    path("console/studies/<slug:study>/ensemble.csv", views.ensemble_csv, name="ensemble_csv"),
]
