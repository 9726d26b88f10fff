"""Keep evidence of consent under a keyed hash of the person, and look it up by that."""

import datetime as dt
from dataclasses import dataclass

from django.conf import settings

from access.choices import PersonKind
from access.evidence.rules import person_hash
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


@dataclass(frozen=True)
class Agreed:
    """Who agreed where: ``identifier`` is the platform's id, an address, or else the pseudonym."""

    kind: PersonKind
    scope: str
    identifier: str


def keep_evidence(who: Agreed, *, version: str, text_hash: str, now: dt.datetime) -> None:
    """Store that somebody agreed to a text; call it in the transaction that stores the consent.

    The same person and text again, also after a withdrawal, change nothing.
    """
    person = person_hash(
        settings.HEART_EVIDENCE_KEY, kind=who.kind, scope=who.scope, identifier=who.identifier
    )
    row = ConsentEvidence(
        kind=who.kind,
        scope=who.scope,
        person=person,
        version=version,
        text_hash=text_hash,
        given_on=now.date(),
    )
    ConsentEvidence.objects.bulk_create([row], ignore_conflicts=True)
