"""Run an audit that was claimed, and keep what it found."""

import datetime as dt
import logging
from collections.abc import Callable

from annotation.audits import services
from annotation.models import BlindingAudit
from heart_site.blinding.auditing import AuditReport, audit

Clock = Callable[[], dt.datetime]
Tell = Callable[[int, int], None]
logger = logging.getLogger(__name__)

EVERY = 25  # pages between two signs of life
BROKEN = "It ended with an error of the software, which is in the log of the site."


def run_audit(*, audit_id: int, clock: Clock, tell: Tell = lambda _done, _all: None) -> bool:
    """Run a claimed audit and keep its report; say whether this call ended it.

    Safe to run twice: one that has ended is left alone, and of two that run at once, the later
    one's is kept. An error of the code is logged and kept as a failure.
    """
    claimed = services.begin_audit(audit_id=audit_id, now=clock())
    if claimed is None:
        return False
    try:
        report = _report(claimed, clock, tell)
    except services.AuditLostError:
        return False
    except Exception:
        logger.exception("audit %d failed", audit_id)
        services.fail_audit(claimed, error=BROKEN, now=clock())
        return True
    return services.end_audit(
        claimed,
        holds=report.holds,
        report=report.as_json(),
        summary=report.summary(),
        now=clock(),
    )


def _report(claimed: BlindingAudit, clock: Clock, tell: Tell) -> AuditReport:
    def told(n_done: int, n_total: int) -> None:
        tell(n_done, n_total)
        if n_done % EVERY == 1 or n_done == n_total:
            services.note_progress(claimed, n_done=n_done, n_total=n_total, now=clock())

    return audit(claimed.study, n_pages=claimed.n_pages, seed=claimed.seed, now=clock(), tell=told)
