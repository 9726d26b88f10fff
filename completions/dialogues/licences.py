"""Which licences let texts and judgments be handed on: exports and releases ask here alone."""

import re

# Contexts are parts of dialogues: a licence that forbids derivatives forbids them.
SHAREABLE = (
    r"cc0",
    r"cc ?by( (sa|nc|nc sa))?",
    r"creative commons( zero| attribution)( (share ?alike|non ?commercial))*",
    r"public domain",
    r"(the )?unlicense",
    r"mit",
    r"apache( license)?",
    r"bsd( [23] clause)?",
    r"odc by|odbl|pddl|cdla( permissive| sharing)?",
)
_NUMBER = re.compile(r"\b(version )?v?\d+(\.\d+)*\b(?! clause)")
_BETWEEN_WORDS = re.compile(r"(?:[^\w.]|_)+")
KNOWN = re.compile("|".join(f"({one})" for one in SHAREABLE))


def may_share(licence: str) -> bool:
    """Say whether a licence is known to let text be handed on, in parts, to anybody.

    What is not known is not handed on: an empty name, a name of one's own, an agreement, a known
    licence with a condition added, and any licence that forbids derivatives.
    """
    words = _BETWEEN_WORDS.sub(" ", licence.casefold()).strip()
    plain = " ".join(_NUMBER.sub(" ", words).split())
    plain = plain.removesuffix(" licence").removesuffix(" license")
    for ending in (" international", " generic", " unported", " universal", " only", " or later"):
        plain = plain.removesuffix(ending)
    return KNOWN.fullmatch(plain) is not None


def allows_texts(licence: str, *, is_authored: bool) -> bool:
    """Say whether a dataset's texts may be handed on: those written for this product always."""
    return is_authored or may_share(licence)
