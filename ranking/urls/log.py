"""Addresses of the whole log, mounted before those of studies: no study has that name."""

from django.urls import path

from ranking.log import console

app_name = "log"
urlpatterns = [
    path("log/", console.whole_log, name="all"),
    path("log.csv", console.whole_log_csv, name="all_csv"),
]
