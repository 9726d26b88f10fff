"""Whose names a page of results may write."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from django.utils.translation import gettext

from ranking.findings import ALL_JUDGES

TOKEN = re.compile(r"[\w-]+")
WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Name:
    """What a system or a judge is called, and whether it is simulated."""

    text: str
    is_simulated: bool = False


@dataclass(frozen=True)
class Names:
    """Systems and judges by slug, and the pseudonyms of the people who judged.

    ``shows_people`` is for staff: everybody else sees people together, never one by one.
    """

    systems: Mapping[str, Name] = field(default_factory=dict)
    judges: Mapping[str, Name] = field(default_factory=dict)
    people: frozenset[str] = frozenset()
    shows_people: bool = False

    def system(self, slug: str) -> Name:
        """Return the name of a system; one that is gone keeps its slug."""
        return self.systems.get(slug, Name(slug))

    def evaluator(self, code: str) -> Name:
        """Return the name of a judge, or a rater's pseudonym."""
        return self.judges.get(code, Name(gettext(code) if code == ALL_JUDGES else code))

    def of_column(self, key: str) -> Name | None:
        """Return the name of the system or the judge that a column is about, if it is about one."""
        return self.systems.get(key) or self.judges.get(key)

    def is_hidden(self, code: object) -> bool:
        """Say whether this is an evaluator whom the reader does not see alone."""
        is_public = code in self.judges or code == ALL_JUDGES
        return not self.shows_people and not is_public

    def is_hidden_column(self, key: str) -> bool:
        """Say whether a column is about one person whom the reader does not see alone."""
        return not self.shows_people and key in self.people

    def without_people(self, text: str) -> str:
        """Return words in which no pseudonym stands, unless the reader may see them."""
        if self.shows_people or not self.people:
            return text
        return TOKEN.sub(lambda found: self._said(found[0]), text)

    def _said(self, token: str) -> str:
        if token in self.people:
            return gettext("one person")
        return WORD.sub(lambda f: gettext("one person") if f[0] in self.people else f[0], token)
