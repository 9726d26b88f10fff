"""Application configuration."""

from django.apps import AppConfig


class AccessConfig(AppConfig):
    """The access app."""

    name = "access"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Listen to the sign-in library, whose models are there by now."""
        from access.sign_in import services  # noqa: PLC0415

        services.connect()
