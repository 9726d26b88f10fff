"""Simulated twins of studies: where programs rehearse what people will do (ADR-0033)."""

import datetime as dt
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from access.log import record
from annotation.choices import Purpose, StudyState
from annotation.models import Comparison, QualityCheck, Study
from annotation.studies.protocol import content_hash

BATCH = 1000
LONGEST_SLUG, LONGEST_TITLE = 50, 120
MOST_JUDGMENTS = 1000
COPIED = ("context_id", "first_id", "second_id", "purpose", "key", "position", "weight", "held_at")


class TwinError(Exception):
    """A study cannot have a simulated twin; the message says why."""


@dataclass(frozen=True)
class Rehearsal:
    """How many raters are simulated, from which seed."""

    n_raters: int
    seed: int

    def slug(self, study: Study) -> str:
        """Return the slug of the twin: one for each study, number of raters and seed."""
        tail = f"-{self.n_raters}-{self.seed}"
        return f"simulated-{study.slug}"[: LONGEST_SLUG - len(tail)].rstrip("-") + tail


@transaction.atomic
def make_twin(*, study: Study, rehearsal: Rehearsal, now: dt.datetime) -> Study:
    """Return the simulated twin of a study, made and opened at the first call.

    The twin has the study's protocol, comparisons and quality checks, and none of its raters,
    judgments or decisions. It asks for as many judgments per pair as its raters can give, so that
    the last of them find work, too.

    Raises
    ------
    TwinError
        If the study is itself simulated, has no comparisons yet, or the twin's slug is that of a
        real study: simulated raters are never let into one.
    """
    study = Study.objects.select_for_update().get(pk=study.pk)
    if study.is_simulated:
        msg = f'"{study.slug}" is itself simulated: simulate the study that it is the twin of'
        raise TwinError(msg)
    slug = rehearsal.slug(study)
    twin = Study.objects.filter(slug=slug).first()
    if twin is not None and not twin.is_simulated:
        msg = f'"{slug}" is a real study: simulated raters are never let into one'
        raise TwinError(msg)
    return twin if twin is not None else _make(study, slug, rehearsal, now=now)


def _make(study: Study, slug: str, rehearsal: Rehearsal, *, now: dt.datetime) -> Study:
    comparisons = list(study.comparisons.order_by("pk"))
    n_main = sum(one.purpose == Purpose.MAIN for one in comparisons)
    if not n_main:
        msg = f'"{study.slug}" has no comparisons yet: plan it first'
        raise TwinError(msg)
    wanted = -(-rehearsal.n_raters * study.session_length // n_main)
    each = min(max(study.judgments_per_pair, wanted), MOST_JUDGMENTS)
    title = f"Simulated raters: {study.title}"[:LONGEST_TITLE]
    changes = {"slug": slug, "name": slug, "version": 1, "title": title, "judgments_per_pair": each}
    twin = _copy_study(study, changes, now=now)
    _copy_comparisons(comparisons, study=study, twin=twin)
    record(
        action="study.rehearsed",
        subject=f"study {slug}",
        now=now,
        after={"twin_of": study.slug, "raters": rehearsal.n_raters, "seed": rehearsal.seed},
    )
    return twin


def _copy_study(study: Study, changes: dict[str, Any], *, now: dt.datetime) -> Study:
    seed = _seed(study, changes["slug"])
    content = study.content | changes | {"seed_sha256": hashlib.sha256(seed.encode()).hexdigest()}
    return Study.objects.create(
        **changes,
        dataset=study.dataset,
        protocol=study.protocol,
        plan=study.plan,
        state=StudyState.OPEN,
        is_simulated=True,
        pairs_per_context=study.pairs_per_context,
        session_length=study.session_length,
        lease_minutes=study.lease_minutes,
        min_rationale_length=study.min_rationale_length,
        seed=seed,
        content=content,
        protocol_hash=content_hash(content),
        locked_at=now,
        created_at=now,
    )


def _seed(study: Study, slug: str) -> str:
    """Return the twin's seed: the same at each call, and nobody learns the study's from it.

    A twin may be closed, and its seed known, long before its study is.
    """
    return hashlib.sha256(f"{slug}/{study.seed}".encode()).hexdigest()


def _copy_comparisons(comparisons: Iterable[Comparison], *, study: Study, twin: Study) -> None:
    """Copy the comparisons with every slot free, and the checks that hang on them."""
    copies = {
        one.pk: Comparison(
            study=twin,
            slots_left=twin.judgments_per_pair if one.purpose == Purpose.MAIN else 0,
            **{name: getattr(one, name) for name in COPIED},
        )
        for one in comparisons
    }
    Comparison.objects.bulk_create(copies.values(), batch_size=BATCH)
    QualityCheck.objects.bulk_create(
        QualityCheck(
            comparison=copies[check.comparison_id],
            kind=check.kind,
            expected=check.expected,
            dimension=check.dimension,
            is_active=check.is_active,
        )
        for check in QualityCheck.objects.filter(comparison__study=study).order_by("pk")
    )
