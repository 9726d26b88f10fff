"""Addresses of the whole log, mounted before those of studies: no study has that name."""

from django.urls import path

from ranking import log

app_name = "log"
urlpatterns = [
    path("log/", log.whole_log, name="all"),
    path("log.csv", log.whole_log_csv, name="all_csv"),
]
