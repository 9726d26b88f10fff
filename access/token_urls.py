"""Addresses of the console's page on tokens, mounted under /console/tokens/."""

from django.urls import path

from access import console_tokens

app_name = "tokens"
urlpatterns = [
    path("", console_tokens.tokens, name="all"),
    path("all.csv", console_tokens.tokens_csv, name="csv"),
    path("<int:pk>/revoke/", console_tokens.revoke, name="revoke"),
]
