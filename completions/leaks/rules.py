"""What in a completion gives its source away before a pair is even judged: pure.

Each rule has a reason and reports the span it matched, so that a person can decide in a second
whether it is a false alarm. Rules hold a completion back; they never drop one. They know English
alone; a completion in another language passes most of them.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from completions.dialogues.normaliser import plain, typed

VERSION = "leaks-3"

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
    """A reason, and where the text gives it: ``matched`` starts at ``start``.

    What only the text in plain dress says has no place; ``start`` is 0 then.
    """

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
_PROGRAMS = (" ai", " a.i", "model", "llm", "bot", "assistant", "program", "machine")


class _Form(NamedTuple):
    """A pattern, and the signs of which every text that it matches has one, in small letters.

    Signs are looked for first: that costs little, and most texts have none.
    """

    signs: tuple[str, ...]
    pattern: re.Pattern[str]


# Every pattern costs as much as the text is long, whatever is in it: a run of spaces is looked
# through once, and what starts anew at each sign ends soon (tests/heart_site/test_patterns.py).
def _word(*signs_and_pattern: str) -> _Form:
    *signs, pattern = signs_and_pattern
    return _Form(tuple(signs), re.compile(pattern, re.IGNORECASE))


def _cased(*signs_and_pattern: str) -> _Form:
    *signs, pattern = signs_and_pattern
    return _Form(tuple(signs), re.compile(pattern, re.MULTILINE))


_SELF = (
    _word("as a", "as your", rf"\bas (?:an?|your) {_AI}{_RIGHT}"),
    _word(
        *_PROGRAMS,
        rf"{_I_AM}(?:just |only |simply |really |here as )*an? {_PROGRAM}{_RIGHT}",
    ),
    _word("not a", rf"{_I_AM}not (?:a (?:human|real person|person)\b|an? {_PROGRAM}{_RIGHT})"),
    _word(
        *("human", "person"),
        rf"{_I_AM}(?:just |only )?an? (?:real|actual|living) (?:human|person)\b",
    ),
    _word(
        *("feelings", "emotions", "experiences"),
        r"\bi (?:do not|don't|can't|cannot) (?:actually |really )?(?:have|experience|feel) "
        r"(?:any )?"
        r"(?:(?:human |real |personal )?(?:feelings|emotions)\b(?! (?:for|about|towards?)\b)"
        r"|(?:lived|human|personal) experiences\b)",
    ),
    _word(
        *("my training", "my knowledge", "my programming", "my system", "my developers"),
        r"\bmy (?:training(?: data)?|knowledge cut-?off|programming|system prompt|developers)\b",
    ),
    _word("i was", r"\bi was (?:trained|programmed|developed|created|made) (?:by|on|to)\b"),
    _word(
        *("by google", "by meta", "by microsoft", "by amazon", "by apple", "by alibaba"),
        rf"\b(?:made|trained|developed|created|built|powered) by (?:google|meta|microsoft|amazon"
        rf"|apple|alibaba){_RIGHT}",
    ),
)

_NAMES = (
    _word(
        *("gpt", "open", "anthropic", "deep", "qwen", "tongyi", "mixtral", "mistral", "moonshot"),
        *("hugging", "hippocratic", "chatglm", "ernie", "inflection", "replika", "woebot", "wysa"),
        *("character.ai", "xai's", "sys"),
        rf"{_LEFT}(?:chat-?gpt|gpt-?[2-9](?:\.\d)?[a-z]*|gpt [3-9]|open-?ai(?:'s)?|anthropic(?:'s)?"
        r"|deep-?mind|deep-?seek|qwen|tongyi|mixtral|mistral ai|moonshot ai|hugging ?face"
        r"|hippocratic ai|chatglm|ernie bot|inflection ai|replika|woebot|wysa|character\.ai|xai's"
        rf"|lm-?sys|open-?assistant){_RIGHT}",
    ),
    _word(
        *("claude", "gemini", "llama", "gemma", "grok", "bard", "mistral", "nova", "kimi"),
        *("polaris", "copilot", "phi", "palm"),
        rf"{_LEFT}(?:claude|gemini|llama|gemma|grok|bard|mistral|nova|kimi|polaris|copilot|phi"
        r"|palm)[ -](?:v?\d+(?:\.\d+)?\b|k2\b|ai\b|pro\b|flash\b|ultra\b|nano\b|opus\b|sonnet\b"
        r"|haiku\b|(?:large|small|medium|instruct|chat)\b)",
    ),
    _word(
        *("google", "meta", "microsoft", "github", "amazon", "anthropic"),
        r"\b(?:google|meta|microsoft|github|amazon|anthropic)(?:'s)? "
        r"(?:bard|gemini|gemma|llama|copilot|palm|nova|claude|alexa|assistant)\b",
    ),
)
# Also first names, star signs, animals, verbs: told apart by how they are introduced.
_NAMED_SELF = (
    _cased(
        *("claude", "gemini", "grok", "llama", "bard", "copilot", "kimi", "polaris", "siri"),
        *("alexa", "cortana", " pi"),
        r"\b(?:[Ii]'m|[Ii] am|[Mm]y name is|[Yy]ou can call me|[Tt]his is|[Ii]t's) "
        r"(?:Claude|Gemini|Grok|Llama|LLaMA|Bard|Copilot|Kimi|Polaris|Siri|Alexa|Cortana|Pi)\b"
        r"(?! (?:season|rising|sun|moon))",
    ),
    _cased("llama", "palm", "bert", r"\bLLaMA\b|\bPaLM\b|\bBERT\b"),
)

_REFUSALS = (
    _word(
        *("cannot", "can't", "cant", "can not", "won't", "will not", "unable", "not able"),
        rf"\bi ?{_NOT} (?:assist|comply|fulfil|engage with (?:that|this)|respond to (?:that|this)"
        r"|generate|produce|discuss (?:that|this)|continue (?:this|the) (?:conversation|chat"
        r"|dialogue)|help (?:you )?with (?:that|this)(?: request)?[.,;!]"
        r"|provide (?:that|this)|(?:provide|offer|give)(?: you(?: with)?)? (?:the (?:help|support)"
        r" (?:that )?you need|(?:any )?(?:medical|professional|legal|clinical|therapeutic"
        r"|mental[- ]health|advice)))",
    ),
    _word(
        "sorry",
        r"\bi(?:'m| am) (?:really |very |so )?sorry,? (?:but )?i (?:can't|cannot|am unable"
        r"|'m unable) (?:to )?(?:assist|do that|help (?:you )?with|provide|fulfil|comply|continue"
        r"|engage)",
    ),
    _word(
        *("decline", "refuse"),
        r"\bi (?:must|have to|need to) (?:respectfully )?(?:decline|refuse)\b",
    ),
    _word(
        *("guidelines", "policy", "policies"),
        r"\b(?:against|violates?|outside) (?:my|our|the|openai's) "
        r"(?:(?:content|safety|usage) )?(?:guidelines|polic(?:y|ies))\b",
    ),
)

_FORMS = (
    _cased("#", r"^\s{0,3}#{1,6}\s+\S.*$"),  # heading
    _cased("\n", r"^[^\S\n]*[-*+\u2022]\s+\S.*\n\s*[-*+\u2022]\s+\S"),  # two bullets
    # numbered list, on one line too
    _cased("1.", "1)", r"(?:^|\s)1[.)]\s+\S[\s\S]{0,400}?\s2[.)]\s+\S"),
    _cased("**", "__", r"\*\*[^\s*][^*\n]*\*\*|(?<!\w)__[^\s_][^_\n]*__(?!\w)"),  # bold
    _cased("`", r"```|(?<!`)`[^`\n]+`(?!`)"),  # code
    _cased("](http", r"\[[^\[\]\n]*\]\(https?://(?:[^\[)\s]+\)|[^\[)\s]*\[)"),  # link
    _cased("|", r"^[^\S\n]*\|.*\|[^\S\n]*$"),  # table
    _cased("---", r"^[^\S\n]*-{3,}[^\S\n]*$"),  # rule
    # tokens, and a cursor
    _cased("<|", "inst]", "sys>>", "\u258c", r"<\|[^|>\n]{1,40}\|>|\[/?INST\]|<</?SYS>>|\u258c"),
    _cased(  # tags
        "<",
        r"</?(?:s|eos|bos|pad|unk|br|p|b|i|em|strong|div|span|think|thinking|answer|response|reply"
        r"|assistant|user|system|supporter|seeker|(?:start|end)_of_turn)\s*/?>",
    ),
    # JSON, or nothing but a note in brackets: from the first line that opens with one
    _cased("]", "}", r"\A(?:(?![^\S\n]*[\[{]).*\n)*([^\S\n]*[\[{][\s\S]*[\]}]\s*)$"),
)
_LABELS = (
    _word(
        ":",
        r"^\s*\W{0,3}(?:supporter|assistant|ai|bot|chatbot|human|user|seeker|system|therapist"
        r"|counsell?or|response|reply|answer|completion|(?:next )?supporter message|final answer)"
        r"\W{0,3}:",
    ),
    _word(": ", r"(?:\n|[.!?]\s)(?:supporter|assistant|user|seeker|system|human): "),
    _word(
        "here",
        r"^\s*+(?:sure|certainly|of course|absolutely|okay|ok)?\W{0,3}\s*here(?:'s| is| are) "
        r"(?:a|an|my|one|the)\b[^.!?\n]{0,60}\b(?:response|reply|message|answer|completion)\b"
        r"[^.\n]{0,40}:",
    ),
    _word('"', r"^\s*\"[^\"]{20,}\"\s*$"),  # the whole message in quotation marks
)
MOST_SPACED_DOTS = 3
_SPACED_DOTS = rf"(?:\s*+\.){{0,{MOST_SPACED_DOTS}}}"
LONGEST_WORD = len("although")
"""Of those on which a sentence does not end."""
_UNFINISHED = (
    _word(*",;[{&+=(", r"(?:[,;\[{&+=]|(?<![:;=-])\()\s*$"),
    _word(
        "",  # words that nearly every text has
        rf"\b(?:a|an|the|and|or|but|because|although|your|my|our|its|whose|if|unless|whereas|i'm"
        rf"|i've|i'll|it's|you're|you've|we're|they're|that's){_SPACED_DOTS}\s*+(?<![.!?])$",
    ),
    _word("-", r"\w-$"),
)
_QUOTES = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"'})

# All that plain dress can change inside a line. Most texts have none of it and are read once.
_DRESS = re.compile(r"[^ -~]|  |[*_~`<\[]")

# To a pattern that passes over case, the dotless i and the dotted capital are letters i, too.
_DOTLESS = {0x131: "i", 0x307: None}

RULES: tuple[tuple[str, tuple[_Form, ...]], ...] = (
    (SELF_IDENTIFICATION, _SELF),
    (MODEL_NAME, (*_NAMES, *_NAMED_SELF)),
    (REFUSAL, _REFUSALS),
    (UNFINISHED, _UNFINISHED),
    (MARKUP, (*_FORMS, *_LABELS)),
)
_ENDS = (".", "!", "?")
_SIGNED = tuple(
    (sign, (reason, form.pattern))
    for reason, forms in RULES
    for form in forms
    for sign in form.signs
)
_SIGNED_IF_ENDED = tuple(one for one in _SIGNED if one[1][0] != UNFINISHED)
"""Each sign with what it may be a sign of: a reason and a pattern; of texts that end, no more."""


def find_leaks(text: str) -> tuple[Leak, ...]:
    """Return what gives the source of a completion away, by reason and place.

    ``text`` is the completion as it came, with its line breaks where it had some; it is read in
    the plain dress that raters see, too. Overlapping spans of one reason are told once.
    """
    if not re.search(r"\w", typed(text)):
        return (Leak(EMPTY, text.strip()),)
    leaks = list(_found(text.translate(_QUOTES)))
    if _DRESS.search(text):
        known = {leak.reason for leak in leaks}
        shown = _found(plain(text))
        leaks += [Leak(one.reason, one.matched) for one in shown if one.reason not in known]
    order = tuple(EXPLANATIONS)
    return tuple(sorted(leaks, key=lambda leak: (order.index(leak.reason), leak.start)))


def _found(text: str) -> Iterator[Leak]:
    small = folded(text)
    signed = _SIGNED_IF_ENDED if text.endswith(_ENDS) else _SIGNED
    suspected = dict.fromkeys([what for sign, what in signed if sign in small])
    for reason, group in groupby(suspected, key=itemgetter(0)):
        end = 0
        # Where a pattern has a group, that is what is told; before it stands what leads there.
        begin = before_last_word(text) if reason == UNFINISHED else 0
        spans = sorted(
            one.span(form.groups) for _, form in group for one in form.finditer(text, begin)
        )
        for start, stop in spans:
            if start >= end:
                yield Leak(reason, text[start:stop].strip(), start)
                end = max(stop, end)


def before_last_word(text: str) -> int:
    """Return a place before the last word: how a text breaks off is seen from there on."""
    for _dot in range(1 + MOST_SPACED_DOTS):
        text = text.rstrip().removesuffix(".")
    return max(0, len(text) - LONGEST_WORD)


def folded(text: str) -> str:
    """Return the text in small letters, as signs are looked for in it."""
    return text.casefold().translate(_DOTLESS)
