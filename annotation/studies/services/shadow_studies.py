"""Shadow studies: simulated copies, in which programs rehearse what people will do (ADR-0033)."""

import datetime as dt
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from access.log import record
from annotation.choices import Purpose, StudyState
from annotation.models import Comparison, QualityCheck, Study
from completions.files.toml import content_hash

BATCH = 1000
LONGEST_SLUG, LONGEST_TITLE = 50, 120
MOST_JUDGMENTS = 1000
COPIED = ("context_id", "first_id", "second_id", "purpose", "key", "position", "weight", "held_at")


class ShadowStudyError(Exception):
    """A study cannot have a shadow study; the message says why."""


@dataclass(frozen=True)
class Rehearsal:
    """How many raters are simulated, from which seed, and how many judge each pair.

    Without a number as many judge each pair as there is work for all of them.
    """

    n_raters: int
    seed: int
    judgments_per_pair: int | None = None

    def slug(self, study: Study) -> str:
        """Return the slug of the shadow study: one for each study, number of raters and seed."""
        name, tail = f"simulated-{study.slug}", f"-{self.n_raters}-{self.seed}"
        if len(name + tail) > LONGEST_SLUG:  # two studies may begin alike
            tail = f"-{hashlib.sha256(study.slug.encode()).hexdigest()[:8]}{tail}"
        return name[: LONGEST_SLUG - len(tail)].rstrip("-") + tail


@transaction.atomic
def make_shadow_study(*, study: Study, rehearsal: Rehearsal, now: dt.datetime) -> Study:
    """Return the shadow study of a study, made and opened at the first call.

    It has the protocol, comparisons and quality checks of the study, and none of its raters,
    judgments or decisions. Unless the rehearsal says how many judge each pair, it asks for as many
    as its raters can give, so that the last of them find work, too.

    Raises
    ------
    ShadowStudyError
        If the study is itself simulated, has no comparisons yet, or its slug is that of a
        real study: simulated raters are never let into one.
    """
    study = Study.objects.select_for_update().get(pk=study.pk)
    if study.is_simulated:
        msg = f'"{study.slug}" is itself simulated: simulate the study that it is a copy of'
        raise ShadowStudyError(msg)
    slug = rehearsal.slug(study)
    shadow = Study.objects.filter(slug=slug).first()
    if shadow is not None and not shadow.is_simulated:
        msg = f'"{slug}" is a real study: simulated raters are never let into one'
        raise ShadowStudyError(msg)
    return shadow if shadow is not None else _make(study, slug, rehearsal, now=now)


def _make(study: Study, slug: str, rehearsal: Rehearsal, *, now: dt.datetime) -> Study:
    comparisons = list(study.comparisons.order_by("pk"))
    n_main = sum(one.purpose == Purpose.MAIN for one in comparisons)
    if not n_main:
        msg = f'"{study.slug}" has no comparisons yet: plan it first'
        raise ShadowStudyError(msg)
    n_each = -(-rehearsal.n_raters * study.session_length // n_main)
    each = rehearsal.judgments_per_pair or max(study.judgments_per_pair, n_each)
    each = min(each, MOST_JUDGMENTS)
    title = f"Simulated raters: {study.title}"[:LONGEST_TITLE]
    changes = {"slug": slug, "name": slug, "version": 1, "title": title, "judgments_per_pair": each}
    shadow = _copy_study(study, changes, now=now)
    _copy_comparisons(comparisons, study=study, shadow=shadow)
    record(
        action="study.rehearsed",
        subject=f"study {slug}",
        now=now,
        after={"copy_of": study.slug, "raters": rehearsal.n_raters, "seed": rehearsal.seed},
    )
    return shadow


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
    """Return its seed: the same at each call, and nobody learns the study's from it.

    A shadow study may be closed, and its seed known, long before its study is.
    """
    return hashlib.sha256(f"{slug}/{study.seed}".encode()).hexdigest()


def _copy_comparisons(comparisons: Iterable[Comparison], *, study: Study, shadow: Study) -> None:
    """Copy the comparisons with every slot free, and the checks that hang on them."""
    copies = {
        one.pk: Comparison(
            study=shadow,
            slots_left=shadow.judgments_per_pair if one.purpose == Purpose.MAIN else 0,
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
