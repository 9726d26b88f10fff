"""Addresses of ratings: pages and downloads."""

from django.urls import path

from ranking.exports import console
from ranking.results import views, weights

app_name = "ranking"
RESULTS = "results/<slug:study>/"
FIT = "results/<slug:study>/fits/<slug:key>/"
ANALYSIS = "results/<slug:study>/fits/<slug:key>/<slug:kind>/"
CONSOLE = "console/studies/<slug:study>/"
urlpatterns = [
    path(RESULTS, views.leaderboard, name="leaderboard"),
    path(f"{RESULTS}fits/", views.fits, name="fits"),
    path(f"{RESULTS}history/", views.history, name="history"),
    path(f"{RESULTS}history.csv", views.history_csv, name="history_csv"),
    path(f"{RESULTS}verdicts/", views.verdicts, name="verdicts"),
    path(f"{RESULTS}verdicts.csv", views.verdicts_csv, name="verdicts_csv"),
    path(f"{RESULTS}releases/<slug:key>.zip", views.release_zip, name="release_zip"),
    path(FIT, views.fit_page, name="fit"),
    path(f"{FIT}ratings.csv", views.ratings_csv, name="ratings_csv"),
    path(f"{FIT}ratings.json", views.ratings_json, name="ratings_json"),
    path(f"{FIT}ratings.<slug:form>", views.ratings_figure, name="ratings_figure"),
    path(f"{FIT}weights/", weights.weights, name="weights"),
    path(f"{FIT}weights/weighted.csv", weights.weighed_csv, name="weighed_csv"),
    path(f"{FIT}weights/weighted.json", weights.weighed_json, name="weighed_json"),
    path(ANALYSIS, views.analysis, name="analysis"),
    path(f"{ANALYSIS}findings.json", views.analysis_json, name="analysis_json"),
    path(f"{ANALYSIS}<slug:table>.csv", views.table_csv, name="table_csv"),
    path(f"{ANALYSIS}<slug:table>.<slug:form>", views.table_figure, name="table_figure"),
    path(f"{CONSOLE}judgments.csv", console.judgments_csv, name="judgments_csv"),
    path(f"{CONSOLE}ensemble.csv", views.ensemble_csv, name="ensemble_csv"),
]
