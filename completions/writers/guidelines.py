"""What writers are told: invitation, consent, guidelines and help lines; pure, with a version.

Raise ``VERSION`` with every change of what a writer agrees to: consents are stored with it and
with the hash of ``consent_text()``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

VERSION = "4"


@dataclass(frozen=True)
class HelpLine:
    """A service that listens."""

    place: str
    name: str = ""
    contact: str = ""
    url: str = ""
    countries: Sequence[str] = ()


TITLE = "Write for someone who needs support"
INVITATION = (
    "You are invited to write short supportive replies. They show how people support each "
    "other, and what computers write is compared with them."
)
FACTS = {
    "What you do": (
        "You read a conversation between someone who needs support and someone who gives it, and "
        "write the next reply. We ask once whether you support others by profession, in your life, "
        "or neither. Some studies begin with a few trial conversations."
    ),
    "How long it takes": (
        "About five minutes for a conversation. You decide how many, and when. Your draft is saved."
    ),
    "What happens to your replies": (
        "A reviewer reads each reply without seeing who wrote it, and accepts it, sends it back "
        "with a note, or doesn’t use it. A reviewer can ask who wrote a reply; this is recorded. "
        "Programs look for near copies, phrases typical of software, and anything that could "
        "identify a person, and may ask you to check before you send. Accepted replies are "
        "compared with others by people and software that do not know who wrote them. They may be "
        "published, never with anything about you."
    ),
    "What is stored": (
        "Under a random code: your drafts and every version that you send; how long you typed, "
        "how often and how much you pasted (only a hint for the reviewer); the conversations you "
        "saw, when, and why you skipped any; your experience; decisions with their notes; this "
        "agreement. If you were invited by e-mail, also your address, for mails about your writing "
        "only. A cookie recognises this browser until you sign out."
    ),
    "Pausing, leaving, withdrawing": (
        "You can skip, pause or leave at any time, without giving a reason; this won’t affect you. "
        "If you leave, what you sent stays. If you withdraw, we delete your address and what you "
        "told us about yourself. Your replies stay under the random code, or are deleted and no "
        "longer count: you choose. What has already been published cannot be withdrawn."
    ),
}
"""What to know before agreeing, by its name."""
CONTENT_NOTE = (
    "The conversations are about hard times: loss, fear, loneliness, conflict. In some a person "
    "is angry and rude. Write when you feel up to it; skip any that weighs on you."
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


GUIDE = {
    "title": TITLE,
    "invitation": INVITATION,
    "facts": FACTS,
    "content_note": CONTENT_NOTE,
    "five_lines": FIVE_LINES,
    "help_lines": HELP_LINES,
}
"""All of the above, as a page is given it."""


def host_facts(host: Mapping[str, str] | None) -> dict[str, str]:
    """Return who invites, what it pays, how long it takes and whom to ask, as far as is known.

    ``host`` has the settings of a dataset: ``person``, ``lab``, ``pay``, ``time``, ``contact``.
    """
    given = host or {}
    who = ", ".join(given[name] for name in ("person", "lab") if given.get(name))
    told = {
        "Who invites you": who,
        "Pay": given.get("pay", ""),
        "Time": given.get("time", ""),
        "Questions": given.get("contact", ""),
    }
    return {name: text for name, text in told.items() if text}


def consent_text(host: Mapping[str, str] | None = None) -> str:
    """Return everything that a writer reads before agreeing, as one text."""
    facts = (f"{name}: {text}" for name, text in (host_facts(host) | FACTS).items())
    return "\n\n".join((TITLE, INVITATION, *facts, CONTENT_NOTE))
