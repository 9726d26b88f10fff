"""Addresses of ratings: pages and downloads."""

from django.urls import path

from ranking.exports import console
from ranking.results import download_views, views, weights

app_name = "ranking"
RESULTS = "results/<slug:study>/"
FIT = "results/<slug:study>/fits/<slug:key>/"
ANALYSIS = "results/<slug:study>/fits/<slug:key>/<slug:kind>/"
CONSOLE = "console/studies/<slug:study>/"
urlpatterns = [
    path(RESULTS, views.leaderboard, name="leaderboard"),
    path(f"{RESULTS}fits/", views.fits, name="fits"),
    path(f"{RESULTS}history/", views.history, name="history"),
    path(f"{RESULTS}history.csv", download_views.history_csv, name="history_csv"),
    path(f"{RESULTS}verdicts/", views.verdicts, name="verdicts"),
    path(f"{RESULTS}verdicts.csv", download_views.verdicts_csv, name="verdicts_csv"),
    path(f"{RESULTS}releases/<slug:key>.zip", download_views.release_zip, name="release_zip"),
    path(FIT, views.fit_page, name="fit"),
    path(f"{FIT}ratings.csv", download_views.ratings_csv, name="ratings_csv"),
    path(f"{FIT}ratings.json", download_views.ratings_json, name="ratings_json"),
    path(f"{FIT}ratings.<slug:form>", download_views.ratings_figure, name="ratings_figure"),
    path(f"{FIT}weights/", weights.weights, name="weights"),
    path(f"{FIT}weights/weighted.csv", weights.weighed_csv, name="weighed_csv"),
    path(f"{FIT}weights/weighted.json", weights.weighed_json, name="weighed_json"),
    path(ANALYSIS, views.analysis, name="analysis"),
    path(f"{ANALYSIS}findings.json", download_views.analysis_json, name="analysis_json"),
    path(f"{ANALYSIS}<slug:table>.csv", download_views.table_csv, name="table_csv"),
    path(f"{ANALYSIS}<slug:table>.<slug:form>", download_views.table_figure, name="table_figure"),
    path(f"{CONSOLE}judgments.csv", console.judgments_csv, name="judgments_csv"),
    path(f"{CONSOLE}ensemble.csv", download_views.ensemble_csv, name="ensemble_csv"),
]
