"""Pure: the keyed hash by which evidence of consent knows a person."""

import datetime as dt
import hashlib
import hmac
from dataclasses import dataclass

from django.conf import settings

from access.choices import PersonKind
from access.models import ConsentEvidence


def person_hash(key: str, *, kind: str, scope: str, identifier: str) -> str:
    """Return the HMAC-SHA256 of a person in one study or dataset, in hexadecimal.

    The same person has another hash in each scope, so that rows of two cannot be brought
    together; without the key no guess at an identifier can be tried. Space around the identifier
    and its case make no difference.

    Raises
    ------
    ValueError
        If the identifier is empty.
    """
    plain = identifier.strip().casefold()
    if not plain:
        msg = "nobody is known by an empty identifier"
        raise ValueError(msg)
    text = f"heart-consent-1\x1f{kind}\x1f{scope}\x1f{plain}"
    return hmac.new(key.encode(), text.encode(), hashlib.sha256).hexdigest()


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
