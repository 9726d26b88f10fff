"""Addresses of the whole log, mounted before those of studies: no study has that name."""

from django.urls import path

from ranking import console_log

app_name = "log"
urlpatterns = [
    path("log/", console_log.whole_log, name="all"),
    path("log.csv", console_log.whole_log_csv, name="all_csv"),
]
