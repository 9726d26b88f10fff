"""What writers are told: invitation, consent, guidelines and help lines; pure, with a version.

Raise ``VERSION`` with every change of what a writer agrees to: consents are stored with it and
with the hash of ``consent_text()``.
"""

from collections.abc import Sequence
from dataclasses import dataclass

VERSION = "1"


@dataclass(frozen=True)
class Fact:
    """One thing to know before agreeing."""

    name: str
    text: str


@dataclass(frozen=True)
class HelpLine:
    """A service that listens."""

    place: str
    name: str = ""
    contact: str = ""
    url: str = ""
    countries: Sequence[str] = ()


TITLE = "Write for somebody who needs support"
INVITATION = (
    "You are invited to write short supportive messages. They show how people support each "
    "other, so that what computers write can be compared with it."
)
FACTS = (
    Fact(
        "What you do",
        "You read a talk between somebody who needs support and somebody who gives it, and write "
        "the message that you would send next.",
    ),
    Fact(
        "How long it takes",
        "About five minutes for a talk. You decide how many you write, and when. Your draft is "
        "kept, so you can stop in the middle.",
    ),
    Fact(
        "What happens with it",
        "Other people, and computer programs, compare your message with others for the same talk "
        "without knowing who or what wrote them. The messages may be published with the results, "
        "never with anything about you.",
    ),
    Fact(
        "What is kept",
        "Your drafts and messages, the talks you were shown and when, the reason if you skip one, "
        "and this agreement, under a random code. If you were invited by e-mail, also your "
        "address, which is used for the invitation alone. A cookie lets this browser know you.",
    ),
    Fact(
        "Leaving",
        "You may skip a talk or stop whenever you like, without a reason and without any "
        "drawback. To have your messages deleted, answer whoever sent you this link; what was "
        "published by then cannot be called back.",
    ),
)
CONTENT_NOTE = (
    "The talks are about hard times: loss, fear, loneliness, conflict. In some of them a person "
    "is angry and rude. Write when you feel up to it, and skip what weighs on you."
)
FIVE_LINES = (
    "Write as you would speak to this one person: warm, plain, natural.",
    "Keep it short: one to three sentences, about 40 words.",
    "Answer what was just said, and how it feels, before you suggest anything.",
    "Stay a supporter: no diagnosis, no treatment, no promises.",
    "Use your own words: no AI, nothing copied, no names of real people.",
)
HELP_LINES = (
    HelpLine("Anywhere", "Find A Helpline", "a directory by country", "https://findahelpline.com/"),
    HelpLine("In immediate danger", "call the emergency number where you are"),
    HelpLine("Australia", "Lifeline", "13 11 14"),
    HelpLine("Germany", "TelefonSeelsorge", "0800 111 0 111"),
    HelpLine("United Kingdom and Ireland", "Samaritans", "116 123"),
    HelpLine("United States and Canada", "988 Lifeline", "call or text 988"),
)


@dataclass(frozen=True)
class Guide:
    """All of the above, as a page is given it."""

    title: str = TITLE
    invitation: str = INVITATION
    facts: tuple[Fact, ...] = FACTS
    content_note: str = CONTENT_NOTE
    five_lines: tuple[str, ...] = FIVE_LINES
    help_lines: tuple[HelpLine, ...] = HELP_LINES


GUIDE = Guide()


def consent_text() -> str:
    """Return everything that a writer reads before agreeing, as one text."""
    facts = (f"{fact.name}: {fact.text}" for fact in FACTS)
    return "\n\n".join((TITLE, INVITATION, *facts, CONTENT_NOTE))
