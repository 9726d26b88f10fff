"""Application configuration."""

from django.apps import AppConfig

from annotation.apps import MORE_ALERTS


class RankingConfig(AppConfig):
    """The ranking app."""

    name = "ranking"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Let the console tell of fits that were refused, and keep figures of this app."""
        from annotation.studies.stored_figures import FIGURES  # noqa: PLC0415 (models are there only now)

        MORE_ALERTS.append("ranking.fits.queries.refused_alerts")
        FIGURES["moves"] = "ranking.raters.services.reviewing.MOVES"
        FIGURES["external"] = "ranking.raters.services.outside.OUTSIDE"
        FIGURES["release"] = "ranking.releases.queries.RELEASE"
