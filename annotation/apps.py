"""Application configuration."""

from django.apps import AppConfig

MORE_ALERTS: list[str] = []
"""Functions from a study to alerts of its page, by name: apps above this one add theirs."""


class AnnotationConfig(AppConfig):
    """The annotation app."""

    name = "annotation"
    default_auto_field = "django.db.models.BigAutoField"
