"""Which results rest on what somebody has withdrawn, or would withdraw."""

import datetime as dt
from dataclasses import dataclass

from django.db.models import Max, Min, Q

from annotation.models import Comparison, Judgment, Rater, Study
from completions.models import Completion, Writer
from ranking.choices import EvaluatorPool, FitState, ReleaseState
from ranking.models import Fit, Release

SHOWN = 20


@dataclass(frozen=True)
class Affected:
    """Results of a study that rest on a person's data.

    ``fits`` are the keys of the newest; ``releases`` are the versions of those that hold it.
    ``newest_at`` is as of when the study's newest ratings are, which may be after the withdrawal.
    """

    slug: str
    title: str
    n_fits: int
    fits: tuple[tuple[str, dt.datetime], ...]
    releases: tuple[int, ...]
    newest_at: dt.datetime | None


def of_rater(rater: Rater) -> list[Affected]:
    """Return the results that rest on a rater's answers, in six queries at most.

    Of who withdrew, results as of before they did; a judgment that counted in none has none.
    """
    given = Judgment.objects.filter(rater=rater, is_surplus=False)
    first = given.aggregate(at=Min("submitted_at"))["at"]
    if first is None:
        return []
    until = rater.ended_at if not rater.data_kept else None
    return _affected(rater.study, first, until, Q(pool=EvaluatorPool.LLM))


def of_writer(writer: Writer) -> list[Affected]:
    """Return the results that rest on comparisons of a writer's texts, study by study."""
    texts = writer.completions
    until = texts.aggregate(at=Max("erased_at"))["at"] if not writer.texts_kept else None
    pairs = Comparison.objects.filter(
        Q(first__in=texts.values("pk")) | Q(second__in=texts.values("pk"))
    )
    judged = Judgment.objects.filter(comparison__in=pairs.values("pk"))
    firsts = judged.order_by().values_list("comparison__study").annotate(at=Min("submitted_at"))
    begun = dict(firsts)
    studies = Study.objects.filter(pk__in=begun).order_by("slug")[:SHOWN]
    return [one for study in studies for one in _affected(study, begun[study.pk], until, Q())]


def has_withdrawn_data(fit: Fit) -> bool:
    """Say whether a fit rests on data that has been withdrawn since, in two queries at most."""
    if fit.pool != EvaluatorPool.LLM and _raters_gone(fit):
        return True
    erased = Completion.objects.filter(
        context__dataset=fit.study.dataset_id, writer__isnull=False, erased_at__gt=fit.as_of
    ).values("pk")
    compared = Comparison.objects.filter(study=fit.study_id)
    pairs = compared.filter(Q(first__in=erased) | Q(second__in=erased))
    return Judgment.objects.filter(comparison__in=pairs, submitted_at__lte=fit.as_of).exists()


def _raters_gone(fit: Fit) -> bool:
    gone = Rater.objects.filter(study=fit.study_id, data_kept=False, ended_at__gt=fit.as_of)
    given = Judgment.objects.filter(rater__in=gone.values("pk"), submitted_at__lte=fit.as_of)
    return given.filter(is_surplus=False).exists()


def _affected(
    study: Study, since: dt.datetime, until: dt.datetime | None, without: Q
) -> list[Affected]:
    fits = Fit.objects.filter(study=study, state=FitState.DONE)
    releases = Release.objects.filter(study=study, state=ReleaseState.DONE, as_of__gte=since)
    resting = (
        fits.filter(as_of__gte=since).exclude(without) if without else fits.filter(as_of__gte=since)
    )
    if until is not None:
        resting, releases = resting.filter(as_of__lt=until), releases.filter(as_of__lt=until)
    shown = resting.order_by("-as_of", "-pk").values_list("key", "as_of")[:SHOWN]
    held = tuple(releases.order_by("version").values_list("version", flat=True))
    n = resting.count()
    if not n and not held:
        return []
    newest = fits.aggregate(at=Max("as_of"))["at"]
    return [Affected(study.slug, study.title, n, tuple(shown), held, newest)]
