"""Look up whether somebody consented."""

import datetime as dt
from dataclasses import dataclass

from django.conf import settings

from access.choices import PersonKind
from access.evidence import person_hash
from access.models import ConsentEvidence


@dataclass(frozen=True)
class EvidenceLine:
    """That somebody agreed to a text, as what, where, and on which day."""

    kind_label: str
    scope: str
    version: str
    text_hash: str
    given_on: dt.date


def evidence_of(identifier: str) -> list[EvidenceLine]:
    """Return what the person with an identifier agreed to, anywhere, in two queries."""
    if not identifier.strip():
        return []
    scopes = ConsentEvidence.objects.order_by().values_list("kind", "scope").distinct()
    key = settings.HEART_EVIDENCE_KEY
    people = [
        person_hash(key, kind=kind, scope=scope, identifier=identifier) for kind, scope in scopes
    ]
    rows = ConsentEvidence.objects.filter(person__in=people).order_by("-given_on", "scope")
    return [
        EvidenceLine(
            str(PersonKind(row.kind).label), row.scope, row.version, row.text_hash, row.given_on
        )
        for row in rows
    ]
