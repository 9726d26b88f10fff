"""Addresses of the console's pages on writers and messages, mounted under /console/writing/."""

from django.urls import URLPattern

app_name = "writing"
urlpatterns: list[URLPattern] = []
