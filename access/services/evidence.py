"""Keep evidence of consent apart from the person's data."""

import datetime as dt
from dataclasses import dataclass

from django.conf import settings

from access.choices import PersonKind
from access.evidence import person_hash
from access.models import ConsentEvidence


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
