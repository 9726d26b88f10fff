"""Reads of studies, of their raters and leases, and of what a rater was shown and answered."""

import statistics
import uuid
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext as _

from annotation.choices import Purpose, Side, StudyState
from annotation.models import (
    Comparison,
    ExternalBatch,
    JudgeCall,
    Judgment,
    Lease,
    PlatformSubmission,
    Rater,
    Report,
    Study,
)
from annotation.studies.verdicts import Answer
from completions.choices import LeaseOutcome
from completions.dialogues.normaliser import plain
from completions.dialogues.queries import Row, with_language
from completions.models import Completion, Context, System, WritingLease

INTACT = Q(first__erased_at=None, second__erased_at=None)
"""Of comparisons: no text of it was deleted at its writer's wish."""
ANYBODY = ("any", "generic")
"""Platforms of study files that let in who comes without a participant ID."""
DEFAULT_SECONDS = 60.0
FEW_ANSWERS = 3
N_RECENT = 9
LONGEST_MS = 10 * 60 * 1000
"""What one answer counts as at most: nobody reads a pair for longer."""


@dataclass(frozen=True)
class RaterHistory:
    """What a rater was shown so far: leases, answers by side, the last context, the time spent.

    Each lease carries the tallies from before it was drawn, so the newest one tells it all.
    """

    number: int = 0
    first_as_a: int = 0
    first_as_b: int = 0
    last_context: int | None = None
    recent_ms: tuple[int, ...] = ()

    @property
    def answered(self) -> int:
        """How many pairs of the session were answered; screening is not part of it."""
        return self.first_as_a + self.first_as_b

    @property
    def shown(self) -> tuple[int, int]:
        """How often the first completion was A, and B, in what was answered."""
        return self.first_as_a, self.first_as_b

    @property
    def seconds_per_pair(self) -> float:
        """The median time in view of the last answers in seconds; a default before the third.

        Of single long times the median takes no notice: somebody fetched a coffee.
        """
        if len(self.recent_ms) < FEW_ANSWERS:
            return DEFAULT_SECONDS
        return statistics.median(self.recent_ms) / 1000

    @classmethod
    def before(cls, lease: Lease) -> "RaterHistory":
        """Return how the rater stood when the lease was drawn."""
        return cls(
            number=lease.number - 1,
            first_as_a=lease.rater_first_as_a,
            first_as_b=lease.rater_first_as_b,
            recent_ms=tuple(lease.recent_ms),
        )

    @classmethod
    def after(cls, lease: Lease, *, hidden_ms: int = 0) -> "RaterHistory":
        """Return how the rater stands after the lease; only an answer in time counts."""
        counts = lease.outcome == LeaseOutcome.SUBMITTED and not lease.is_screening
        before = cls.before(lease)
        return cls(
            number=lease.number,
            first_as_a=before.first_as_a + (counts and lease.first_side == Side.A),
            first_as_b=before.first_as_b + (counts and lease.first_side == Side.B),
            last_context=lease.comparison.context_id,
            recent_ms=(*before.recent_ms, *[_in_view(lease, hidden_ms)] * counts)[-N_RECENT:],
        )


def _in_view(lease: Lease, hidden_ms: int) -> int:
    """Return the milliseconds that a closed lease was looked at, capped."""
    closed_at = lease.closed_at or lease.issued_at
    shown = int((closed_at - lease.issued_at).total_seconds() * 1000)
    return min(max(0, shown - lease.paused_ms - hidden_ms), LONGEST_MS)


def study_by_slug(slug: str) -> Study | None:
    """Return the study, with its dataset, or None."""
    return Study.objects.select_related("dataset").filter(slug=slug).first()


def newest_version(study: Study) -> Study:
    """Return the newest version of a study of people: a draft perhaps, or the study itself."""
    versions = Study.objects.filter(name=study.name, is_simulated=False)
    return versions.select_related("dataset").order_by("-version")[0]


def studies() -> QuerySet[Study]:
    """Return all studies, newest first."""
    return Study.objects.select_related("dataset").order_by("-created_at", "-pk")


def rater_now(rater: Rater) -> Rater:
    """Return the rater as the database has them now, with the study."""
    return Rater.objects.select_related("study").get(pk=rater.pk)


def dimension_keys(study: Study) -> list[str]:
    """Return the keys of the study's rubric, in its order."""
    return [dimension["key"] for dimension in content_of(study)["rubric"]["dimensions"]]


