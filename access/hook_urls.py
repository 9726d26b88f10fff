"""Addresses of the pages on webhooks, mounted under /console/webhooks/."""

from django.urls import path

from access import console_hooks

app_name = "hooks"
urlpatterns = [
    path("", console_hooks.hooks, name="list"),
    path("<int:pk>/", console_hooks.hook, name="hook"),
    path("<int:pk>.csv", console_hooks.hook_csv, name="csv"),
    *(
        path(f"<int:pk>/{name}/", console_hooks.act, {"name": name}, name=name)
        for name in console_hooks.ACTS
    ),
    path("<int:pk>/deliveries/<int:delivery>/resend/", console_hooks.resend, name="resend"),
]
