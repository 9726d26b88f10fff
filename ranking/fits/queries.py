"""Reads of fits: who may read which, how they stand, and which rest on what is withdrawn."""

import datetime as dt
from dataclasses import dataclass

from django.db.models import Max, Min, OuterRef, Q, QuerySet, Subquery
from django.urls import reverse
from django.utils.translation import gettext as _

from access.nudges import is_lost
from annotation.choices import Protocol, StudyState
from annotation.models import Comparison, Judgment, Rater, Study
from annotation.overview.progress import Alert
from annotation.studies import queries as study_queries
from completions.models import Completion, Writer
from ranking.boards import as_text, board_of
from ranking.choices import ContextSet, EvaluatorPool, FitState, ReleaseState
from ranking.judgments import analysis_set
from ranking.judgments.method import Stamp
from ranking.models import Fit, Release

# Ratings of single messages have means even where they imply no order by pairs.
ANALYSED = Q(state=FitState.DONE) | Q(state=FitState.REFUSED, study__protocol=Protocol.LIKERT)
ENDED = (FitState.DONE, FitState.REFUSED)
PUBLIC = Q(study__state=StudyState.CLOSED) | Q(published_at__isnull=False)
"""Of ended fits: everybody may read them."""
# What a reader who names nothing is shown: the first of these that has been fitted.
PREFERRED = (EvaluatorPool.COMBINED, EvaluatorPool.HUMAN, EvaluatorPool.LLM)
CLAIM_LENGTH = dt.timedelta(minutes=2)  # of a fit; after that its worker counts as lost
SHOWN = 30


def newest_fits(study: Study) -> dict[tuple[EvaluatorPool, ContextSet], Fit]:
    """Return the fit claimed last for each pool and context set, in whatever state."""
    newest = _newest(Fit.objects.filter(study=study))
    return {(EvaluatorPool(fit.pool), ContextSet(fit.context_set)): fit for fit in newest}


@dataclass(frozen=True)
class Results:
    """What somebody may read of the results of a study; ``is_team``: they are of its team.

    While judgments come in, whoever gives one could learn from what moves who wrote what. So
    until the study is closed everybody else reads nothing but what an owner published: fits that
    stay as they are.
    """

    study: Study
    is_team: bool

    @property
    def is_embargoed(self) -> bool:
        """Whether the study is not closed, so that its newest results are the team's alone."""
        return self.study.state != StudyState.CLOSED

    @property
    def has_all(self) -> bool:
        """Whether all of it may be read."""
        return self.is_team or not self.is_embargoed

    @property
    def fits(self) -> QuerySet[Fit]:
        """The fits that may be read: those that ended, done or refused."""
        ended = Fit.objects.filter(study=self.study, state__in=ENDED).select_related("study")
        return ended if self.has_all else ended.filter(PUBLIC)

    def latest(self, pool: EvaluatorPool, context_set: ContextSet) -> Fit | None:
        """Return the fit of the newest analysis set, or None."""
        fits = self.fits.filter(pool=pool, context_set=context_set)
        return fits.order_by("-as_of", "-pk").first()

    def by_key(self, key: str) -> Fit | None:
        """Return the fit of that permanent name, or None."""
        return self.fits.filter(key=key).first()

    def selections(self) -> list[tuple[EvaluatorPool, ContextSet]]:
        """Return the pools and context sets that have a fit to show, the most telling first."""
        found = set(self.fits.values_list("pool", "context_set"))
        return [(pool, name) for pool in PREFERRED for name in ContextSet if (pool, name) in found]


def readable_results(slug: str, *, is_team: bool) -> Results | None:
    """Return the results of the study of that name, or None if it is not theirs to know of.

    Nobody outside the team is told of a draft.
    """
    study = study_queries.study_by_slug(slug)
    if study is None or (study.state == StudyState.DRAFT and not is_team):
        return None
    return Results(study, is_team=is_team)


def latest_fit(*, study: Study, pool: EvaluatorPool, context_set: ContextSet) -> Fit | None:
    """Return the newest of all fits of a pool and context set that ended, or None."""
    return Results(study, is_team=True).latest(pool, context_set)


def fit_by_key(*, study: Study, key: str) -> Fit | None:
    """Return the fit of that permanent name among all that ended, or None."""
    return Results(study, is_team=True).by_key(key)


def n_published(fit: Fit) -> int:
    """Count the published fits of the same judgments' pool and context set, but for this one."""
    same = Fit.objects.filter(study=fit.study_id, pool=fit.pool, context_set=fit.context_set)
    return same.filter(published_at__isnull=False).exclude(pk=fit.pk).count()


