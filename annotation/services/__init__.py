"""Writes of the annotation app; everything a caller may import is named here."""

from typing import TYPE_CHECKING

from access.later import names_of

if TYPE_CHECKING:
    from annotation.services.alerting import is_mail_set_up, send_report_alerts
    from annotation.services.announcing import announce_full_studies
    from annotation.services.arrivals import count_failed_arrival, send_arrival_alerts
    from annotation.services.auditing import (
        N_PAGES,
        SEED,
        AuditLostError,
        AuditUnderWayError,
        begin_audit,
        claim_audit,
        end_audit,
        fail_audit,
        note_progress,
        reclaim_lost_audits,
    )
    from annotation.services.entering import (
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
    from annotation.services.erasing import withdraw_writer
    from annotation.services.excluding import (
        DecisionError,
        Examined,
        exclude_by_rules,
        exclude_rater,
        reinstate_rater,
    )
    from annotation.services.external import (
        ExternalConflictError,
        ExternalRowsError,
        Provenance,
        decide_external,
        store_external,
    )
    from annotation.services.external_files import (
        ExternalFile,
        ExternalFileReport,
        store_external_file,
        try_external_file,
    )
    from annotation.services.finishing import finish_with_nothing_left
    from annotation.services.gold import (
        AlreadyACheckError,
        GoldReport,
        UnsuitableCheckError,
        load_gold,
        mark_gold,
        switch_check,
    )
    from annotation.services.guessing import record_guesses
    from annotation.services.judge_drafting import draft_judge_run
    from annotation.services.judge_planning import (
        StudyNotLockedError,
        count_wanted_judge_calls,
        plan_judge_calls,
    )
    from annotation.services.judge_running import (
        Asking,
        SamplesAlikeError,
        finish_judge_runs,
        start_judge_run,
    )
    from annotation.services.judges import register_simulated_judge, sync_judges
    from annotation.services.judging import (
        Badge,
        Step,
        Submission,
        TooManyChangesError,
        submit_and_go_on,
        submit_judgment,
    )
    from annotation.services.keeping import keep_figures
    from annotation.services.leasing import (
        NotUnderstoodError,
        RaterEndedError,
        StudyNotOpenError,
        lease_next_comparison,
        release_expired_leases,
        skip_comparison,
        stop_judging,
    )
    from annotation.services.llm_judging import (
        ask_judges,
        forget_judging_claims,
        is_judging_waiting,
        pull_judging,
    )
    from annotation.services.pausing import pause_judging
    from annotation.services.planning import PlanReport, plan_study
    from annotation.services.platform_events import take_event
    from annotation.services.rationale_labelling import (
        find_themes,
        forget_rationale_claims,
        forget_themes,
        is_rationale_labelling_waiting,
        plan_rationale_calls,
        pull_rationale_labelling,
    )
    from annotation.services.rationale_runs import finish_rationale_runs, start_rationale_run
    from annotation.services.reporting import (
        ReasonMissingError,
        ReportWords,
        decide_report,
        report_context,
    )
    from annotation.services.retaining import enforce_retention
    from annotation.services.scanning import (
        NothingToMaskError,
        TextWords,
        decide_rationale,
        forget_scans,
        scan_rationales,
    )
    from annotation.services.seeding import SeedTakenError
    from annotation.services.slots import LeaseNotFoundError
    from annotation.services.studies import (
        DimensionUnknownError,
        NothingChangedError,
        RubricShownError,
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
    from annotation.services.study_editing import edit_study
    from annotation.services.submissions import give_code
    from annotation.services.twins import Rehearsal, TwinError, make_twin
    from annotation.services.understanding import (
        NothingToAnswerError,
        answer_comprehension,
        comprehension_questions,
    )
    from annotation.services.weighing import weigh_comparisons
    from annotation.services.withdrawing import Asked, withdraw_rater
else:
    __getattr__ = names_of(__name__)

__all__ = [
    "N_PAGES",
    "SEED",
    "AlreadyACheckError",
    "Asked",
    "Asking",
    "AuditLostError",
    "AuditUnderWayError",
    "Badge",
    "BoundElsewhereError",
    "DecisionError",
    "DimensionUnknownError",
    "Entry",
    "Examined",
    "ExternalConflictError",
    "ExternalFile",
    "ExternalFileReport",
    "ExternalRowsError",
    "GoldReport",
    "LeaseNotFoundError",
    "NotUnderstoodError",
    "NothingChangedError",
    "NothingToAnswerError",
    "NothingToMaskError",
    "PlanReport",
    "Provenance",
    "RaterEndedError",
    "ReasonMissingError",
    "Rehearsal",
    "ReportWords",
    "RubricShownError",
    "SamplesAlikeError",
    "SeedTakenError",
    "Step",
    "StudyExistsError",
    "StudyFullError",
    "StudyNotFoundError",
    "StudyNotLockedError",
    "StudyNotOpenError",
    "StudyStateError",
    "Submission",
    "TextWords",
    "TooManyChangesError",
    "TwinError",
    "UnsuitableCheckError",
    "WrongPlatformError",
    "announce_full_studies",
    "answer_comprehension",
    "ask_judges",
    "begin_audit",
    "check_arrival",
    "claim_audit",
    "close_study",
    "come_back",
    "comprehension_questions",
    "count_failed_arrival",
    "count_wanted_judge_calls",
    "create_study",
    "create_version",
    "decide_external",
    "decide_rationale",
    "decide_report",
    "draft_judge_run",
    "edit_study",
    "end_audit",
    "enforce_retention",
    "enter_study",
    "exclude_by_rules",
    "exclude_rater",
    "fail_audit",
    "find_themes",
    "finish_judge_runs",
    "finish_rationale_runs",
    "finish_with_nothing_left",
    "flag_team",
    "forget_judging_claims",
    "forget_rationale_claims",
    "forget_scans",
    "forget_themes",
    "give_code",
    "is_judging_waiting",
    "is_mail_set_up",
    "is_rationale_labelling_waiting",
    "keep_figures",
    "lease_next_comparison",
    "link_writer",
    "load_gold",
    "lock_study",
    "make_twin",
    "mark_gold",
    "note_progress",
    "open_study",
    "pause_judging",
    "pause_study",
    "plan_judge_calls",
    "plan_rationale_calls",
    "plan_study",
    "pull_judging",
    "pull_rationale_labelling",
    "reclaim_lost_audits",
    "record_guesses",
    "register_simulated_judge",
    "reinstate_rater",
    "release_binding",
    "release_expired_leases",
    "report_context",
    "scan_rationales",
    "send_arrival_alerts",
    "send_report_alerts",
    "skip_comparison",
    "start_judge_run",
    "start_rationale_run",
    "stop_judging",
    "store_external",
    "store_external_file",
    "submit_and_go_on",
    "submit_judgment",
    "switch_check",
    "sync_judges",
    "take_event",
    "try_external_file",
    "versioned_slug",
    "weigh_comparisons",
    "withdraw_rater",
    "withdraw_writer",
]
