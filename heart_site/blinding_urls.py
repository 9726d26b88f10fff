"""Addresses of the console's page on the audits of a study's blinding, mounted under /console/."""

from django.urls import path

from heart_site import console_blinding

app_name = "blinding"
urlpatterns = [
    path("<slug:study>/blinding/", console_blinding.audits, name="audits"),
    path("<slug:study>/blinding/<int:pk>/", console_blinding.audits, name="audit"),
    path("<slug:study>/blinding/progress/", console_blinding.progress, name="progress"),
    path("<slug:study>/blinding/start/", console_blinding.start, name="start"),
]
