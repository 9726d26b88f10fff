"""From a checked study back to the file that says it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from annotation.studies.protocol.study import StudyProtocol

LONG = 60
"""Characters of a list from which on each item has a line of its own."""


def as_toml(protocol: StudyProtocol) -> str:
    """Return the study as TOML that reads back as the same study, defaults spelled out."""
    return values_as_toml(protocol.model_dump(mode="json", exclude_none=True))


def values_as_toml(values: Mapping[str, Any]) -> str:
    """Return plain values (texts, numbers, lists and tables of them) as TOML."""
    return "\n".join(_table(values, ())).strip() + "\n"


def _table(values: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    """Yield the lines of a table: its values first, then the tables below it."""
    nested = [key for key, value in values.items() if _is_nested(value)]
    for key, value in values.items():
        if key not in nested:
            yield f"{key} = {_value(value)}"
    for key in nested:
        below = (*path, key)
        value, name = values[key], ".".join(below)
        if isinstance(value, Mapping):
            yield from ("", f"[{name}]", *_table(value, below))
            continue
        for row in value:
            yield from ("", f"[[{name}]]", *_table(row, below))


def _is_nested(value: object) -> bool:
    if isinstance(value, Mapping):
        return True
    return isinstance(value, list | tuple) and bool(value) and isinstance(value[0], Mapping)


def _value(value: Any) -> str:  # noqa: ANN401 (whatever TOML can say)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list | tuple):
        return _list(value)
    return repr(value)


def _list(values: Sequence[Any]) -> str:
    items = [_value(one) for one in values]
    if sum(map(len, items)) <= LONG:
        return f"[{', '.join(items)}]"
    return "[\n" + "".join(f"  {item},\n" for item in items) + "]"


def _text(text: str) -> str:
    lines = [
        json.dumps(line, ensure_ascii=False)[1:-1].replace("\x7f", "\\u007f")
        for line in text.split("\n")
    ]
    if len(lines) == 1:
        return f'"{lines[0]}"'
    return '"""\n' + "\n".join(lines) + '"""'
