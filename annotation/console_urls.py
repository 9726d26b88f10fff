"""Addresses of the console, mounted under /console/."""

from django.urls import path

from annotation import console

app_name = "console"
urlpatterns = [
    path("", console.overview, name="overview"),
    path("<slug:study>/open/", console.open_study, name="open"),
    path("<slug:study>/pause/", console.pause_study, name="pause"),
    path("<slug:study>/close/", console.close_study, name="close"),
    path("<slug:study>/extend/", console.extend_plan, name="extend"),
]
