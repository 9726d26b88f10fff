"""Which queue each task goes to, and what runs periodically: one line and one reason per task."""

from kombu import Queue

MAINTENANCE = "maintenance"  # beat ticks: short, must never wait behind slow work
LLM = "llm"  # long-running pulls of provider calls
ANALYSIS = "analysis"  # processor-bound estimation
OUTGOING = "outgoing"  # waits for receivers of webhooks, however slow they are

QUEUES = tuple(Queue(name) for name in (MAINTENANCE, LLM, ANALYSIS, OUTGOING))

ROUTES = {
    "access.tasks.deliver_hooks": {"queue": OUTGOING},
    "access.tasks.forget_idempotency_keys": {"queue": MAINTENANCE},
    "annotation.tasks.announce_full_studies": {"queue": MAINTENANCE},
    "completions.tasks.release_expired_writing_leases": {"queue": MAINTENANCE},
    "completions.tasks.send_writer_mails": {"queue": MAINTENANCE},
    "completions.tasks.finish_runs": {"queue": MAINTENANCE},
    "completions.tasks.wake_generation": {"queue": MAINTENANCE},
    "completions.tasks.generate_completions": {"queue": LLM},
    "completions.tasks.wake_labelling": {"queue": MAINTENANCE},
    "completions.tasks.name_strategies": {"queue": LLM},
    "annotation.tasks.release_expired_leases": {"queue": MAINTENANCE},
    "annotation.tasks.finish_judge_runs": {"queue": MAINTENANCE},
    "annotation.tasks.wake_judging": {"queue": MAINTENANCE},
    "annotation.tasks.ask_judges": {"queue": LLM},
    "annotation.tasks.finish_rationale_runs": {"queue": MAINTENANCE},
    "annotation.tasks.wake_rationale_labelling": {"queue": MAINTENANCE},
    "annotation.tasks.find_themes": {"queue": LLM},
    "annotation.tasks.scan_rationales": {"queue": MAINTENANCE},
    "annotation.tasks.enforce_retention": {"queue": MAINTENANCE},
    "annotation.tasks.send_report_alerts": {"queue": MAINTENANCE},
    "annotation.tasks.keep_figures": {"queue": ANALYSIS},
    "ranking.tasks.refit_changed_studies": {"queue": ANALYSIS},
    "ranking.tasks.run_fit": {"queue": ANALYSIS},
    "ranking.tasks.refit_now": {"queue": ANALYSIS},
    "ranking.tasks.claim_due_analyses": {"queue": ANALYSIS},
    "ranking.tasks.run_analysis": {"queue": ANALYSIS},
    "ranking.tasks.review_judged_studies": {"queue": MAINTENANCE},
    "ranking.tasks.review_raters": {"queue": ANALYSIS},
    "ranking.tasks.build_release": {"queue": ANALYSIS},
    "ranking.tasks.reclaim_lost_releases": {"queue": MAINTENANCE},
    "ranking.tasks.measure_raters": {"queue": ANALYSIS},
    "heart_site.tasks.run_audit": {"queue": ANALYSIS},
    "heart_site.tasks.reclaim_lost_audits": {"queue": MAINTENANCE},
}


def beat_schedule(
    *, wake_seconds: float, refit_seconds: float, review_seconds: float
) -> dict[str, dict[str, object]]:
    """Return the periodic schedule with the given intervals in seconds."""
    return {
        # Gives the slots of abandoned claims back to others.
        "release-expired-leases": {
            "task": "annotation.tasks.release_expired_leases",
            "schedule": 30.0,
        },
        "release-expired-writing-leases": {
            "task": "completions.tasks.release_expired_writing_leases",
            "schedule": 30.0,
        },
        # A reported talk should reach somebody soon, and not one mail per report.
        "send-report-alerts": {
            "task": "annotation.tasks.send_report_alerts",
            "schedule": 60.0,
        },
        # A release needs the texts read; whoever reviews them should not find them all at the end.
        "scan-rationales": {
            "task": "annotation.tasks.scan_rationales",
            "schedule": 300.0,
            "options": {"expires": 300.0},
        },
        # Dates are days: an hour late is on time.
        "enforce-retention": {
            "task": "annotation.tasks.enforce_retention",
            "schedule": 3600.0,
            "options": {"expires": 3600.0},
        },
        # A key that is past its day counts no more, whether it is deleted or not.
        "forget-idempotency-keys": {
            "task": "access.tasks.forget_idempotency_keys",
            "schedule": 3600.0,
            "options": {"expires": 3600.0},
        },
        # Whoever is invited, or has something to mend, hears of it while it is fresh.
        "send-writer-mails": {
            "task": "completions.tasks.send_writer_mails",
            "schedule": 15.0,
        },
        # Webhooks hear of what happened within seconds; ticks do not pile up behind a slow one.
        "deliver-hooks": {
            "task": "access.tasks.deliver_hooks",
            "schedule": 5.0,
            "options": {"expires": 5.0},
        },
        "announce-full-studies": {
            "task": "annotation.tasks.announce_full_studies",
            "schedule": 30.0,
        },
        # Whoever stores the last answer ends its run; these see what two did at once.
        "finish-runs": {"task": "completions.tasks.finish_runs", "schedule": 15.0},
        "finish-judge-runs": {"task": "annotation.tasks.finish_judge_runs", "schedule": 15.0},
        "finish-rationale-runs": {
            "task": "annotation.tasks.finish_rationale_runs",
            "schedule": 15.0,
        },
        # The rows are the queue; these ticks are the nudge that work may be waiting.
        "wake-generation": {"task": "completions.tasks.wake_generation", "schedule": wake_seconds},
        "wake-labelling": {"task": "completions.tasks.wake_labelling", "schedule": wake_seconds},
        "wake-judging": {"task": "annotation.tasks.wake_judging", "schedule": wake_seconds},
        "wake-rationale-labelling": {
            "task": "annotation.tasks.wake_rationale_labelling",
            "schedule": wake_seconds,
        },
        # Keeps the leaderboard a few seconds behind the judgments.
        "refit-changed-studies": {
            "task": "ranking.tasks.refit_changed_studies",
            "schedule": refit_seconds,
            "options": {"expires": refit_seconds},  # ticks must not pile up behind a long fit
        },
        # Looks further into ratings that stand; each analysis that ends asks for the next itself.
        "claim-due-analyses": {
            "task": "ranking.tasks.claim_due_analyses",
            "schedule": 15.0,
            "options": {"expires": 15.0},
        },
        # A release whose worker died is begun again, three times at most.
        "reclaim-lost-releases": {
            "task": "ranking.tasks.reclaim_lost_releases",
            "schedule": 60.0,
        },
        # An audit whose worker died is begun again, three times at most.
        "reclaim-lost-audits": {
            "task": "heart_site.tasks.reclaim_lost_audits",
            "schedule": 60.0,
        },
        # Leaves out raters whom the rules of their study exclude.
        "review-judged-studies": {
            "task": "ranking.tasks.review_judged_studies",
            "schedule": review_seconds,
            "options": {"expires": review_seconds},
        },
    }
