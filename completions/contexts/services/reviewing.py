"""Record what people decide about contexts (ADR-0021)."""

import datetime as dt

from django.contrib.auth.models import User
from django.db import transaction

from access.log import record
from completions.choices import Review
from completions.models import Context


@transaction.atomic
def review_context(
    *,
    context: Context,
    decision: Review | None,
    note: str,
    by: User | None,
    now: dt.datetime,
) -> Context:
    """Store a decision and its note, and log what they were before and are now.

    Without a decision the note alone is changed. What is stored already is not logged again. A
    dropped context stays where it is and can be taken back; only new uses of it stop.
    """
    # no_key, so that completions and comparisons of it are stored meanwhile.
    context = Context.objects.select_for_update(no_key=True).get(pk=context.pk)
    before = _state(context)
    context.review = decision or context.review
    context.review_note = note
    after = _state(context)
    if after == before:
        return context
    context.save(update_fields=["review", "review_note"])
    record(
        action="context.noted" if after["review"] == before["review"] else "context.reviewed",
        subject=f"context {context.key}",
        now=now,
        by=by,
        before=before,
        after=after,
    )
    return context


def _state(context: Context) -> dict[str, str]:
    return {"review": str(context.review), "note": context.review_note}
