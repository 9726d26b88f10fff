"""Writes of raters; everything a caller may import is named here."""

from typing import TYPE_CHECKING

from access.later import names_of

if TYPE_CHECKING:
    from annotation.raters.services.broken_links import count_failed_arrival, send_arrival_alerts
    from annotation.raters.services.entering import (
        BoundElsewhereError,
        Entry,
        StudyFullError,
        WrongPlatformError,
        check_arrival,
        come_back,
        enter_study,
        flag_team,
        link_writer,
        release_binding,
    )
    from annotation.raters.services.guessing import record_guesses
    from annotation.raters.services.submissions import give_code, take_event
    from annotation.raters.services.understanding import (
        NothingToAnswerError,
        answer_comprehension,
        comprehension_questions,
    )
    from annotation.raters.services.withdrawing import (
        WithdrawalRequest,
        withdraw_rater,
        withdraw_writer,
    )
else:
    __getattr__ = names_of(__name__)

__all__ = [
    "BoundElsewhereError",
    "Entry",
    "NothingToAnswerError",
    "StudyFullError",
    "WithdrawalRequest",
    "WrongPlatformError",
    "answer_comprehension",
    "check_arrival",
    "come_back",
    "comprehension_questions",
    "count_failed_arrival",
    "enter_study",
    "flag_team",
    "give_code",
    "link_writer",
    "record_guesses",
    "release_binding",
    "send_arrival_alerts",
    "take_event",
    "withdraw_rater",
    "withdraw_writer",
]
