"""Writes of studies; everything a caller may import is named here."""

from typing import TYPE_CHECKING

from access.later import names_of

if TYPE_CHECKING:
    from annotation.studies.services.announcing import announce_full_studies
    from annotation.studies.services.editing import edit_study
    from annotation.studies.services.keeping import keep_figures
    from annotation.studies.services.shadow_studies import (
        Rehearsal,
        ShadowStudyError,
        make_shadow_study,
    )
    from annotation.studies.services.studies import (
        DimensionUnknownError,
        NothingChangedError,
        RubricShownError,
        SeedTakenError,
        StudyExistsError,
        StudyNotFoundError,
        StudyStateError,
        close_study,
        create_study,
        create_version,
        lock_study,
        open_study,
        pause_study,
        versioned_slug,
    )
else:
    __getattr__ = names_of(__name__)

__all__ = [
    "DimensionUnknownError",
    "NothingChangedError",
    "Rehearsal",
    "RubricShownError",
    "SeedTakenError",
    "ShadowStudyError",
    "StudyExistsError",
    "StudyNotFoundError",
    "StudyStateError",
    "announce_full_studies",
    "close_study",
    "create_study",
    "create_version",
    "edit_study",
    "keep_figures",
    "lock_study",
    "make_shadow_study",
    "open_study",
    "pause_study",
    "versioned_slug",
]
