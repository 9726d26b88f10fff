"""Where a person can be reached or looked up: mail, links, handles, accounts, IP addresses."""

import ipaddress
import re
from collections.abc import Iterator

from completions.contexts.screening.reading import Span

_MAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}")
_PROVIDERS = "gmail|yahoo|ymail|hotmail|outlook|icloud|aol|proton|protonmail|gmx|live|msn"
_SPELLED_DOT = r"(?:\s?[(\[]dot[)\]]\s?|\sdot\s)"
# The word "at" alone is common: a known provider or a spelled dot must follow it.
_SPELLED_MAIL = re.compile(
    rf"\b[\w.+-]{{2,64}}(?:\s?[(\[]at[)\]]\s?[\w-]{{2,63}}(?:{_SPELLED_DOT}|\.)"
    rf"|\sat\s(?:(?:{_PROVIDERS})(?:{_SPELLED_DOT}|\.)|[\w-]{{2,63}}{_SPELLED_DOT}))"
    r"(?:com|net|org|edu|info|io|co|de|uk|in|ph)\b",
    re.IGNORECASE,
)
_LINK = re.compile(
    r"(?:https?://|www\.)\S{3,}|\b[\w-]{1,63}(?:\.[\w-]{1,63}){0,3}\.[a-z]{2,6}/[\w@%~.?=&/-]+",
    re.IGNORECASE,
)
_HOST = re.compile(r"(?:https?://)?(?:www\.)?(?P<host>[\w.-]+)(?P<page>\S*)", re.IGNORECASE)
PUBLIC_ENDINGS = (".gov", ".org", ".int", ".edu", ".ac.uk", ".nhs.uk", ".gov.uk")
"""Hosts of public bodies: a page of theirs is no personal data."""
PUBLIC_HOSTS = frozenset(
    {
        *("amazon.com", "bbc.co.uk", "bbc.com", "betterhelp.com", "cnn.com", "coursera.org"),
        *("ebay.com", "forbes.com", "glassdoor.com", "google.com", "goodreads.com", "indeed.com"),
        *("healthline.com", "imdb.com", "medicalnewstoday.com", "nytimes.com", "quora.com"),
        *("psychologytoday.com", "talkspace.com", "ted.com", "udemy.com", "verywellmind.com"),
        *("webmd.com", "wikihow.com", "yelp.com"),
    }
)
"""Well-known hosts of articles, shops and services, likewise; not of profiles."""
_HANDLE = re.compile(r"(?<![\w@.])@[A-Za-z_][\w.]{2,29}")
NO_HANDLES = frozenset({"@home", "@work", "@all", "@everyone", "@here", "@night", "@school"})
_SERVICES = (
    "instagram|insta|ig|snapchat|snap|twitter|tik ?tok|facebook|fb|discord|telegram|skype|"
    "whats ?app|venmo|cash ?app|kik|reddit|twitch|steam|linkedin|gamer ?tag|user ?name|handle|tag"
)
_ACCOUNT = re.compile(
    rf"\b(?:{_SERVICES})(?: (?:name|account|id|handle|user ?name|user|tag))?(?: is|:| =|'s| -) ?"
    rf"(?P<name>[\w.-]{{3,40}})",
    re.IGNORECASE,
)
_FOLLOW = re.compile(
    rf"\b(?:add|find|follow|message|dm|text|reach) me (?:on|at|via) (?:my )?(?:{_SERVICES})"
    rf"(?::| as| at| under| with| -|,)? ?(?P<name>[\w.-]{{3,40}})",
    re.IGNORECASE,
)
_LOOKS_CHOSEN = re.compile(r"[\d_]|\w\.\w|[a-z][A-Z]")
_FOUR_NUMBERS = re.compile(r"(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.]*\d)")
_GROUPS = re.compile(r"(?<![\w:])[0-9A-Fa-f:]{2,39}(?![\w:])")


def mails(text: str) -> Iterator[Span]:
    """Yield mail addresses, also spelled out ("at", "dot")."""
    if "@" in text:
        yield from (Span(*match.span()) for match in _MAIL.finditer(text))
    lower = text.lower()
    if "at " in lower or "at)" in lower or "at]" in lower:
        yield from (Span(*match.span()) for match in _SPELLED_MAIL.finditer(text))


def links(text: str) -> Iterator[Span]:
    """Yield links to a page, unless it is a public body's or a well-known publisher's.

    The bare name of a site ("look at example.com") is no link.
    """
    if "/" not in text and "www." not in text.lower():
        return
    for match in _LINK.finditer(text):
        if not _is_public(match.group()):
            yield Span(*match.span())


def handles(text: str) -> Iterator[Span]:
    """Yield handles that begin with @."""
    if "@" not in text:
        return
    for match in _HANDLE.finditer(text):
        if match.group().lower().rstrip(".") not in NO_HANDLES:
            yield Span(*match.span())


def accounts(text: str) -> Iterator[Span]:
    """Yield names of accounts that are told ("my insta is kite_flyer_22").

    The name has to look chosen (a digit, an underscore, an inner dot or capital): "my
    Facebook is private" tells no name.
    """
    for pattern in (_ACCOUNT, _FOLLOW):
        for match in pattern.finditer(text):
            if _LOOKS_CHOSEN.search(match["name"]):
                yield Span(*match.span())


def internet_addresses(text: str) -> Iterator[Span]:
    """Yield IP addresses of both versions."""
    if "." in text:
        yield from _valid(_FOUR_NUMBERS, text)
    if text.count(":") > 1:
        yield from _valid(_GROUPS, text)


def _valid(pattern: re.Pattern[str], text: str) -> Iterator[Span]:
    for match in pattern.finditer(text):
        try:
            address = ipaddress.ip_address(match.group())
        except ValueError:
            continue
        if not (address.is_loopback or address.is_unspecified):
            yield Span(*match.span())


def _is_public(link: str) -> bool:
    parts = _HOST.match(link)
    if parts is None:
        return False
    host, page = parts["host"].lower().rstrip("."), parts["page"].strip("/.,!?)")
    is_known = f".{host}".endswith(PUBLIC_ENDINGS) or ".".join(host.split(".")[-2:]) in PUBLIC_HOSTS
    return is_known or host in PUBLIC_HOSTS or not page
