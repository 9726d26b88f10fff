"""``contexts funnel``: count what each step made of a dataset's dialogues."""

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict

from completions.contexts.funnel import OUTCOMES, funnel_of
from completions.contexts.funnel_counts import (
    STEPS,
    Funnel,
    FunnelPart,
    ProfileCount,
    Rewriting,
    RuleCount,
    ScreenedCounts,
)
from completions.dialogues import queries
from completions.management.acting import Action, Progress, add_dataset, aligned

HOW = {
    "import": "manage.py contexts import FILE --dataset {slug}",
    "build": "manage.py contexts build --dataset {slug}",
    "rewrite": "manage.py contexts build --dataset {slug} --adversarial 20",
    "review": "/console/contexts/{slug}/list/",
}
"""The command, or the page, of each next step."""

Row = Sequence[str | int]


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_dataset(parser)
    parser.add_argument("--json", action="store_true", help="The same counts as sorted JSON.")


def run(options: argparse.Namespace, _progress: Progress) -> str:
    """Count, and answer with tables or JSON."""
    funnel = funnel_of(queries.dataset_named(options.dataset))
    if options.json:
        return json.dumps(asdict(funnel), ensure_ascii=False, indent=2, sort_keys=True)
    return "\n".join(_lines(funnel))


def _lines(funnel: Funnel) -> Iterator[str]:
    source, screened, chosen = funnel.source, funnel.screened, funnel.chosen
    yield f"Dataset {funnel.dataset}"
    yield from _table(
        ("", "count"),
        [
            ("dialogues", source["dialogues"]),
            ("utterances", source["utterances"]),
            ("turns", source["turns"]),
            ("couplets", source["couplets"]),
            ("candidates screened", screened.candidates),
            ("suitable", screened.suitable),
            ("  from dialogues", screened.suitable_dialogues),
            ("chosen regular contexts", chosen["contexts"]),
            ("  from dialogues", chosen["dialogues"]),
            ("reviewed: kept", funnel.reviews["kept"]),
            ("reviewed: dropped", funnel.reviews["dropped"]),
            ("not reviewed yet", funnel.reviews["pending"]),
        ],
    )
    yield from _screening(screened)
    yield from _strata("Emotions", funnel.emotions)
    yield from _strata("Cells", funnel.cells)
    yield from _rewriting(funnel.rewriting)
    yield from _opinions(funnel.opinions)
    if funnel.next_steps:
        yield "\nNext"
    for step in funnel.next_steps:
        yield f"{step['why']} {HOW[step['act']].format(slug=funnel.dataset)}"


def _screening(screened: ScreenedCounts) -> Iterator[str]:
    if not screened.candidates:
        return
    yield f"\nScreening by {', '.join(screened.versions)}"
    yield from _table(
        ("rule", "removes", "removes first", "removes alone"),
        [
            *(_rule(rule) for rule in screened.rules),
            ("removed by any rule", screened.removed, screened.removed, ""),
            ("no signal", "", screened.no_signal, ""),
            ("suitable", "", screened.suitable, ""),
            ("all candidates", "", screened.candidates, ""),
        ],
    )


def _rule(rule: RuleCount) -> Row:
    return rule.name, rule.removes, rule.removes_first, rule.removes_alone


def _strata(title: str, parts: Sequence[FunnelPart]) -> Iterator[str]:
    if not parts:
        return
    yield f"\n{title}, with their shares in percent"
    heads = [head for step in STEPS for head in (step, "%")]
    yield from _table(("", *heads), [(_name(part), *_counts_and_shares(part)) for part in parts])


def _counts_and_shares(part: FunnelPart) -> Iterator[str | int]:
    for step in STEPS:
        yield part.counts[step]
        yield f"{100 * part.shares[step]:.1f}"


def _name(part: FunnelPart) -> str:
    labels = (part.emotion,) if part.problem is None else (part.emotion, part.problem)
    return " / ".join(label or "(none)" for label in labels)


def _rewriting(rewriting: Rewriting) -> Iterator[str]:
    if not rewriting.planned and not rewriting.contexts:
        return
    yield (
        f"\nAdversarial contexts in use: {rewriting.contexts:,}, "
        f"of them simulated: {rewriting.simulated_contexts:,}"
    )
    yield from _table(
        ("profile", "planned", "under way", "accepted", "dropped"),
        [*((one.profile, *_ended(one)) for one in rewriting.profiles), ("all", *_ended(rewriting))],
    )
    for one in rewriting.reasons:
        yield f"dropped {one.n:,}: {one.reason}"


def _ended(one: ProfileCount | Rewriting) -> Row:
    return one.planned, one.under_way, one.accepted, one.dropped


def _opinions(opinions: Mapping[str, int]) -> Iterator[str]:
    if not opinions["asked"]:
        return
    yield f"\nSecond opinions, of them by simulated assistants: {opinions['by_simulated']:,}"
    heads = ("asked", *OUTCOMES)
    yield from _table(heads, [[opinions[head] for head in heads]])


def _table(heads: Sequence[str], rows: Sequence[Row]) -> Iterator[str]:
    return aligned([heads, *([_text(cell) for cell in row] for row in rows)])


def _text(cell: str | int) -> str:
    return f"{cell:,}" if isinstance(cell, int) else cell


FUNNEL = Action(
    "funnel", "Count what each step made of a dataset's dialogues.", _add_arguments, run
)
