"""Judgments made elsewhere, as far as they may be passed on; times are those of the claim."""

from collections.abc import Iterator
from typing import Any

from annotation.external.queries import batches_of
from annotation.models import ExternalBatch, ExternalJudgment
from completions.dialogues.licences import may_share
from ranking.released.files import identities
from ranking.released.files.identities import id_of
from ranking.releases.building.contents import Contents

BATCH = 2000
Rows = Iterator[dict[str, Any]]
GIVEN = ("comparison", "rater", "verdict", "marks", "judged_at")


def batches(contents: Contents) -> Rows:
    """Yield every batch with its provenance; one that is left out or kept has no rows."""
    for name, batch, has_rows in _batches(contents):
        yield {
            "id": name,
            "source": batch.source,
            "reference": batch.reference,
            "url": batch.url,
            "licence": batch.licence,
            "recruitment": batch.recruitment,
            "consent": batch.consent,
            "collected_from": batch.collected_from.isoformat(),
            "collected_until": batch.collected_until.isoformat(),
            "is_simulated": batch.is_simulated,
            "is_excluded": vars(batch)["is_out"],
            "n_judgments": vars(batch)["n_judgments"] if has_rows else 0,
            "protocol": contents.study.protocol,
            "day": identities.day(batch.received_at),
        }


def judgments(contents: Contents) -> Rows:
    """Yield the verdicts of the batches that have rows, each with its batch."""
    for name, batch, has_rows in _batches(contents):
        if not has_rows:
            continue
        rows = ExternalJudgment.objects.filter(batch=batch).order_by("pk").values_list(*GIVEN)
        for comparison, rater, verdict, marks, judged_at in rows.iterator(chunk_size=BATCH):
            row = {
                "batch": name,
                "comparison": contents.comparisons[comparison],
                "rater": rater,
                "verdict": verdict,
                "marks": marks,
                "day": None if judged_at is None else identities.day(judged_at),
            }
            yield {"id": id_of(row)} | row


def _batches(contents: Contents) -> Iterator[tuple[str, ExternalBatch, bool]]:
    """Yield the batches that were there when the release was claimed, with their names."""
    found = batches_of(contents.study, as_of=contents.release.claimed_at)
    for number, batch in enumerate(found, start=1):
        has_rows = may_share(batch.licence) and not vars(batch)["is_out"]
        yield f"b{number:04d}", batch, has_rows
