"""The texts of a release for readers: data card, licence, notice, and how to rebuild the text."""

import json
from collections.abc import Mapping
from typing import Any

from ranking.released.tables import TABLES, ReleaseTable

CC_BY = "CC-BY-4.0"
URLS = {
    CC_BY: "https://creativecommons.org/licenses/by/4.0/legalcode",
    "CC0-1.0": "https://creativecommons.org/publicdomain/zero/1.0/legalcode",
    "CC-BY-SA-4.0": "https://creativecommons.org/licenses/by-sa/4.0/legalcode",
    "CC-BY-NC-4.0": "https://creativecommons.org/licenses/by-nc/4.0/legalcode",
}
"""What judgments and ratings may be released under, by SPDX names, and where its text is."""
NAMES = {
    CC_BY: "Creative Commons Attribution 4.0 International",
    "CC0-1.0": "Creative Commons Zero 1.0 Universal",
    "CC-BY-SA-4.0": "Creative Commons Attribution-ShareAlike 4.0 International",
    "CC-BY-NC-4.0": "Creative Commons Attribution-NonCommercial 4.0 International",
}
SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (10**6, "100K<n<1M"))
SIMULATED = (
    "**Simulated.** Raters, judges, systems or dialogues behind this release are stand-ins. "
    "Its figures say nothing about real ones."
)
ABOUT_SCORES = (
    "Scores are about *perceived* support in text, by the people and models who judged these "
    "messages. They certify nothing about the safety of people at risk, and mean something only "
    "with the conditions that they were got under: show the row of human messages beside them."
)


def title(about: Mapping[str, Any]) -> str:
    """Return the title of a release, which says by itself whether it is simulated."""
    said = about["is_simulated"] and "simulated" not in about["title"].casefold()
    return f"{about['title']}{' (simulated)' if said else ''}, release {about['version']}"


def readme(about: Mapping[str, Any], boards: Mapping[str, str]) -> str:
    """Return the data card: a head that hubs of datasets read, and what is in the folder."""
    counts = about["counts"]
    parts = [
        _head(about),
        f"# {title(about)}",
        *([SIMULATED] if about["is_simulated"] else []),
        _summary(about),
        _results(about, boards),
        _verifying(),
        _layout(about),
        "\n\n".join(_table(one, counts[one.name]) for one in TABLES if one.name in counts),
        _left_out(about),
        f"## How to read the scores\n\n{ABOUT_SCORES}",
        f"## Licence\n\n{_licences(about)}",
    ]
    return "\n\n".join(parts) + "\n"


def licence(about: Mapping[str, Any]) -> str:
    """Return the licence of the judgments and of everything computed from them."""
    name = about["licence"]
    return (
        f"{NAMES[name]}\n"
        f"SPDX-License-Identifier: {name}\n\n{_licences(about)}\n\n"
        f"The legal code of {name} is at {URLS[name]}\n"
    )


def notice(about: Mapping[str, Any]) -> str:
    """Return whose work is in the release."""
    dataset = about["dataset"]
    return (
        f"{title(about)}\n\n"
        f"{_dialogues(dataset)}\n"
        "Messages of language models were obtained from their providers, whose terms apply to "
        "their use.\n"
        "Messages and judgments by people were given with their consent to be released without "
        "their names.\n"
        f"Made with {about['software']}.\n"
    )


def _dialogues(dataset: Mapping[str, Any]) -> str:
    """Say where the dialogues come from, and that they are nobody's where they are not."""
    said = f"Dialogues: {dataset['name']}, licence: {dataset['licence'] or 'not named'}."
    if dataset["is_authored"]:
        said += " They were written for this software; nobody's conversation is in them."
    return said


def rebuilding(about: Mapping[str, Any]) -> str:
    """Return how whoever has the source file puts the text of the contexts back."""
    dataset = about["dataset"]
    return f"""# Rebuilding the text of the contexts

The dialogues of {dataset["name"]} ({dataset["licence"] or "no licence named"}) may not be handed on
here. Whoever has the source file can put them back and check each of them.

1. Import the source file, with the name of the dataset, into an empty site:

       manage.py contexts import FILE --name {dataset["slug"]}

2. For each row of `data/contexts.jsonl` with stratum REGULAR, take the dialogue at
   `dialogue_position` (from 0; its hash is `dialogue`), and its merged turns from the first to
   `turn_index`.
3. Check it: `content_hash` is the SHA-256 of the JSON of the list of turns, each an object of
   `role` and `text`, with separators "," and ":" and without escapes, in UTF-8.

       python -c "import hashlib, json, sys; turns = json.load(sys.stdin); \\
       print(hashlib.sha256(json.dumps(turns, \\
       ensure_ascii=False, separators=(',', ':')).encode()).hexdigest())"

A context with stratum ADVERSARIAL was rewritten by a model from its `source_context`; its text is
kept back with that of its source, and its hash shows whether a copy is the one that was judged.
"""


