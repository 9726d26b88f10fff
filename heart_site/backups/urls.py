"""Addresses of the console's page on backups, mounted under /console/backups/."""

from django.urls import path

from heart_site.backups import console

app_name = "backups"
urlpatterns = [
    path("", console.backups, name="all"),
    path("make/", console.make, name="make"),
    path("<slug:name>/try/", console.try_restore, name="try"),
]
