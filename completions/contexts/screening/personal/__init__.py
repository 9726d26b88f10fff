"""Personal data: what could identify or reach a real person, found without a network.

A detector finds one kind. A first name alone of a third person, an age, a city, a state, a
country, and the number of a help line are no personal data here.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from access.later import call_of
from completions.contexts.screening.personal import names, places, reach
from completions.contexts.screening.reading import ReadText, Span


@dataclass(frozen=True)
class Detector:
    """One kind of personal data, and how it is found in a text."""

    name: str
    find: Callable[[str], Iterable[Span]]


def _of_numbers(name: str) -> Callable[[str], Iterable[Span]]:
    """Return a detector whose libraries are loaded when it is first used; pages only name it."""
    return call_of(f"{__name__}.numbers.{name}")


DETECTORS: tuple[Detector, ...] = (
    Detector("mail", reach.mails),
    Detector("link", reach.links),
    Detector("handle", reach.handles),
    Detector("account", reach.accounts),
    Detector("internet address", reach.internet_addresses),
    Detector("telephone", _of_numbers("telephones")),
    Detector("card", _of_numbers("cards")),
    Detector("bank account", _of_numbers("bank_accounts")),
    Detector("identity number", _of_numbers("identity_numbers")),
    Detector("introduction", names.introductions),
    Detector("full name", names.full_names),
    Detector("street address", places.street_addresses),
    Detector("employer or school", places.institutions),
)


def find(reading: ReadText) -> Sequence[Span]:
    """Return where personal data stands; a span inside another is left out."""
    found = {span for detector in DETECTORS for span in detector.find(reading.text)}
    return sorted(one for one in found if not any(_is_inside(one, other) for other in found))


def _is_inside(one: Span, other: Span) -> bool:
    return one != other and other.start <= one.start and one.end <= other.end
