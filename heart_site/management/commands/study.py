"""Command line of studies: create, lock, plan, open, show."""

from annotation.quality import gold
from annotation.quality.services.gold import UnsuitableCheckError
from annotation.quick.services import REFUSALS
from annotation.studies.protocol.files import ProtocolError
from annotation.studies.rubric import RubricError
from annotation.studies.services import drafts
from annotation.studies.services.shadow_studies import ShadowStudyError
from annotation.studies.services.states import StudyStateError
from completions.dialogues.authoring import DatasetTakenError
from completions.dialogues.queries import DatasetNotFoundError
from completions.management.acting import ActionCommand
from heart_site.management.study_actions import planning, states


class Command(ActionCommand):
    """Everything that is done to a study from the command line."""

    help = "Create a study from a TOML file, lock it, plan its comparisons, open it, look at it."
    actions = (
        states.QUICK,
        states.CREATE,
        states.VERSION,
        states.LOCK,
        planning.PLAN,
        *states.MOVES,
        states.SHOW,
        states.REVIEW,
        planning.POWER,
        states.SIMULATE,
    )
    refusals = (
        *REFUSALS,
        DatasetNotFoundError,
        DatasetTakenError,
        ProtocolError,
        RubricError,
        ShadowStudyError,
        gold.GoldError,
        UnsuitableCheckError,
        drafts.DimensionUnknownError,
        drafts.NothingChangedError,
        drafts.RubricShownError,
        drafts.SeedTakenError,
        drafts.StudyExistsError,
        drafts.StudyNotFoundError,
        StudyStateError,
    )
