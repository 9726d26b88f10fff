"""Personal data: what could identify or reach a real person, found without a network.

A detector finds one kind. A first name alone of a third person, an age, a city, a state, a
country, and the number of a help line are no personal data here.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from completions.screening.personal import names, numbers, places, reach
from completions.screening.reading import Reading, Span


@dataclass(frozen=True)
class Detector:
    """One kind of personal data, and how it is found in a text."""

    name: str
    find: Callable[[str], Iterable[Span]]


DETECTORS: tuple[Detector, ...] = (
    Detector("mail", reach.mails),
    Detector("link", reach.links),
    Detector("handle", reach.handles),
    Detector("account", reach.accounts),
    Detector("internet address", reach.internet_addresses),
    Detector("telephone", numbers.telephones),
    Detector("card", numbers.cards),
    Detector("bank account", numbers.bank_accounts),
    Detector("identity number", numbers.identity_numbers),
    Detector("introduction", names.introductions),
    Detector("full name", names.full_names),
    Detector("street address", places.street_addresses),
    Detector("employer or school", places.institutions),
)


def find(reading: Reading) -> Sequence[Span]:
    """Return where personal data stands; a span inside another is left out."""
    found = {span for detector in DETECTORS for span in detector.find(reading.text)}
    return sorted(one for one in found if not any(_is_inside(one, other) for other in found))


def _is_inside(one: Span, other: Span) -> bool:
    return one != other and other.start <= one.start and one.end <= other.end
