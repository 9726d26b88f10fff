"""Addresses of the pages on webhooks, mounted under /console/webhooks/."""

from django.urls import path

from access.webhooks import console as webhook_console

app_name = "hooks"
urlpatterns = [
    path("", webhook_console.hooks, name="list"),
    path("<int:pk>/", webhook_console.hook, name="hook"),
    path("<int:pk>.csv", webhook_console.hook_csv, name="csv"),
    *(
        path(f"<int:pk>/{name}/", webhook_console.act, {"name": name}, name=name)
        for name in webhook_console.ACTS
    ),
    path("<int:pk>/deliveries/<int:delivery>/resend/", webhook_console.resend, name="resend"),
]
