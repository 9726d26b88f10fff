"""A dialogue as people see it: plain values, folded to its last turns where room is short; pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from completions.dialogues.normaliser import plain

IN_VIEW = 200
"""Characters of the last turns that a telephone shows without a tap: a quarter of its screen."""
UNDETERMINED = "und"
RIGHT_TO_LEFT = (
    "aii apc ar arc ary arz azb bal bgn bqi ckb dv fa glk he iw ji khw ks lrc luz mzn nqo pnb prs "
    "ps rhg sd sdh skr syr ug ur yi"
)
"""Languages that are written from right to left unless their tag names another script."""
RIGHT_TO_LEFT_SCRIPTS = "adlm arab aran hebr mand nkoo rohg samr syrc thaa yezi"
SCRIPT = 4  # letters of a tag's part that names the script


def direction(language: str) -> str:
    """Return the `dir` of a paragraph in the language of a BCP 47 tag: ``rtl`` or ``auto``.

    A text of a language that is written from right to left is laid out so even where it begins
    with a word of another ("OK, ..."); any other follows its own first letter.

    Examples
    --------
    >>> direction("he"), direction("he-Latn"), direction("de")
    ('rtl', 'auto', 'auto')
    """
    primary, *others = language.lower().split("-")
    script = next((one for one in others if len(one) == SCRIPT and one.isalpha()), "")
    found, among = (script, RIGHT_TO_LEFT_SCRIPTS) if script else (primary, RIGHT_TO_LEFT)
    return "rtl" if found in among.split() else "auto"


@dataclass(frozen=True)
class DisplayTurn:
    """One message of the dialogue, in the one plain dress."""

    role: str
    text: str


@dataclass(frozen=True)
class DialogueView:
    """The turns of a dialogue; raters and writers see the same."""

    earlier: tuple[DisplayTurn, ...]
    recent: tuple[DisplayTurn, ...]
    latest: DisplayTurn | None
    """None where texts stand alone."""
    is_simulated: bool = False
    """Whether the offline provider wrote its seeker; the page says so."""
    language: str = UNDETERMINED
    """BCP 47 tag, also of what is said in answer."""
    is_conversation: bool = True
    """Whether people speak; else the one turn is a prompt, and texts answer nobody."""

    @classmethod
    def of(
        cls,
        turns: Sequence[Mapping[str, str]],
        *,
        is_simulated: bool = False,
        language: str = UNDETERMINED,
        is_conversation: bool = True,
    ) -> "DialogueView":
        """Dress and fold the stored turns of a context.

        The latest turn is always in view, and as many before it as ``IN_VIEW`` allows; wide
        screens have room for all of them (`heart.css`).
        """
        if not turns:
            return cls((), (), None, language=language, is_conversation=False)
        shown = [DisplayTurn(turn["role"], plain(turn["text"])) for turn in turns]
        lengths = accumulate(len(turn.text) for turn in reversed(shown))
        fold = len(shown) - max(1, sum(length <= IN_VIEW for length in lengths))
        return cls(
            tuple(shown[:fold]),
            tuple(shown[fold:-1]),
            shown[-1],
            is_simulated,
            language,
            is_conversation,
        )
