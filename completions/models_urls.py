"""Addresses of the console's pages on models and runs, mounted under /console/models/."""

from django.urls import path

from completions.console_models import systems

app_name = "models"
urlpatterns = [
    path("", systems.systems, name="systems"),
    path("sync/", systems.sync, name="sync"),
    path("add/", systems.add, name="add"),
]
