"""Reads about releases: what one would hold, what is in the way, which there are."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from django.db.models import Count, Exists, Max, OuterRef, QuerySet, Sum

from annotation.models import (
    Exclusion,
    ExternalDecision,
    JudgeCall,
    Judgment,
    QualityCheck,
    Rater,
    RationaleDecision,
    RationaleScan,
    Study,
)
from annotation.rationales.queries import TextCounts, texts_for_release
from annotation.studies.counts import has_few_judgments, newest_keys
from annotation.studies.stored_figures import FiguresKind
from completions.models import Completion, System
from ranking.choices import ContextSet, EvaluatorPool, FitState
from ranking.fits.queries import newest_of
from ranking.judgments.analysis_set import is_deleted_after, n_decisions
from ranking.judgments.method import Stamp
from ranking.models import Analysis, Fit

MOST_LIVE = 2_000
"""Judgments that a page adds up itself."""
N_FITS = 9  # as many as are the newest: three pools, three context sets
NO_FIT = "There are no ratings to release yet: they come with judgments."
RUNNING = "Ratings are being computed. Please try again in a minute."
BEHIND = (
    "Judgments came or went since the ratings were computed. Refit, wait until it is done, and "
    "try again."
)


@dataclass(frozen=True)
class ReleaseFigures:
    """What a release of a study's present state would hold, counted.

    ``obstacle`` says why there can be none now. ``texts`` are the rationales by what becomes of
    them; ``n_judgments`` are those that count.
    """

    obstacle: str
    n_fits: int
    n_judgments: int
    n_raters: int
    texts: TextCounts


def release_figures(study: Study, _now: dt.datetime) -> ReleaseFigures:
    """Count what a release would hold; the database adds up all judgments of the study."""
    fits, obstacle = fits_to_release(study)
    raters = Rater.objects.filter(study=study).exclude(data_kept=False)
    return ReleaseFigures(
        obstacle=obstacle,
        n_fits=len(fits),
        n_judgments=max((fit.n_judgments for fit in fits), default=0),
        n_raters=raters.filter(Exists(Judgment.objects.filter(rater=OuterRef("pk")))).count(),
        texts=texts_for_release(study).counts,
    )


def _is_small(study: Study) -> bool:
    return has_few_judgments(study, most=MOST_LIVE)


def _basis(study: Study) -> object:
    """Return what changes with answers, fits, decisions on raters and texts, scans, deletions."""
    newest = newest_keys(Judgment, Exclusion, RationaleScan, RationaleDecision)
    fits = Fit.objects.filter(study=study).order_by("-pk").values_list("pk", "state")[:N_FITS]
    return newest, tuple(fits), n_decisions(study)


RELEASE = FiguresKind("release", _is_small, _basis, release_figures)


def fits_to_release(study: Study, *, only: Fit | None = None) -> tuple[list[Fit], str]:
    """Return the fits of the study's present state, or why there can be no release of it.

    The newest of each pool and context set, the most telling first, or ``only`` one. All must
    rest on the judgments that count as of the newest of them, so that one table tells of all, and
    nothing of these may have been deleted since.
    """
    found = newest_of(study) if only is None else [only]
    if not found:
        return [], NO_FIT
    if any(fit.state == FitState.RUNNING for fit in found):
        return [], RUNNING
    found = [fit for fit in found if fit.n_judgments]
    if not found:
        return [], NO_FIT
    as_of = max(fit.as_of for fit in found)
    if is_deleted_after(study, as_of):
        return [], BEHIND
    # Pages load this module, most of them without a release to check (ADR-0043).
    from ranking.judgments.frames.groups import read_stamps  # noqa: PLC0415

    stamps = read_stamps(study=study, as_of=as_of)
    return ([], BEHIND) if any(_is_behind(fit, stamps) for fit in found) else (found, "")


def _is_behind(fit: Fit, stamps: Mapping[tuple[EvaluatorPool, ContextSet], Stamp]) -> bool:
    """Say whether other judgments count by now; decisions alone change no rating."""
    known = Stamp.of(fit.diagnostics["stamp"])
    now = stamps.get((EvaluatorPool(fit.pool), ContextSet(fit.context_set)))
    return now is None or now._replace(n_decisions=known.n_decisions) != known


def state_of(study: Study, fits: Sequence[Fit]) -> dict[str, Any]:
    """Return short marks of all that goes into a release; a dozen queries, no row by row."""
    as_of = max(fit.as_of for fit in fits)
    judgments = Judgment.objects.filter(comparison__study=study, submitted_at__lte=as_of)
    calls = JudgeCall.objects.filter(comparison__study=study)
    analyses = Analysis.objects.filter(fit__in=[fit.pk for fit in fits])
    texts = Completion.objects.filter(context__dataset=study.dataset_id)
    read = RationaleDecision.objects.filter(judgment__comparison__study=study)
    checks = QualityCheck.objects.filter(comparison__study=study, is_active=True)
    return _external(study) | {
        "study": [study.slug, study.title, study.protocol_hash, study.state],
        "dataset": [study.dataset.name, study.dataset.licence, study.dataset.is_authored],
        "fits": [fit.key for fit in fits],
        "decisions": n_decisions(study),
        "withdrawn": study.raters.filter(data_kept=False).count(),
        "exclusions": Exclusion.objects.filter(decided_at__lte=as_of).aggregate(n=Max("pk")),
        "judgments": judgments.aggregate(n=Count("pk"), keys=Sum("pk")),
        "calls": list(calls.order_by("state").values_list("state").annotate(n=Count("pk"))),
        "rationales": [asdict(texts_for_release(study).counts), read.aggregate(n=Max("pk"))],
        "checks": checks.aggregate(n=Count("pk"), keys=Sum("pk")),
        "systems": list(_systems(texts)),
        "leases": list(_leases(study)),
        "analyses": analyses.filter(ended_at__isnull=False).aggregate(
            n=Count("pk"), last=Max("pk")
        ),
        "texts": texts.aggregate(n=Count("pk"), keys=Sum("pk"), fixed=Max("created_at")),
    }


def is_simulated(fits: Sequence[Fit]) -> bool:
    """Say whether anything behind the fits is a stand-in."""
    systems = System.objects.filter(ratings__fit__in=fits, is_simulated=True)
    return any(fit.is_simulated for fit in fits) or systems.exists()


def _external(study: Study) -> dict[str, Any]:
    """Return marks of judgments made elsewhere; nothing where there are none."""
    decisions = ExternalDecision.objects.filter(batch__study=study)
    newest = study.external_batches.aggregate(n=Max("pk"))["n"]
    marks = [newest, decisions.aggregate(n=Max("pk"))["n"]]
    return {} if newest is None else {"external": marks}


def _systems(texts: QuerySet[Completion]) -> "QuerySet[System, tuple[Any, ...]]":
    """Return what a release tells of the systems that wrote texts."""
    found = System.objects.filter(pk__in=texts.values("system")).order_by("slug")
    own = ("slug", "name", "kind", "family", "model_id", "parameters", "is_simulated")
    facts = ("facts__intelligence_index__value", "facts__median_ttft_ms__value")
    return found.values_list(*own, *facts)


def _leases(study: Study) -> "QuerySet[Any, tuple[Any, ...]]":
    """Return how many of the study's leases ended how."""
    leases = study.comparisons.order_by("leases__outcome").values_list("leases__outcome")
    return leases.annotate(n=Count("leases"))
