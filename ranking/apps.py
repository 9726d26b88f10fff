"""Application configuration."""

from django.apps import AppConfig


class RankingConfig(AppConfig):
    """The ranking app."""

    name = "ranking"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Let the console tell of fits that were refused, and keep figures of this app."""
        from annotation import study_progress  # noqa: PLC0415 (models are there only now)
        from annotation.kept import FIGURES  # noqa: PLC0415 (as above)
        from ranking import fit_selectors  # noqa: PLC0415 (as above)

        study_progress.MORE_ALERTS.append(fit_selectors.refused_alerts)
        FIGURES["moves"] = "ranking.services.moving.MOVES"
        FIGURES["release"] = "ranking.release_selectors.RELEASE"
