"""A study on a crowd platform, and people who came from it."""

from typing import Any

from annotation.choices import Platform
from annotation.models import PlatformSubmission, Study
from tests.helpers.factories import NOW, make_rater, make_study
from tests.helpers.factories_of_people import make_submission
from tests.helpers.visits import study_content

CODES = {"complete": "C1", "partial": "C2", "no_consent": "C4"}


def make_paid_study(slug: str = "paid", platform: str = "prolific", codes: Any = CODES) -> Study:
    crowd = study_content()["crowd"] | {"platform": platform, "codes": codes}
    return make_study(slug=slug, content=study_content(crowd=crowd), locked_at=NOW)


def come(
    study: Study,
    code: str = "C1",
    session: str = "x-1",
    platform: str = Platform.PROLIFIC,
    **fields: Any,
) -> PlatformSubmission:
    rater = make_rater(study=study, platform=platform, external_id=f"p-{session}")
    return make_submission(rater=rater, session_id=session, code=code, **fields)
