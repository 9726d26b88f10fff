"""Addresses of the console's pages on people, mounted under /console/people/."""

from django.urls import path

from ranking.people import console

app_name = "people"
urlpatterns = [
    path("", console.people, name="search"),
    path("retention/", console.retention, name="retention"),
    path("retention.csv", console.retention_csv, name="retention_csv"),
    path("<slug:code>/", console.person, name="person"),
    path("<slug:code>/unbind/", console.unbind, name="unbind"),
]
