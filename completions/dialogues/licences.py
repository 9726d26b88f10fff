"""Which licences let texts of a dataset be passed on; what is not known to allow it does not."""

import re

PASSING_ON = (
    "cc0",
    "cc by",
    "public domain",
    "pddl",
    "odc by",
    "odbl",
    "cdla permissive",
    "mit",
    "apache",
    "bsd",
)
FORBIDDING = ("nd",)  # no derivatives: a dialogue cut into contexts is one


def allows_texts(licence: str, *, is_authored: bool) -> bool:
    """Say whether a dataset's texts may be passed on, by the licence it was imported under.

    Written for this product, they may. Of a licence that says "no derivatives", that is not
    among those known to allow it, or that nobody named, they may not.
    """
    if is_authored:
        return True
    words = " ".join(re.findall(r"[a-z0-9.]+", licence.lower()))
    named = any(re.match(rf"{one}\b", words) for one in PASSING_ON)
    return named and not set(words.split()) & set(FORBIDDING)
