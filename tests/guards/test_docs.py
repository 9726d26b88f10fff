"""The page on the architecture says what the models say."""

import re
from pathlib import Path

from tests.heart_site.constraints.rules import our_models

PAGE = (Path(__file__).resolve().parents[2] / "docs/architecture.md").read_text(encoding="utf-8")
STATES = PAGE.partition("## States")[2]


def relations():
    """Return every foreign key as a line of a diagram."""
    for model in our_models():
        for field in model._meta.local_fields:
            if field.remote_field is not None:
                one = "|o" if field.null else "||"
                many = "o|" if field.unique else "o{"
                target = field.remote_field.model.__name__
                yield f"{target} {one}--{many} {model.__name__} : {field.name}"


def test_the_diagrams_show_every_relation_and_no_other():
    shown = re.findall(r"^    (\w+ \S+--\S+ \w+ : \w+)$", PAGE, re.MULTILINE)

    assert sorted(shown) == sorted(relations())


def test_the_table_of_states_has_every_state():
    columns = [
        field
        for model in our_models()
        for field in model._meta.local_concrete_fields
        if field.name in {"state", "outcome"}
    ]

    states = {value for field in columns for value, _ in field.choices or () if value}
    assert set(re.findall(r"`([A-Z]+)`", STATES)) == states
