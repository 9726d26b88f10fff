"""Addresses of the API that belong to no app: its schema, its page, what errors mean."""

from django.urls import path

from access import api

app_name = "api_frame"
urlpatterns = [
    path("schema/", api.Schema.as_view(), name="schema"),
    path("docs/", api.Docs.as_view(url_name="api_frame:schema"), name="docs"),
    path("problems/", api.Problems.as_view(), name="problems"),
]
