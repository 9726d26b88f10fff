"""That somebody consented, under a keyed hash of the person, kept apart from all else of them."""

import datetime as dt
import hashlib
import hmac

from django.conf import settings
from django.db.models import QuerySet

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


def evidence_of(identifier: str) -> list[ConsentEvidence]:
    """Return what the person with an identifier agreed to, anywhere, in two queries."""
    if not identifier.strip():
        return []
    scopes = ConsentEvidence.objects.order_by().values_list("kind", "scope").distinct()
    key = settings.HEART_EVIDENCE_KEY
    people = [
        person_hash(key, kind=kind, scope=scope, identifier=identifier) for kind, scope in scopes
    ]
    rows = ConsentEvidence.objects.filter(person__in=people).order_by("-given_on", "scope")
    return list(rows)


def evidence_in(scope: str, kind: PersonKind, identifier: str) -> QuerySet[ConsentEvidence]:
    """Return what the person with an identifier agreed to in one study or dataset."""
    key = settings.HEART_EVIDENCE_KEY
    person = person_hash(key, kind=kind, scope=scope, identifier=identifier)
    return ConsentEvidence.objects.filter(person=person)


def keep_evidence(
    kind: PersonKind,
    *,
    scope: str,
    identifier: str,
    version: str,
    text_hash: str,
    now: dt.datetime,
) -> None:
    """Store that somebody agreed to a text; call it in the transaction that stores the consent.

    ``scope`` says where; ``identifier`` is the platform's id, an address, or else the pseudonym.
    The same person and text again, also after a withdrawal, change nothing.
    """
    person = person_hash(settings.HEART_EVIDENCE_KEY, kind=kind, scope=scope, identifier=identifier)
    row = ConsentEvidence(
        kind=kind,
        scope=scope,
        person=person,
        version=version,
        text_hash=text_hash,
        given_on=now.date(),
    )
    ConsentEvidence.objects.bulk_create([row], ignore_conflicts=True)
