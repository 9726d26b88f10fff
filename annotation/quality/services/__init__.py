"""Writes of quality; everything a caller may import is named here."""

from typing import TYPE_CHECKING

from access.later import names_of

if TYPE_CHECKING:
    from annotation.quality.services.alerting import is_mail_set_up, send_report_alerts
    from annotation.quality.services.excluding import (
        DecisionError,
        Examined,
        exclude_by_rules,
        exclude_rater,
        reinstate_rater,
    )
    from annotation.quality.services.gold import (
        AlreadyACheckError,
        GoldReport,
        UnsuitableCheckError,
        load_gold,
        mark_gold,
        switch_check,
    )
    from annotation.quality.services.reporting import (
        ReasonMissingError,
        ReportWords,
        decide_report,
        report_context,
    )
else:
    __getattr__ = names_of(__name__)

__all__ = [
    "AlreadyACheckError",
    "DecisionError",
    "Examined",
    "GoldReport",
    "ReasonMissingError",
    "ReportWords",
    "UnsuitableCheckError",
    "decide_report",
    "exclude_by_rules",
    "exclude_rater",
    "is_mail_set_up",
    "load_gold",
    "mark_gold",
    "reinstate_rater",
    "report_context",
    "send_report_alerts",
    "switch_check",
]
