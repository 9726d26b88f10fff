"""Addresses of the API of contexts, systems and completions, mounted under /api/v1/."""

from django.urls import path

from completions import api

app_name = "api_texts"
urlpatterns = [
    path("contexts/", api.Contexts.as_view(), name="contexts"),
    path("contexts/<slug:key>/", api.Context.as_view(), name="context"),
    path("systems/", api.Systems.as_view(), name="systems"),
    path("systems/<slug:slug>/", api.System.as_view(), name="system"),
    path("completions/", api.Completions.as_view(), name="completions"),
]
