"""Application configuration."""

from django.apps import AppConfig


class RankingConfig(AppConfig):
    """The ranking app."""

    name = "ranking"
    default_auto_field = "django.db.models.BigAutoField"
