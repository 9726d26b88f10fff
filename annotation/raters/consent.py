"""What somebody reads before they agree: the first lines follow from the study's own settings."""

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext, override

from annotation.choices import Platform, Protocol
from annotation.models import Study
from annotation.studies import queries as study_queries


def consent_lines(study: Study, *, platform: str = Platform.GUEST) -> list[str]:
    """Return a line each on the time, the pay, the first pairs, what is stored and leaving.

    ``platform`` is where the visitor came from: it pays where the study itself names no pay.
    """
    content = study_queries.content_of(study)
    return [*_lines(study, content, is_paid_elsewhere=platform != Platform.GUEST)]


def consent_hash(study: Study) -> str:
    """Return the SHA-256 of all that a person reads before agreeing, in the site's own language."""
    content = study_queries.content_of(study)
    with override("en"):
        lines = [*_lines(study, content, is_paid_elsewhere=True)]
    shown = {
        "title": study.title,
        "invitation": content["invitation"],
        "lines": lines,
        "consent": content["consent"],
    }
    return hashlib.sha256(json.dumps(shown, sort_keys=True).encode()).hexdigest()


def _lines(study: Study, content: Mapping[str, Any], *, is_paid_elsewhere: bool) -> Iterator[str]:
    yield _time(study)
    yield _pay(content["crowd"]["pay"], is_paid_elsewhere=is_paid_elsewhere)
    if n_first := content["screening"]["pairs"]:
        yield ngettext(
            "The first one shows whether the task suits you. If not, the study ends there.",
            "The first %(n)s show whether the task suits you. If not, the study ends there.",
            n_first,
        ) % {"n": f"{n_first:,}"}
    yield _("Your answers are stored under a random code, without your name or e-mail.")
    yield _("You can skip, stop or withdraw at any time, without giving a reason.")


def _time(study: Study) -> str:
    n, minutes = study.session_length, session_minutes(study)
    if study.protocol == Protocol.LIKERT:
        line = ngettext(
            "Up to %(n)s reply, about %(minutes)d minutes. You can take breaks.",
            "Up to %(n)s replies, about %(minutes)d minutes. You can take breaks.",
            n,
        )
    else:
        line = ngettext(
            "Up to %(n)s pair, about %(minutes)d minutes. You can take breaks.",
            "Up to %(n)s pairs, about %(minutes)d minutes. You can take breaks.",
            n,
        )
    return line % {"n": f"{n:,}", "minutes": minutes}


def session_minutes(study: Study) -> int:
    """Return how long a session takes at the usual pace, in whole minutes."""
    return math.ceil(study.session_length * study_queries.DEFAULT_SECONDS / 60)


def _pay(pay: str, *, is_paid_elsewhere: bool) -> str:
    if pay:
        return _("Pay: %(pay)s") % {"pay": pay}
    if is_paid_elsewhere:
        return _("Pay: as shown on the platform that sent you.")
    return _("Taking part is unpaid.")
