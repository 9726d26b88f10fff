"""Addresses of the API that belong to no app: its schema, its page, what errors mean."""

from django.urls import path

from access.api import pages

app_name = "api_frame"
urlpatterns = [
    path("schema/", pages.Schema.as_view(), name="schema"),
    path("docs/", pages.Docs.as_view(url_name="api_frame:schema"), name="docs"),
    path("problems/", pages.Problems.as_view(), name="problems"),
]
