"""Put a message and its dialogue into words for a language model that names strategies."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from completions.llm import prompts
from completions.llm.prompts import Prompt, encoded
from completions.strategies.rules.codebook import Codebook
from completions.strategies.rules.reading import answer_schema

STRATEGIST = "strategist-1"
MATERIAL = """\
<strategies>
{strategies}
</strategies>
<dialogue>
{dialogue}
</dialogue>
<message>
{message}
</message>"""


def strategist_prompt(codebook: Codebook) -> Prompt:
    """Return the instructions, with the codebook and the answer's schema filled in."""
    around = f"{MATERIAL}\n{prompts.CORRECTION}"
    prompt = prompts.with_schema(STRATEGIST, answer_schema(codebook), around=around)
    lines = (
        f"- {one.key} ({one.name}): {one.shows} Not: {one.leaves_out}"
        for one in codebook.strategies
    )
    return replace(prompt, text=prompt.text.replace("{strategies}", "\n".join(lines)))


def strategist_messages(
    turns: Sequence[Mapping[str, str]], text: str, codebook: Codebook
) -> tuple[dict[str, str], ...]:
    """Return the chat that asks about one message; nothing in it says who wrote it."""
    shown = [{"role": turn["role"], "text": turn["text"]} for turn in turns]
    material = MATERIAL.format(
        strategies=encoded(list(codebook.keys)), dialogue=encoded(shown), message=encoded(text)
    )
    return (
        {"role": "system", "content": strategist_prompt(codebook).text},
        {"role": "user", "content": material},
    )
