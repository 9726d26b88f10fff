"""Threats and ill wishes to whom one talks: what hostility here never comes to.

Screening looks for violence that is told of; a seeker made hostile speaks to the supporter.
"""

import re

_I_WILL = (
    r"i(?:'ll| will| would| could| should|'m going to| am going to|'m gonna|'d love to| want to)"
)
_HARM = (
    r"hurt|hit|punch|kick|slap|smack|beat|choke|strangle|stab|shoot|kill|murder|crush|destroy|"
    r"break|ruin|smash|track|hunt"
)
THREAT = re.compile(
    rf"\b{_I_WILL} (?:\w+ ){{0,3}}(?:{_HARM}) (?:you|your)\b|"
    r"\b(?:find|found) out where you live\b|\bi know where you live\b|"
    r"\b(?:come|coming) (?:after|for) you\b|"
    r"\bmake you (?:pay|suffer|bleed|regret|sorry)\b|"
    r"\byou(?:'ll| will| are going to|'re going to) (?:pay for|regret|suffer|be sorry)\b|"
    r"\bwatch your back\b|\bdrop dead\b|"
    r"\byou (?:should|ought to|deserve to) (?:just )?(?:die|be (?:dead|hurt|beaten|shot))\b|"
    r"\b(?:hope|wish) (?:that )?you (?:die|died|rot|suffer|choke|get (?:cancer|hurt|hit|sick))\b"
)


def threatens(text: str) -> bool:
    """Say whether a text threatens or wishes harm to whom it is said to; English alone."""
    straight = text.lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    return THREAT.search(" ".join(straight.split())) is not None
