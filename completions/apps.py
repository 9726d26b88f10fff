"""Application configuration."""

from django.apps import AppConfig


class CompletionsConfig(AppConfig):
    """The completions app."""

    name = "completions"
    default_auto_field = "django.db.models.BigAutoField"
