"""Which queue each task goes to, and what runs periodically: one line and one reason per task.

Work is announced when it is committed (ADR-0004); what runs here sweeps up what no nudge told of.
A deployment that does nothing sends fewer than ten messages a minute.
"""

from access.nudges import KEPT_S, Work

MAINTENANCE = "maintenance"  # ticks and mails: short, must never wait behind slow work
LLM = "llm"  # long-running pulls of provider calls
ANALYSIS = "analysis"  # processor-bound estimation
OUTGOING = "outgoing"  # waits for receivers of webhooks, however slow they are

QUEUES: dict[str, dict[str, object]] = {name: {} for name in (MAINTENANCE, LLM, ANALYSIS, OUTGOING)}
"""Celery's options of each queue: none."""

ROUTES = {
    "access.tasks.deliver_hooks": {"queue": OUTGOING},
    "access.tasks.forget_idempotency_keys": {"queue": MAINTENANCE},
    "annotation.tasks.announce_full_studies": {"queue": MAINTENANCE},
    "completions.tasks.release_expired_writing_leases": {"queue": MAINTENANCE},
    "completions.tasks.send_writer_mails": {"queue": MAINTENANCE},
    "completions.tasks.look_after_runs": {"queue": MAINTENANCE},
    "completions.tasks.do_jobs": {"queue": LLM},
    "completions.tasks.generate_completions": {"queue": LLM},
    "completions.tasks.name_strategies": {"queue": LLM},
    "annotation.tasks.release_expired_leases": {"queue": MAINTENANCE},
    "annotation.tasks.ask_judges": {"queue": LLM},
    "annotation.tasks.find_themes": {"queue": LLM},
    "annotation.tasks.scan_rationales": {"queue": MAINTENANCE},
    "annotation.tasks.enforce_retention": {"queue": MAINTENANCE},
    "annotation.tasks.send_report_alerts": {"queue": MAINTENANCE},
    "annotation.tasks.send_arrival_alerts": {"queue": MAINTENANCE},
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
    "heart_site.tasks.make_backup": {"queue": ANALYSIS},
    "heart_site.tasks.try_restore": {"queue": ANALYSIS},
    "heart_site.tasks.run_audit": {"queue": ANALYSIS},
    "heart_site.tasks.reclaim_lost_audits": {"queue": MAINTENANCE},
}


SWEEP_S = KEPT_S
"""How late work begins at most of which no worker was told."""
RARELY_S = 300.0
BEAT_SLEEPS_S = 5.0
"""How long beat sleeps at most: it gives a sign of life when it wakes."""
HOUR_S = 3600.0


def beat_schedule(*, refit_seconds: float, review_seconds: float) -> dict[str, dict[str, object]]:
    """Return the periodic schedule; ratings are looked at and raters reviewed as often as said."""
    return {
        # Gives the slots of abandoned claims back to others.
        "release-expired-leases": _every(SWEEP_S, "annotation.tasks.release_expired_leases"),
        "release-expired-writing-leases": _every(
            SWEEP_S, "completions.tasks.release_expired_writing_leases"
        ),
        # Whoever stores the last answer ends its run; these see what two did at once, and calls
        # that wait while nobody makes any.
        "look-after-runs": _every(SWEEP_S, "completions.tasks.look_after_runs"),
        # Two raters who give the last two answers at once each see the other's still open.
        "announce-full-studies": _every(SWEEP_S, "annotation.tasks.announce_full_studies"),
        # Also what is due again after a receiver did not take it.
        "deliver-hooks": _every(SWEEP_S, "access.tasks.deliver_hooks"),
        # Also studies that changed too little for a fit so far, and new versions of the code.
        "refit-changed-studies": _every(
            max(SWEEP_S, refit_seconds), "ranking.tasks.refit_changed_studies"
        ),
        # Looks further into ratings that stand; also what has to pause between two looks.
        "claim-due-analyses": _every(SWEEP_S, "ranking.tasks.claim_due_analyses"),
        # Also what no mail server took so far.
        "send-writer-mails": _every(RARELY_S, "completions.tasks.send_writer_mails"),
        "send-report-alerts": _every(RARELY_S, "annotation.tasks.send_report_alerts"),
        # Whoever set up the link should hear of it while people still come.
        "send-arrival-alerts": _every(RARELY_S, "annotation.tasks.send_arrival_alerts"),
        # A release needs the texts read; whoever reviews them should not find them all at the end.
        "scan-rationales": _every(RARELY_S, "annotation.tasks.scan_rationales"),
        # Releases and audits whose workers died are begun again, three times at most.
        "reclaim-lost-releases": _every(RARELY_S, "ranking.tasks.reclaim_lost_releases"),
        "reclaim-lost-audits": _every(RARELY_S, "heart_site.tasks.reclaim_lost_audits"),
        # Leaves out raters whom the rules of their study exclude.
        "review-judged-studies": _every(review_seconds, "ranking.tasks.review_judged_studies"),
        # Dates are days: an hour late is on time.
        "enforce-retention": _every(HOUR_S, "annotation.tasks.enforce_retention"),
        # A key that is past its day counts no more, whether it is deleted or not.
        "forget-idempotency-keys": _every(HOUR_S, "access.tasks.forget_idempotency_keys"),
    }


def _every(seconds: float, task: str) -> dict[str, object]:
    """Return an entry; a message that no worker took expires when the next one comes."""
    return {"task": task, "schedule": seconds, "options": {"expires": seconds}}


LOOKING = frozenset(
    {
        *Work,
        *(
            str(entry["task"])
            for entry in beat_schedule(refit_seconds=0, review_seconds=0).values()
        ),
    }
)
"""The tasks that look whether there is work, and mostly find none."""
