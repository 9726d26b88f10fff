"""Addresses of the API that belong to no app: its schema, its page, what errors mean."""

from django.urls import path

from access.api import views as api_views

app_name = "api_frame"
urlpatterns = [
    path("schema/", api_views.Schema.as_view(), name="schema"),
    path("docs/", api_views.Docs.as_view(url_name="api_frame:schema"), name="docs"),
    path("problems/", api_views.Problems.as_view(), name="problems"),
]