def _head(about: Mapping[str, Any]) -> str:
    n = about["counts"]["judgments"]
    size = next((name for most, name in SIZES if n < most), "1M<n<10M")
    name = json.dumps(title(about).replace('"', "'"), ensure_ascii=False)  # which is YAML, too
    configs = [
        line
        for table in TABLES
        if about["counts"].get(table.name)
        for line in (f"- config_name: {table.name}", f"  data_files: {table.path}")
    ]
    tags = ["emotional-support", "pairwise-preferences", "human-evaluation"]
    tags += ["simulated"] if about["is_simulated"] else []
    lines = [
        "---",
        f"pretty_name: {name}",
        f"license: {about['licence'].casefold()}",
        "language:",
        *(f'- "{tag}"' for tag in about["dataset"]["languages"]),  # no alone is False in YAML
        "task_categories:",
        "- text-generation",
        "size_categories:",
        f"- {size}",
        "tags:",
        *(f"- {tag}" for tag in tags),
        "configs:",
        *configs,
        "---",
    ]
    return "\n".join(lines)


def _summary(about: Mapping[str, Any]) -> str:
    counts = about["counts"]
    return (
        f"Study `{about['study']}`, as of {about['as_of'][:10]}: {counts['judgments']} judgments "
        f"of {counts['comparisons']} comparisons among {counts['completions']} messages by "
        f"{counts['systems']} systems in {counts['contexts']} contexts, by {counts['raters']} "
        f"people and {counts['judges']} language models. Release `{about['key']}`, format "
        f"`{about['format']}`, made with {about['software']} (`{about['code_version']}`).\n\n"
        f"The protocol is `study/protocol.json`; its SHA-256 is `{about['protocol_hash']}`."
    )


def _results(about: Mapping[str, Any], boards: Mapping[str, str]) -> str:
    parts = ["## Results"]
    for fit in about["fits"]:
        said = " (simulated)" if fit["is_simulated"] else ""
        parts.append(
            f"### {fit['pool']}, contexts {fit['context_set']}{said}: `{fit['fit']}`\n\n"
            f"{fit['n_judgments']} judgments count."
        )
        if fit["fit"] in boards:
            parts.append(f"```text\n{boards[fit['fit']].rstrip()}\n```")
        else:
            parts.append("The judgments do not determine ratings; the file says why.")
    return "\n\n".join(parts)


def _verifying() -> str:
    return """## Verifying

No database and no key is needed, only the software:

    python -m ranking.release_check FOLDER

It checks the checksum of each file, the shape of each table, that references lead somewhere and
every text has its hash; then it computes the ratings, their intervals and ranks, and the analyses
again from `data/` and compares each number. What differs is named, and the exit code is 1."""


def _layout(about: Mapping[str, Any]) -> str:
    rebuild = "" if about["dataset"]["has_text"] else "\n| `REBUILD.md` | text of the contexts |"
    return f"""## Files

| path | what |
| --- | --- |
| `data/*.jsonl` | one table each, below |
| `study/` | the protocol as it was locked, its rubric, its plan, and the seed of a closed study |
| `prompts/` | the fixed part of each prompt |
| `ratings/` | a file for each fit: method, seed, ratings, intervals, ranks |
| `analyses/` | a folder for each fit: what was found beyond ratings |
| `figures/` | the same drawn, as SVG |
| `release.json` | what this release is made of |
| `croissant.json` | the tables for programs |
| `SHA256SUMS` | the checksum of every other file |{rebuild}"""


def _table(table: ReleaseTable, n: int) -> str:
    rows = [f"| `{one.name}` | {one.kind} | {one.says} |" for one in table.fields]
    head = f"### {table.name} ({n})\n\n{table.says}\n\n| field | kind | what |\n| --- | --- | --- |"
    return "\n".join([head, *rows])


def _left_out(about: Mapping[str, Any]) -> str:
    lines = [
        (
            "Names, addresses, ids of platforms, sessions and time zones of people; who wrote "
            "which human message; times of day; answers of people who withdrew and asked for that."
        ),
        *about["notes"],
    ]
    return "## What is not in it\n\n" + "\n".join(f"* {one}" for one in lines)


def _licences(about: Mapping[str, Any]) -> str:
    dataset = about["dataset"]
    text = "is included" if dataset["has_text"] else "is not included (REBUILD.md)"
    return (
        f"Judgments, ratings and everything computed from them: {about['licence']}. The text of "
        f"dialogues is from {dataset['name']} under its own licence "
        f"({dataset['licence'] or 'none named'}) and {text}.{_of_others(about)}"
    )


def _of_others(about: Mapping[str, Any]) -> str:
    if not about["counts"].get("external_batches"):
        return ""
    return (
        " Judgments made elsewhere are under the licence that data/external_batches.jsonl names "
        "for each batch."
    )
