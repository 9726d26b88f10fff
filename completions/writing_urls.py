"""Addresses of the console's pages on writers and messages, mounted under /console/writing/."""

from django.urls import path

from completions.console_writing import people

app_name = "writing"
urlpatterns = [
    path("", people.datasets, name="datasets"),
    path("<slug:dataset>/", people.pool, name="pool"),
]