def chip_keys(study: Study) -> list[str]:
    """Return the keys of the reasons that the study's raters can tick."""
    return [chip["key"] for chip in content_of(study).get("chips", ())]


def rater_by_code(*, study: Study, code: str) -> Rater | None:
    """Return the study's rater of that pseudonym, with the study itself, or None."""
    return Rater.objects.select_related("study").filter(study=study, code=code).first()


def content_of(study: Study) -> dict[str, Any]:
    """Return the study file; that of a locked study is read once, for it never changes."""
    if study.protocol_hash and "content" in study.get_deferred_fields():
        return _locked_content(study.pk, study.protocol_hash)
    return dict(study.content)


@lru_cache(maxsize=64)
def _locked_content(study_id: int, protocol_hash: str) -> dict[str, Any]:
    content = Study.objects.filter(pk=study_id, protocol_hash=protocol_hash)
    return dict(content.values_list("content", flat=True).get())


def forget_contents() -> None:
    """Forget the contents of locked studies, where a test changes one all the same."""
    _locked_content.cache_clear()


def is_being_timed(rater: Rater) -> bool:
    """Say whether the rater has a pair open and is on no break."""
    return rater.leases.filter(closed_at=None, paused_at=None).exists()


def rater_progress(rater: Rater) -> tuple[int, int]:
    """Return how many pairs the rater has answered, late ones too, and how many a session has."""
    return n_session_answers(rater), rater.study.session_length


def newest_submission(rater: Rater) -> PlatformSubmission | None:
    """Return the submission of a platform that the rater came with last, or None."""
    return rater.submissions.order_by("-number").first()


def screening_answers(rater: Rater) -> list[Judgment]:
    """Return the rater's current answers in the screening round, with what was expected."""
    return list(
        rater.judgments.filter(revision__isnull=True, lease__is_screening=True)
        .select_related("lease__quality_check")
        .prefetch_related("marks")
    )


def n_screening_answers(rater: Rater) -> int:
    """Return how many pairs of the screening round the rater has answered."""
    return rater.leases.filter(is_screening=True, outcome=LeaseOutcome.SUBMITTED).count()


def n_session_answers(rater: Rater) -> int:
    """Return how many pairs after the screening round the rater has answered, late ones too."""
    return rater.leases.filter(is_screening=False, outcome=LeaseOutcome.SUBMITTED).count()


def n_left_out(rater: Rater) -> int:
    """Return how many pairs after the screening round were shown and not answered."""
    unanswered = (LeaseOutcome.SKIPPED, LeaseOutcome.EXPIRED)
    return rater.leases.filter(is_screening=False, outcome__in=unanswered).count()


def not_reported_by(rater: Rater, context: str) -> Q:
    """Return the condition that the rater never reported the context that ``context`` leads to."""
    return ~Q(Exists(Report.objects.filter(context=OuterRef(context), rater=rater)))


def not_written_for_by(writer: int | None, context: str) -> Q:
    """Return the condition that a writer never had the context that ``context`` leads to."""
    if writer is None:
        return Q()
    return ~Q(Exists(WritingLease.objects.filter(context=OuterRef(context), writer=writer)))


def open_comparisons(rater: Rater) -> QuerySet[Comparison]:
    """Return comparisons with a free slot that the rater was never shown and has no part in."""
    shown = Lease.objects.filter(comparison=OuterRef("pk"), rater=rater)
    return Comparison.objects.filter(
        ~Exists(shown),
        not_reported_by(rater, "context"),
        not_written_for_by(rater.writer_id, "context"),
        study=rater.study_id,
        slots_left__gt=0,
        purpose=Purpose.MAIN,
        held_at=None,
    ).order_by("position", "pk")


def leases_to_show() -> QuerySet[Lease]:
    """Return leases with everything that their screens need."""
    return with_texts(Lease.objects.select_related("rater__study"), "comparison__")


def slots_in_hand() -> QuerySet[Lease]:
    """Return the open leases that hold a slot: no check and no repeat does."""
    return Lease.objects.filter(closed_at=None, quality_check=None, repeats=None)


