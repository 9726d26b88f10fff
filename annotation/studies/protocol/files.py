"""Study files: read and checked with errors that name the field, and written back."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from annotation.studies.protocol.study import StudyProtocol
from completions.files.toml import parse_toml, reason_of

STUDIES = Path(__file__).parent.parent


class ProtocolError(ValueError):
    """A study file cannot be used; the message names the file, the field and the reason."""


def shipped_studies() -> list[str]:
    """Return the names of the studies that ship, under which they can be started from."""
    return sorted(path.stem for path in STUDIES.glob("*.toml"))


def shipped_study(name: str) -> StudyProtocol:
    """Return a study that ships, by its name."""
    return load_protocol(STUDIES / f"{name}.toml")


def load_protocol(path: Path) -> StudyProtocol:
    """Read and check a study file.

    Raises
    ------
    ProtocolError
        If the file cannot be read, is not TOML, or a field is missing, unknown or out of range.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        msg = f"{path}: cannot be read: {error.strerror}"
        raise ProtocolError(msg) from error
    except UnicodeDecodeError as error:
        msg = f"{path}: not UTF-8: unexpected byte at position {error.start}"
        raise ProtocolError(msg) from error
    return parse_protocol(text, source=path.name)


def parse_protocol(text: str, *, source: str) -> StudyProtocol:
    """Read a study from TOML; ``source`` is named in errors.

    Raises
    ------
    ProtocolError
        If the text is not TOML, or a field is missing, unknown or out of range.
    """
    return parse_toml(
        text, source=source, validate=StudyProtocol.model_validate, error=ProtocolError
    )


STORED_ONLY = ("rubric", "normaliser", "seed_sha256")
"""What stored content has in another shape than a file, or beside it."""


class FaultyError(ValueError):
    """The values are no study.

    ``faults`` say what is wrong by field, named by its dotted path, empty for the whole study.
    """

    def __init__(self, faults: Sequence[tuple[str, str]]) -> None:
        super().__init__("; ".join(f"{field}: {reason}" for field, reason in faults))
        self.faults = faults


FORMS = {
    r"^[a-z0-9]+(-[a-z0-9]+)*$": "use small letters, digits and single hyphens",
    r"^([a-z0-9]+(-[a-z0-9]+)*)?$": "use small letters, digits and single hyphens",
    r"^([a-z][a-z0-9-]*)?$": "use small letters, digits and hyphens, a letter first",
    r"^(https://\S+)?$": "give an address that begins with https://",
    r"^[A-Z]{2}$": "give a country as two capital letters, such as DE",
    r"^[A-Z][A-Z0-9]{0,3}$": "use a capital letter, then up to three capitals or digits",
    r"^[A-Za-z0-9-]{0,40}$": "use up to 40 letters, digits and hyphens",
}
"""What to write instead, where a fault would name a regular expression."""


def check_values(values: Mapping[str, Any]) -> StudyProtocol:
    """Return the study that plain values make, by the rules of study files.

    Raises
    ------
    FaultyError
        If a field is missing, unknown or out of range.
    """
    try:
        return StudyProtocol.model_validate(values)
    except ValidationError as error:
        faults = [
            (
                ".".join(map(str, one["loc"])),
                FORMS.get(one.get("ctx", {}).get("pattern", "")) or reason_of(one),
            )
            for one in error.errors()
        ]
        raise FaultyError(faults) from error


def values_of(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the study file that stored content was made from, but for its seed, as values."""
    rubric = content["rubric"]
    written = {key: value for key, value in content.items() if key not in STORED_ONLY}
    return {**written, "rubric": f"{rubric['name']}-{rubric['version']}"}


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
