"""Numbers that belong to one person: a pattern proposes, a library's check digits decide."""

import re
from collections.abc import Callable, Iterator

import phonenumbers
from phonenumbers import PhoneNumberType
from stdnum import iban, luhn
from stdnum.in_ import aadhaar
from stdnum.us import ssn

from completions.contexts.screening.reading import Span

REGIONS = ("US", "GB", "IN", "PH", "NG", "AU")
"""Where a number without a country code may be from; those with one are found from anywhere."""
PUBLIC_LINES = (
    PhoneNumberType.TOLL_FREE,
    PhoneNumberType.SHARED_COST,
    PhoneNumberType.PREMIUM_RATE,
    PhoneNumberType.UAN,
)
"""Lines of organisations; most that are told in such dialogues are help lines."""
FEWEST_DIGITS = 7
_CARD = re.compile(r"(?<![\d-])[3-6](?:[ -]?\d){12,18}(?![\d-])")
_IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z\d]{4}){2,7}(?: ?[A-Z\d]{1,3})?\b", re.IGNORECASE)
_SSN = re.compile(r"(?<![\d-])\d{3}[ -]\d{2}[ -]\d{4}(?![\d-])")
_AADHAAR = re.compile(r"(?<![\d-])\d{4}[ -]\d{4}[ -]\d{4}(?![\d-])")


def telephones(text: str) -> Iterator[Span]:
    """Yield telephone numbers, except toll-free and other public lines."""
    if sum(map(str.isdigit, text)) < FEWEST_DIGITS:
        return
    found = set[Span]()
    for region in REGIONS:
        for match in phonenumbers.PhoneNumberMatcher(text, region):
            if phonenumbers.number_type(match.number) not in PUBLIC_LINES:
                found.add(Span(match.start, match.end))
    yield from sorted(found)


def cards(text: str) -> Iterator[Span]:
    """Yield numbers of payment cards, also with their date behind them."""
    yield from _valid(_CARD, text, lambda number: luhn.is_valid(re.sub("[ -]", "", number)))


def bank_accounts(text: str) -> Iterator[Span]:
    """Yield international bank account numbers, whatever word is behind them."""
    yield from _valid(_IBAN, text, iban.is_valid)


def identity_numbers(text: str) -> Iterator[Span]:
    """Yield national identity numbers: US social security, Indian Aadhaar."""
    for pattern, is_valid in ((_SSN, ssn.is_valid), (_AADHAAR, aadhaar.is_valid)):
        for match in pattern.finditer(text):
            if is_valid(match.group().replace(" ", "-" if pattern is _SSN else "")):
                yield Span(*match.span())


def _valid(pattern: re.Pattern[str], text: str, is_valid: Callable[[str], bool]) -> Iterator[Span]:
    """Yield what is valid of each match: what stands behind a space may be no part of it."""
    for match in pattern.finditer(text):
        number = match.group()
        while pattern.fullmatch(number):
            if is_valid(number):
                yield Span(match.start(), match.start() + len(number))
                break
            number = number.rpartition(" ")[0]
