"""Application configuration."""

from django.apps import AppConfig


class HeartSiteConfig(AppConfig):
    """The site itself: it owns no tables, only the commands that start it."""

    name = "heart_site"