def with_texts(rows: QuerySet[Row], comparison: str = "") -> QuerySet[Row]:
    """Join what a screen needs of a comparison; ``comparison`` is the way to it with its dashes."""
    places = (f"{comparison}{place}" for place in ("context", "first", "second"))
    return with_language(rows.select_related(*places), f"{comparison}context")


def lease_of(*, study: str, rater: str, token: uuid.UUID) -> Lease | None:
    """Return the lease of that token, ready to be shown, if it is that rater's, or None."""
    own = leases_to_show().filter(rater__study__slug=study, rater__code=rater)
    return own.filter(token=token).first()


def shown_text(completion: Completion) -> str:
    """Return the text as everybody sees it, or that it was deleted."""
    if completion.erased_at is not None:
        return _("Deleted at its writer's wish.")
    return plain(completion.text)


def last_judged_lease(rater: Rater) -> Lease | None:
    """Return the rater's most recently answered lease, ready to be shown again, or None.

    What they reported and what was deleted is not shown again.
    """
    answered = leases_to_show().filter(
        not_reported_by(rater, "comparison__context"),
        rater=rater,
        outcome=LeaseOutcome.SUBMITTED,
        comparison__first__erased_at=None,
        comparison__second__erased_at=None,
    )
    return answered.order_by("-closed_at", "-pk").first()


def current_judgment(lease: Lease) -> Judgment | None:
    """Return the newest revision of the lease's judgment, or None."""
    return (
        Judgment.objects.filter(lease=lease, revision__isnull=True)
        .prefetch_related("marks")
        .first()
    )


def answer_of(judgment: Judgment) -> Answer:
    """Return what a stored judgment says, in the canonical frame; its marks are read before."""
    marks = {mark.dimension: mark.advantage for mark in judgment.marks.all()}
    return Answer(judgment.verdict, judgment.rationale, marks, frozenset(judgment.chips.split()))


def is_excluded(rater: Rater) -> bool:
    """Say whether the newest decision on the rater is an exclusion."""
    newest = rater.exclusions.order_by("-decided_at", "-pk").first()
    return newest is not None and newest.is_excluded


def judging_progress(study: Study) -> tuple[int, int]:
    """Return how many of the study's judge calls have ended, and how many there are."""
    calls = JudgeCall.objects.filter(comparison__study=study)
    return calls.filter(ended_at__isnull=False).count(), calls.count()


def public_studies() -> QuerySet[Study]:
    """Return the studies that have been opened to people, newest first, without their files.

    ``has_simulated`` says that programs wrote some of the texts, ``lets_anybody_in`` that who
    comes without a platform may judge.
    """
    simulated = Comparison.objects.filter(study=OuterRef("pk")).filter(
        Q(first__system__is_simulated=True) | Q(second__system__is_simulated=True)
    )
    return (
        studies()
        .filter(locked_at__isnull=False, is_simulated=False)
        .exclude(state=StudyState.LOCKED)
        .annotate(
            has_simulated=Exists(simulated),
            lets_anybody_in=Q(state=StudyState.OPEN, content__crowd__platform__in=ANYBODY),
        )
        .defer("content")
    )


_ITS = {"study": OuterRef("pk")}
_OF_SYSTEMS = Q(first__system__is_simulated=True) | Q(second__system__is_simulated=True)
HOLDS_SIMULATED = (
    Q(is_simulated=True)
    | Exists(Rater.objects.filter(**_ITS, is_simulated=True))
    | Exists(System.objects.filter(is_simulated=True))
    & Exists(Comparison.objects.filter(_OF_SYSTEMS, **_ITS))
    | Exists(Context.objects.filter(dataset=OuterRef("dataset"), is_simulated=True))
    | Exists(ExternalBatch.objects.filter(**_ITS, is_simulated=True))
    | Exists(Judgment.objects.filter(comparison__study=OuterRef("pk"), judge__is_simulated=True))
)
"""Of a study: whether anything that the team reads of it is simulated."""


def holds_simulated(study: Study) -> bool:
    """Say whether anything that the team reads of the study is simulated."""
    return Study.objects.filter(HOLDS_SIMULATED, pk=study.pk).exists()


def study_file_name(study: Study, what: str, *, is_simulated: bool = False) -> str:
    """Return the name of a download about a study, which says if simulated data are in it.

    ``is_simulated`` says so of what is not compared, and in the download.
    """
    says = ("simulated",) if is_simulated or holds_simulated(study) else ()
    return "-".join((*says, study.slug, what))
