"""Addresses of the console's pages on people, mounted under /console/people/."""

from django.urls import path

from ranking import console_people

app_name = "people"
urlpatterns = [
    path("", console_people.people, name="search"),
    path("retention/", console_people.retention, name="retention"),
    path("retention.csv", console_people.retention_csv, name="retention_csv"),
    path("<slug:code>/", console_people.person, name="person"),
    path("<slug:code>/unbind/", console_people.unbind, name="unbind"),
]
