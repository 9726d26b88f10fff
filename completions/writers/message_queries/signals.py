"""What about a version of a message a reviewer may want to look at first: hints, never proof."""

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from completions.dialogues import wording
from completions.models import MessageRevision

FLAGGED, COPY, PASTED = "flagged", "copy", "pasted"
SECOND_LOOK, LONG, SHORT = "second-look", "long", "short"
SIGNALS: Mapping[str, str | Promise] = {
    FLAGGED: _("flagged"),
    COPY: _("near copy"),
    PASTED: _("pasted"),
    SECOND_LOOK: _("second look"),
    LONG: _("long"),
    SHORT: _("short"),
}
"""The signals by which the queue is filtered, in the order in which they are shown."""

LONG_WORDS = 60
"""Above so many words a message is called long, to its writer as well."""
SHORT_WORDS = 8


def signals_of(revision: MessageRevision) -> tuple[str, ...]:
    """Return the signals of a version, in their order."""
    n_words = wording.count_words(revision.text)
    found = {
        FLAGGED: any(not is_copy(flag) for flag in revision.flags),
        COPY: any(is_copy(flag) for flag in revision.flags),
        PASTED: revision.pastes > 0,
        SECOND_LOOK: revision.has_looked_again,
        LONG: n_words > LONG_WORDS,
        SHORT: 0 < n_words < SHORT_WORDS,
    }
    return tuple(name for name, is_so in found.items() if is_so)


def is_copy(flag: Mapping[str, object]) -> bool:
    """Say whether a flag is about another text that this one is like."""
    return flag["kind"] == "near-duplicate"
