"""Addresses of the console's page on the audits of a study's blinding, mounted under /console/."""

from django.urls import path

from heart_site.blinding import console as blinding_console

app_name = "blinding"
urlpatterns = [
    path("<slug:study>/blinding/", blinding_console.audits, name="audits"),
    path("<slug:study>/blinding/<int:pk>/", blinding_console.audits, name="audit"),
    path("<slug:study>/blinding/progress/", blinding_console.progress, name="progress"),
    path("<slug:study>/blinding/start/", blinding_console.start, name="start"),
]
