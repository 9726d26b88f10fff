"""What in a completion gives its source away before a pair is even judged: pure.

Each rule has a reason and reports the span it matched, so that a person can decide in a second
whether it is a false alarm. Rules hold a completion back; they never drop one. They know English
alone; a completion in another language passes most of them.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from completions.dialogues import wording

VERSION = "leaks-2"

EMPTY = "empty"
SELF_IDENTIFICATION = "self-identification"
MODEL_NAME = "model-name"
REFUSAL = "refusal"
UNFINISHED = "unfinished"
MARKUP = "markup"

EXPLANATIONS: Mapping[str, str] = {
    EMPTY: "There are no words.",
    SELF_IDENTIFICATION: "It says what wrote it: a program, or a person as opposed to one.",
    MODEL_NAME: "It names a language model, or who makes one.",
    REFUSAL: "It declines to answer, as models do.",
    UNFINISHED: "It breaks off: cut at the length limit, or in the middle of a sentence.",
    MARKUP: "It has the form of a chat model's answer: Markdown, labels, tokens, a wrapper.",
}
"""The reasons, in the order in which they are counted and shown."""


@dataclass(frozen=True)
class Leak:
    """A reason, and where the text gives it: ``matched`` starts at ``start``."""

    reason: str
    matched: str
    start: int = 0


_LEFT, _RIGHT = r"(?<![\w-])", r"(?![\w-])"
_I_AM = r"\b(?:i'?m|i am)\s+"
_NOT = r"(?:can(?:no|')?t|can not|won't|will not|(?:'m|am) (?:unable|not able)(?= to)(?: to)?)"
_AI = (
    r"(?:a\.?i\.?(?: (?:language model|assistant|model|system|chatbot|companion|program))?"
    r"|(?:large )?language model|llm|chat ?bot|(?:virtual|digital) assistant)"
)
_PROGRAM = rf"(?:{_AI}|(?:computer |software )?program|(?:ro)?bot|machine)"


# Every pattern costs as much as the text is long, whatever is in it: a run of spaces is looked
# through once, and what starts anew at each sign ends soon (tests/unit/test_patterns.py).
def _words(*patterns: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in patterns)


def _cased(*patterns: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern, re.MULTILINE) for pattern in patterns)


_SELF = _words(
    rf"\bas (?:an?|your) {_AI}{_RIGHT}",
    rf"{_I_AM}(?:just |only |simply |really |here as )*an? {_PROGRAM}{_RIGHT}",
    rf"{_I_AM}not (?:a (?:human|real person|person)\b|an? {_PROGRAM}{_RIGHT})",
    rf"{_I_AM}(?:just |only )?an? (?:real|actual|living) (?:human|person)\b",
    r"\bi (?:do not|don't|can't|cannot) (?:actually |really )?(?:have|experience|feel) "
    r"(?:any )?(?:(?:human |real |personal )?(?:feelings|emotions)\b(?! (?:for|about|towards?)\b)"
    r"|(?:lived|human|personal) experiences\b)",
    r"\bmy (?:training(?: data)?|knowledge cut-?off|programming|system prompt|developers)\b",
    r"\bi was (?:trained|programmed|developed|created|made) (?:by|on|to)\b",
    rf"\b(?:made|trained|developed|created|built|powered) by (?:google|meta|microsoft|amazon|apple"
    rf"|alibaba){_RIGHT}",
)

_NAMES = _words(
    rf"{_LEFT}(?:chat-?gpt|gpt-?[2-9](?:\.\d)?[a-z]*|gpt [3-9]|open-?ai(?:'s)?|anthropic(?:'s)?"
    r"|deep-?mind|deep-?seek|qwen|tongyi|mixtral|mistral ai|moonshot ai|hugging ?face"
    r"|hippocratic ai|chatglm|ernie bot|inflection ai|replika|woebot|wysa|character\.ai|xai's"
    rf"|lm-?sys|open-?assistant){_RIGHT}",
    rf"{_LEFT}(?:claude|gemini|llama|gemma|grok|bard|mistral|nova|kimi|polaris|copilot|phi|palm)"
    r"[ -](?:v?\d+(?:\.\d+)?\b|k2\b|ai\b|pro\b|flash\b|ultra\b|nano\b|opus\b|sonnet\b|haiku\b"
    r"|(?:large|small|medium|instruct|chat)\b)",
    r"\b(?:google|meta|microsoft|github|amazon|anthropic)(?:'s)? "
    r"(?:bard|gemini|gemma|llama|copilot|palm|nova|claude|alexa|assistant)\b",
)
# Also first names, star signs, animals, verbs: told apart by how they are introduced.
_NAMED_SELF = _cased(
    r"\b(?:[Ii]'m|[Ii] am|[Mm]y name is|[Yy]ou can call me|[Tt]his is|[Ii]t's) "
    r"(?:Claude|Gemini|Grok|Llama|LLaMA|Bard|Copilot|Kimi|Polaris|Siri|Alexa|Cortana|Pi)\b"
    r"(?! (?:season|rising|sun|moon))",
    r"\bLLaMA\b|\bPaLM\b|\bBERT\b",
)

_REFUSALS = _words(
    rf"\bi ?{_NOT} (?:assist|comply|fulfil|engage with (?:that|this)|respond to (?:that|this)"
    r"|generate|produce|discuss (?:that|this)|continue (?:this|the) (?:conversation|chat|dialogue)"
    r"|help (?:you )?with (?:that|this)(?: request)?[.,;!]"
    r"|provide (?:that|this)|(?:provide|offer|give)(?: you(?: with)?)? (?:the (?:help|support)"
    r" (?:that )?you need|(?:any )?(?:medical|professional|legal|clinical|therapeutic"
    r"|mental[- ]health|advice)))",
    r"\bi(?:'m| am) (?:really |very |so )?sorry,? (?:but )?i (?:can't|cannot|am unable|'m unable)"
    r" (?:to )?(?:assist|do that|help (?:you )?with|provide|fulfil|comply|continue|engage)",
    r"\bi (?:must|have to|need to) (?:respectfully )?(?:decline|refuse)\b",
    r"\b(?:against|violates?|outside) (?:my|our|the|openai's) "
    r"(?:(?:content|safety|usage) )?(?:guidelines|polic(?:y|ies))\b",
)

_FORMS = _cased(
    r"^\s{0,3}#{1,6}\s+\S.*$",  # heading
    r"^[^\S\n]*[-*+\u2022]\s+\S.*\n\s*[-*+\u2022]\s+\S",  # two bullets
    r"(?:^|\s)1[.)]\s+\S[\s\S]{0,400}?\s2[.)]\s+\S",  # numbered list, on one line too
    r"\*\*[^\s*][^*\n]*\*\*|(?<!\w)__[^\s_][^_\n]*__(?!\w)",  # bold
    r"```|(?<!`)`[^`\n]+`(?!`)",  # code
    r"\[[^\[\]\n]*\]\(https?://(?:[^\[)\s]+\)|[^\[)\s]*\[)",  # link
    r"^[^\S\n]*\|.*\|[^\S\n]*$",  # table
    r"^[^\S\n]*-{3,}[^\S\n]*$",  # rule
    r"<\|[^|>\n]{1,40}\|>|\[/?INST\]|<</?SYS>>|\u258c",  # tokens, and a cursor
    r"</?(?:s|eos|bos|pad|unk|br|p|b|i|em|strong|div|span|think|thinking|answer|response|reply"
    r"|assistant|user|system|supporter|seeker|(?:start|end)_of_turn)\s*/?>",  # tags
    # JSON, or nothing but a note in brackets: from the first line that opens with one
    r"\A(?:(?![^\S\n]*[\[{]).*\n)*([^\S\n]*[\[{][\s\S]*[\]}]\s*)$",
)
_LABELS = _words(
    r"^\s*\W{0,3}(?:supporter|assistant|ai|bot|chatbot|human|user|seeker|system|therapist"
    r"|counsell?or|response|reply|answer|completion|(?:next )?supporter message|final answer)"
    r"\W{0,3}:",
    r"(?:\n|[.!?]\s)(?:supporter|assistant|user|seeker|system|human): ",
    r"^\s*+(?:sure|certainly|of course|absolutely|okay|ok)?\W{0,3}\s*here(?:'s| is| are) "
    r"(?:a|an|my|one|the)\b[^.!?\n]{0,60}\b(?:response|reply|message|answer|completion)\b[^.\n]{0,40}:",
    r"^\s*\"[^\"]{20,}\"\s*$",  # the whole message in quotation marks
)
_SPACED_DOTS = r"(?:\s*+\.){0,3}"
_UNFINISHED = _words(
    r"(?:[,;\[{&+=]|(?<![:;=-])\()\s*$",
    rf"\b(?:a|an|the|and|or|but|because|although|your|my|our|its|whose|if|unless|whereas|i'm|i've"
    rf"|i'll|it's|you're|you've|we're|they're|that's){_SPACED_DOTS}\s*+(?<![.!?])$",
    r"\w-$",
)
_QUOTES = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"'})

_RULES: tuple[tuple[str, tuple[re.Pattern[str], ...]], ...] = (
    (SELF_IDENTIFICATION, _SELF),
    (MODEL_NAME, (*_NAMES, *_NAMED_SELF)),
    (REFUSAL, _REFUSALS),
    (UNFINISHED, _UNFINISHED),
    (MARKUP, (*_FORMS, *_LABELS)),
)


def find_leaks(text: str, *, was_cut: bool = False) -> tuple[Leak, ...]:
    """Return what gives the source of a completion away, by reason and place.

    ``text`` is the completion as it came, with its line breaks where it had some; ``was_cut``
    says that the provider ended it at the limit of tokens. Overlapping spans of one reason are
    told once.
    """
    if not re.search(r"\w", text):
        return (Leak(EMPTY, text.strip()),)
    leaks = list(_found(text.translate(_QUOTES)))
    if was_cut and not any(leak.reason == UNFINISHED for leak in leaks):
        leaks.append(Leak(UNFINISHED, *_last_words(text)))
    order = tuple(EXPLANATIONS)
    return tuple(sorted(leaks, key=lambda leak: (order.index(leak.reason), leak.start)))


def _found(text: str) -> Iterator[Leak]:
    for reason, patterns in _RULES:
        end = 0
        # Where a pattern has a group, that is what is told; before it stands what leads there.
        spans = sorted(match.span(one.groups) for one in patterns for match in one.finditer(text))
        for start, stop in spans:
            if start >= end:
                yield Leak(reason, text[start:stop].strip(), start)
                end = max(stop, end)


def _last_words(text: str) -> tuple[str, int]:
    """Return the last few words and where they start."""
    last = re.search(r"(?:\S+\s+){0,4}\S+\s*$", text)
    return (last.group().strip(), last.start()) if last else (text, 0)


# How a model's reply departs from "answer with the message alone": named, never mended.
#
# The reply is kept as it came. A flag tells readers of the record which replies to look at; it
# changes neither what is shown nor what counts.


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
