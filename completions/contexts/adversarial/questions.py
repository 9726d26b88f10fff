"""Put a rewrite, and the rating of one, into words for a language model."""

from collections.abc import Mapping, Sequence

from completions.contexts.adversarial.answers import RATING_SCHEMA, REWRITE_SCHEMA
from completions.llm import prompts
from completions.llm.prompts import Prompt, encoded

Messages = tuple[dict[str, str], ...]
Turns = Sequence[Mapping[str, str]]
REWRITER, HOSTILITY_RATER = "rewriter-1", "hostility-rater-1"
DIALOGUE = """\
<dialogue>
{dialogue}
</dialogue>"""
WANTED = """\
Hostility of each seeker turn, oldest first:
<hostility>
{target}
</hostility>"""
AGAIN = """\
That rewrite cannot be used:
{problems}
Rewrite the same dialogue again, with only the JSON object that fits the schema."""


def rewriter_prompt() -> Prompt:
    """Return the rewriter's instructions, the answer's schema filled in."""
    return prompts.with_schema(REWRITER, REWRITE_SCHEMA, around=f"{DIALOGUE}\n{WANTED}\n{AGAIN}")


def hostility_rater_prompt() -> Prompt:
    """Return the rater's instructions, the answer's schema filled in."""
    return prompts.with_schema(
        HOSTILITY_RATER, RATING_SCHEMA, around=f"{DIALOGUE}\n{prompts.CORRECTION}"
    )


def rewriter_messages(
    turns: Turns, target: Sequence[int], refused: tuple[str, Sequence[str]] | None = None
) -> Messages:
    """Return the chat that asks for a rewrite; ``refused`` is a former answer and its problems."""
    asked = (
        {"role": "system", "content": rewriter_prompt().text},
        {
            "role": "user",
            "content": f"{_dialogue(turns)}\n{WANTED.format(target=encoded(list(target)))}",
        },
    )
    if refused is None:
        return asked
    raw, problems = refused
    listed = "\n".join(f"- {problem}" for problem in problems)
    return (
        *asked,
        {"role": "assistant", "content": raw},
        {"role": "user", "content": AGAIN.format(problems=listed)},
    )


def hostility_rater_messages(turns: Turns) -> Messages:
    """Return the chat that asks how hostile each seeker turn is; no profile and no target."""
    return (
        {"role": "system", "content": hostility_rater_prompt().text},
        {"role": "user", "content": _dialogue(turns)},
    )


def _dialogue(turns: Turns) -> str:
    shown = [{"role": turn["role"], "text": turn["text"]} for turn in turns]
    return DIALOGUE.format(dialogue=encoded(shown))
