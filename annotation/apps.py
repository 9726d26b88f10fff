"""Application configuration."""

from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    """The annotation app."""

    name = "annotation"
    default_auto_field = "django.db.models.BigAutoField"
