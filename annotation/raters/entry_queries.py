"""Reads around the way into a study and out of it."""

import datetime as dt

from django.db.models import BooleanField, Exists, ExpressionWrapper, Subquery, Sum
from django.db.models.functions import Coalesce

from access.choices import PersonKind
from access.evidence import evidence_in
from annotation.assignment import design
from annotation.choices import Platform, Purpose
from annotation.models import Comparison, FailedArrival, Lease, PlatformSubmission, Rater, Study
from annotation.studies.pace import DAY
from annotation.studies.queries import content_of
from completions.choices import LeaseOutcome
from completions.dialogues.queries import with_language
from completions.models import Completion


def has_withdrawn(study: Study, identifier: str) -> bool | None:
    """Say whether somebody who is no rater was one; None if no comparison has a slot for them.

    By the evidence of their consent: nothing else is left of a withdrawn person's identifier.
    """
    room = Comparison.objects.filter(
        study=study, purpose=Purpose.MAIN, slots_left__gt=0, held_at=None
    )
    if not identifier:
        return False if room.exists() else None
    evidence = evidence_in(study.slug, PersonKind.RATER, identifier)
    alike = Rater.objects.filter(study=study, external_id__iexact=identifier)
    was_one = ExpressionWrapper(Exists(evidence) & ~Exists(alike), BooleanField())
    found = room.annotate(was_one=was_one).values_list("was_one", flat=True)
    return next(iter(found[:1]), None)


def n_failed_arrivals(study: Study, platform: str, *, now: dt.datetime) -> Coalesce:
    """Return how many visits of the last day had a broken link, as a part of another query."""
    recent = study.failed_arrivals.filter(platform=platform, last_at__gt=now - DAY)
    alone = recent.order_by().values("platform").annotate(all=Sum("n")).values("all")
    return Coalesce(Subquery(alone), 0)


def turned_away(*, now: dt.datetime) -> list[tuple[str, str, int]]:
    """Return the studies with broken links in the last day, by title: slug, title and visits."""
    recent = FailedArrival.objects.filter(last_at__gt=now - DAY).order_by("study__title", "study")
    return list(recent.values_list("study__slug", "study__title").annotate(all=Sum("n")))


def submission_of(
    *, participant_id: str, session_id: str, study: Study
) -> PlatformSubmission | None:
    """Return the submission of Prolific of these names, of whatever study.

    A submission whose link did not name it can only be one of ``study``.
    """
    own = PlatformSubmission.objects.select_related("rater__study").filter(
        rater__platform=Platform.PROLIFIC, rater__external_id=participant_id
    )
    named = own.filter(session_id=session_id).first() if session_id else None
    return named or own.filter(session_id="", rater__study=study).order_by("-number").first()


def messages_to_guess(rater: Rater) -> dict[int, Completion]:
    """Return the judged messages of whose source the rater is asked, by their places from 0.

    Drawn by the study's seed from the pairs that the rater answered before the end, one message
    of a pair; planted pairs and repeats are left out. Each comes with its dialogue's language. One
    whose text was deleted leaves its place empty: a page that is open goes by the places.
    """
    n = content_of(rater.study)["source_guesses"]
    if not n or rater.ended_at is None:
        return {}
    leases = Lease.objects.filter(
        rater=rater,
        outcome=LeaseOutcome.SUBMITTED,
        quality_check=None,
        repeats=None,
        closed_at__lte=rater.ended_at,
    )
    for place in ("first", "second"):
        leases = with_language(leases, f"comparison__{place}__context")
    drawn = {_draw(lease, rater): lease for lease in leases}
    found: dict[int, Completion] = {}
    for point in sorted(drawn):
        completions = drawn[point].comparison.completions
        completion = completions[point % len(completions)]
        found.setdefault(completion.pk, completion)
    numbered = enumerate(list(found.values())[:n])
    return {place: one for place, one in numbered if one.erased_at is None}


def _draw(lease: Lease, rater: Rater) -> int:
    return design.draw(rater.study.seed, "guess", rater.drawn_by, lease.comparison.key)
