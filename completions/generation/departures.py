"""How a model's reply departs from "answer with the message alone": named, never mended.

The reply is kept as it came. A flag tells readers of the record which replies to look at; it
changes neither what is shown nor what counts.
"""

import re

from completions.dialogues import wording

MOST_SENTENCES = 3
_LEAD = r"^\W*(?:(?:sure|certainly|of course|absolutely|okay|ok|great)\b[^\n:]{0,20}?)?"
_DEPARTURES = {
    "preamble": re.compile(
        _LEAD
        + r"(?:here(?:['\u2019]s| is| are)|(?:my|a|the|one|possible|suggested) \w* ?"
        + r"(?:reply|response|message|answer)(?: (?:is|would|could|might))?)\b[^\n]{0,120}?:",
        re.IGNORECASE,
    ),
    "label": re.compile(
        r"^\W*(?:supporter|assistant|counsell?or|listener|therapist|ai|reply|response|message)"
        r"\W{0,3}:",
        re.IGNORECASE,
    ),
    "paragraphs": re.compile(r"\S[ \t]*\n\s*\S"),
    "quotation": re.compile(r"^\s*(?:\"[^\"]+\"|\u201c[^\u201c\u201d]+\u201d)\s*$"),
    "thoughts": re.compile(r"<(?:think|thinking|reasoning)>", re.IGNORECASE),
    "refusal": re.compile(
        r"^\W*(?:(?:i['\u2019]m |i am )?sorry,? (?:but )?|unfortunately,? )?"
        r"(?:as an ai\b|i (?:can['\u2019]t|cannot|am unable to|won['\u2019]t)"
        r" (?:help (?:you )?with|assist|fulfil|comply|continue with|respond to|provide))",
        re.IGNORECASE,
    ),
}
FLAGS = (*_DEPARTURES, "sentences")


def flags_of(text: str) -> list[str]:
    """Return what is unusual about the form of a reply, in the order of ``FLAGS``."""
    found = [name for name, form in _DEPARTURES.items() if form.search(text)]
    if wording.count_sentences(text) > MOST_SENTENCES:
        found.append("sentences")
    return found
