"""Addresses of the team's pages in the console, and of the API's frame: lists for include()."""

from django.urls import URLPattern, path

from access.api import views as api_views
from access.members import console as member_console
from access.tokens import console as token_console
from access.webhooks import console as webhook_console

MEMBERS: list[URLPattern] = [
    path("", member_console.members, name="all"),
    path("all.csv", member_console.members_csv, name="csv"),
    path("<int:pk>/", member_console.member, name="member"),
    path("<int:pk>/role/", member_console.role, name="role"),
    path("<int:pk>/link/", member_console.link, name="link"),
    path("<int:pk>/second-factor/", member_console.reset, name="reset"),
    path("<int:pk>/remove/", member_console.remove, name="remove"),
]
TOKENS: list[URLPattern] = [
    path("", token_console.tokens, name="all"),
    path("all.csv", token_console.tokens_csv, name="csv"),
    path("<int:pk>/revoke/", token_console.revoke, name="revoke"),
]
HOOKS: list[URLPattern] = [
    path("", webhook_console.hooks, name="list"),
    path("<int:pk>/", webhook_console.hook, name="hook"),
    path("<int:pk>.csv", webhook_console.hook_csv, name="csv"),
    *(
        path(f"<int:pk>/{name}/", webhook_console.act, {"name": name}, name=name)
        for name in webhook_console.ACTS
    ),
    path("<int:pk>/deliveries/<int:delivery>/resend/", webhook_console.resend, name="resend"),
]
API: list[URLPattern] = [
    path("schema/", api_views.Schema.as_view(), name="schema"),
    path("docs/", api_views.Docs.as_view(url_name="api_frame:schema"), name="docs"),
    path("problems/", api_views.Problems.as_view(), name="problems"),
]
"""What the API has that belongs to no app: its schema, its page, what errors mean."""
