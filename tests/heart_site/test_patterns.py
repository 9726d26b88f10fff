"""No text makes a pattern slow: what one costs grows as the text does, whatever is in it."""

import gc
import importlib
import pkgutil
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from statistics import median

import pytest

import access
import annotation
import completions
import heart_site
import ranking
from completions.dialogues.normaliser import plain, typed
from completions.dialogues.wording import count_sentences, count_words
from completions.leaks.rules import find_leaks

APPS = (access, annotation, completions, ranking, heart_site)
HOSTILE = (
    *("\n", " ", "\t", "1", "-", "1-", "a", "a ", "(", "[", "{", "<", "*", "_", "`", "#", "|", '"'),
    *(".", "...", "!", ", ", "- ", "1. ", "a@", "a.", "http://", "[a](", "[a](http://", "<a"),
    *("\n\n", "\n#", "\n- ", "\n|", "a\n", "a'", "i am ", "the ", "and.", ".  ", "{a", "] "),
    *("**a", "AI "),
)
BEFORE = ("", "a", "1. a ", "[a](http://", "**a", "and.", "- a\n", "<")
SHORT, MIDDLE, LONG = 1_000, 3_000, 9_000
TRIES = 5
NOTICED_S = 0.01
"""To go over the long text once takes a tenth of this, and once from each of its places more."""
STEEPEST = 27
"""What costs in proportion costs 9 times as much for the long text, and by its square 81 times."""


def patterns_in(value: object, depth: int = 4) -> Iterator[re.Pattern[str]]:
    """Yield the patterns in a value of a module, through so many layers of what holds them."""
    if isinstance(value, re.Pattern):
        yield value
    elif depth:
        if is_dataclass(value) and not isinstance(value, type):
            value = [getattr(value, one.name, None) for one in fields(value)]
        elif isinstance(value, dict):
            value = [*value, *value.values()]
        if isinstance(value, (tuple, list, set, frozenset)):
            for one in value:
                yield from patterns_in(one, depth - 1)


def own_patterns() -> dict[str, re.Pattern[str]]:
    found: dict[tuple[str, int], tuple[str, re.Pattern[str]]] = {}
    for app in APPS:
        for module in pkgutil.walk_packages(app.__path__, f"{app.__name__}."):
            if ".migrations" in module.name or ".commands" in module.name:
                continue
            for name, value in list(vars(importlib.import_module(module.name)).items()):
                for one in patterns_in(value):
                    if isinstance(one.pattern, str):
                        found.setdefault((one.pattern, one.flags), (f"{module.name}.{name}", one))
    return {f"{name} {one.pattern[:40]!a}": one for name, one in found.values()}


def seconds(read: Callable[[str], object], text: str) -> float:
    """Return the processor time that one reading takes, without that of other threads."""
    gc.disable()  # or a reading would pay for all that the tests before it left
    try:
        begun = time.thread_time()
        read(text)
        return time.thread_time() - begun
    finally:
        gc.enable()


def grows_steeply(read: Callable[[str], object], before: str, unit: str) -> bool:
    """Return whether the long text costs far more than its length explains.

    What costs by the square of the length shows at the middle one already. The other two are read
    in turn: what slows the machine down for a while slows both. One turn is enough where it is far
    from steep.
    """
    short, middle, long = (before + (unit * n)[:n] + "\0" for n in (SHORT, MIDDLE, LONG))
    if seconds(read, middle) <= NOTICED_S / 9 or seconds(read, long) <= NOTICED_S:
        return False
    if _ratio(read, short, long) <= STEEPEST / 2:
        return False
    return median(_ratio(read, short, long) for _ in range(TRIES)) > STEEPEST


def _ratio(read: Callable[[str], object], short: str, long: str) -> float:
    return seconds(read, long) / seconds(read, short)


def steep(
    read: Callable[[str], object], befores: Sequence[str] = BEFORE, units: Sequence[str] = HOSTILE
) -> list[str]:
    """Return the beginnings of the texts whose cost grows much faster than they do."""
    return [
        (before + unit)[:12]
        for before in befores
        for unit in units
        if grows_steeply(read, before, unit)
    ]


def all_matches(pattern: re.Pattern[str]) -> Callable[[str], object]:
    return lambda text: [match.span() for match in pattern.finditer(text)]


@pytest.mark.full
def test_every_pattern_of_the_project_costs_as_much_as_the_text_is_long(subtests):
    patterns = own_patterns()
    assert len(patterns) > 100

    for name, pattern in patterns.items():
        with subtests.test(name):
            assert steep(all_matches(pattern)) == []


def test_no_pattern_repeats_a_group_possessively():
    """Python 3.11.4 and older match such patterns wrongly (Debian 12 has 3.11.2)."""
    possessive = re.compile(r"(?<!\\)\)(?:[*+?]|\{\d*,?\d*\})\+|\(\?>")

    assert [name for name, one in own_patterns().items() if possessive.search(one.pattern)] == []


@pytest.mark.parametrize(
    "read", [find_leaks, plain.__wrapped__, typed, count_words, count_sentences]
)
def test_what_reads_strangers_texts_costs_as_much_as_they_are_long(read):
    assert steep(read) == []


def test_a_pattern_that_looks_through_each_run_again_and_again_is_seen():
    assert steep(all_matches(re.compile(r"\w+!")), befores=("",), units=("a", " ")) == ["a"]
