"""What writers are told: invitation, consent, guidelines and help lines; pure, with a version.

Raise ``VERSION`` with every change of what a writer agrees to: consents are stored with it and
with the hash of ``consent_text()``.
"""

from collections.abc import Sequence
from dataclasses import dataclass

VERSION = "2"


@dataclass(frozen=True)
class ConsentFact:
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
    ConsentFact(
        "What you do",
        "You read a talk between somebody who needs support and somebody who gives it, and write "
        "the message that you would send next. You say once which of three groups you belong to: "
        "people who support others by profession, people who do so in their life, or neither. "
        "Where it is asked for, you begin with a few talks on trial, so that both sides can see "
        "whether it fits.",
    ),
    ConsentFact(
        "How long it takes",
        "About five minutes for a talk. You decide how many you write, and when. Your draft is "
        "kept, so you can stop in the middle.",
    ),
    ConsentFact(
        "What happens with it",
        "Somebody who runs the study reads each message without seeing whose it is, and accepts "
        "it, sends it back to you with a note, or does not use it. Programs look for near copies "
        "(of your own earlier messages, of others for the same talk, and of what was really "
        "answered), for phrases typical of computer programs, and for what would give a real "
        "person away, and ask you to look at some of it before you send. The reader may ask who "
        "wrote a message, and that is recorded. Accepted messages are then compared "
        "with others for the same talk, by people and by computer programs that do not know who "
        "or what wrote them. They may be published with the results, never with anything about "
        "you.",
    ),
    ConsentFact(
        "What is kept",
        "Your drafts, and each version of a message that you send; how long you typed, and how "
        "often and how much you pasted, which the reader sees as a hint and which decides nothing "
        "by itself; the talks you were shown and when; the reason if you skip one; your group; "
        "what was decided, with the notes; and this agreement: all under a random code. If you "
        "were invited by e-mail, also your address, for mails about your writing alone. A cookie "
        "lets this browser know you, until you sign out.",
    ),
    ConsentFact(
        "Pausing, leaving, withdrawing",
        "You may skip a talk, take a pause or leave whenever you like, without a reason and "
        "without any drawback. If you leave, what you sent stays. If you withdraw, your address "
        "and your group are deleted, and you choose what becomes of your messages: they stay "
        "under the random code, or they are deleted and counted no more. What was published by "
        "then cannot be called back.",
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
    facts: tuple[ConsentFact, ...] = FACTS
    content_note: str = CONTENT_NOTE
    five_lines: tuple[str, ...] = FIVE_LINES
    help_lines: tuple[HelpLine, ...] = HELP_LINES


GUIDE = Guide()


def consent_text() -> str:
    """Return everything that a writer reads before agreeing, as one text."""
    facts = (f"{fact.name}: {fact.text}" for fact in FACTS)
    return "\n\n".join((TITLE, INVITATION, *facts, CONTENT_NOTE))