def is_out_of_date(fit: Fit | None) -> bool:
    """Say whether raters left, came back or had their answers deleted since the fit."""
    if fit is None:
        return False
    known = Stamp.of(fit.diagnostics["stamp"])
    return known.n_decisions != analysis_set.n_decisions(fit.study)


def leaderboard_text(fit: Fit) -> str:
    """Return the leaderboard of a fit as a table for a terminal."""
    return as_text(board_of(fit))


def n_under_way(study: Study, *, now: dt.datetime) -> int:
    """Count the fits of a study that a worker has, unless the worker counts as lost."""
    running = Fit.objects.filter(study=study, state=FitState.RUNNING)
    return running.exclude(is_lost(now=now, after=CLAIM_LENGTH)).count()


def newest_done(study: Study) -> list[Fit]:
    """Return the newest fit of each pool and context set, where it is done."""
    return [fit for fit in newest_analysed(study) if fit.state == FitState.DONE]


def newest_analysed(study: Study) -> list[Fit]:
    """Return the newest fit of each pool and context set, where it can be looked into."""
    newest = _newest(Fit.objects.filter(study=study).exclude(state=FitState.RUNNING))
    return sorted(newest.filter(ANALYSED).select_related("study"), key=place)


def refused_alerts(study: Study) -> list[Alert]:
    """Return an alert for each pool whose newest fit was refused, in one query."""
    kinds = Fit.objects.filter(
        study=OuterRef("study"), pool=OuterRef("pool"), context_set=OuterRef("context_set")
    )
    newest = kinds.exclude(state=FitState.RUNNING).order_by("-as_of", "-pk").values("pk")[:1]
    fits = Fit.objects.filter(study=study, state=FitState.REFUSED, pk=Subquery(newest))
    url = reverse("raters:fits", args=[study.slug])
    return [
        Alert(
            _("No ratings of %(pool)s: %(why)s")
            % {"pool": f"{fit.get_pool_display()}, {fit.get_context_set_display()}", "why": why},
            url,
        )
        for fit in fits.order_by("pool", "context_set")
        if (why := fit.refusal)
    ]


def fits_of(study: Study, *, most: int = SHOWN) -> list[Fit]:
    """Return the fits of a study in whatever state, the newest first."""
    return list(Fit.objects.filter(study=study).order_by("-as_of", "-pk")[:most])


def newest_of(study: Study) -> list[Fit]:
    """Return the fit claimed last for each pool and context set, in whatever state."""
    return sorted(_newest(Fit.objects.filter(study=study)), key=place)


def _newest(fits: QuerySet[Fit]) -> QuerySet[Fit]:
    """Return the fit claimed last for each pool and context set."""
    groups = fits.order_by().values("pool", "context_set").annotate(newest=Max("pk"))
    return Fit.objects.filter(pk__in=groups.values("newest"))


def place(fit: Fit) -> tuple[int, int]:
    """Return the place of a fit among those of its study, the most telling first."""
    pool, context_set = EvaluatorPool(fit.pool), ContextSet(fit.context_set)
    return PREFERRED.index(pool), list(ContextSet).index(context_set)


MOST_AFFECTED = 20


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


def resting_on_rater(rater: Rater) -> list[Affected]:
    """Return the results that rest on a rater's answers, in six queries at most.

    Of who withdrew, results as of before they did; a judgment that counted in none has none.
    """
    given = Judgment.objects.filter(rater=rater, is_surplus=False)
    first = given.aggregate(at=Min("submitted_at"))["at"]
    if first is None:
        return []
    until = rater.ended_at if not rater.data_kept else None
    return _affected(rater.study, first, until, Q(pool=EvaluatorPool.LLM))


def resting_on_writer(writer: Writer) -> list[Affected]:
    """Return the results that rest on comparisons of a writer's texts, study by study."""
    texts = writer.completions
    until = texts.aggregate(at=Max("erased_at"))["at"] if not writer.texts_kept else None
    pairs = Comparison.objects.filter(
        Q(first__in=texts.values("pk")) | Q(second__in=texts.values("pk"))
    )
    judged = Judgment.objects.filter(comparison__in=pairs.values("pk"))
    firsts = judged.order_by().values_list("comparison__study").annotate(at=Min("submitted_at"))
    begun = dict(firsts)
    studies = Study.objects.filter(pk__in=begun).order_by("slug")[:MOST_AFFECTED]
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
    shown = resting.order_by("-as_of", "-pk").values_list("key", "as_of")[:MOST_AFFECTED]
    held = tuple(releases.order_by("version").values_list("version", flat=True))
    n = resting.count()
    if not n and not held:
        return []
    newest = fits.aggregate(at=Max("as_of"))["at"]
    return [Affected(study.slug, study.title, n, tuple(shown), held, newest)]
