"""Addresses of the API of contexts, systems and completions, mounted under /api/v1/."""

from django.urls import path

from completions.api import views

app_name = "api_texts"
urlpatterns = [
    path("contexts/", views.Contexts.as_view(), name="contexts"),
    path("contexts/<slug:key>/", views.ContextView.as_view(), name="context"),
    path("systems/", views.Systems.as_view(), name="systems"),
    path("systems/<slug:slug>/", views.SystemView.as_view(), name="system"),
    path("completions/", views.Completions.as_view(), name="completions"),
]
