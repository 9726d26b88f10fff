"""Addresses of the console's page on tokens, mounted under /console/tokens/."""

from django.urls import path

from access.tokens import console as token_console

app_name = "tokens"
urlpatterns = [
    path("", token_console.tokens, name="all"),
    path("all.csv", token_console.tokens_csv, name="csv"),
    path("<int:pk>/revoke/", token_console.revoke, name="revoke"),
]
