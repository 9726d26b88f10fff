"""The page on the data model says what the models say."""

import re
from pathlib import Path

from tests.db.constraints.rules import our_models

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "data-model.md").read_text(encoding="utf-8")
TABLES = PAGE.partition("## Tables of access")[2].partition("## States")[0]
SECTIONS = {
    name: rules for name, _, rules in (part.partition("\n") for part in TABLES.split("\n### ")[1:])
}
STATES = PAGE.partition("## States")[2].partition("\n## ")[0]


def rules_of(model):
    """Return the names of a model's constraints, and of its unique columns."""
    columns = [
        f"{model.__name__}.{field.name}"
        for field in model._meta.local_concrete_fields
        if field.unique and not field.primary_key
    ]
    return {constraint.name for constraint in model._meta.constraints} | set(columns)


def relations():
    """Return every foreign key as a line of a diagram."""
    for model in our_models():
        for field in model._meta.local_fields:
            if field.remote_field is not None:
                one = "|o" if field.null else "||"
                many = "o|" if field.unique else "o{"
                target = field.remote_field.model.__name__
                yield f"{target} {one}--{many} {model.__name__} : {field.name}"


def test_every_table_has_a_section_and_every_section_a_table():
    assert set(SECTIONS) == {model.__name__ for model in our_models()}


def test_each_section_lists_the_constraints_and_unique_columns_of_its_table(subtests):
    for model in our_models():
        with subtests.test(model.__name__):
            listed = re.findall(r"^\* (`.+?`)(?=:)", SECTIONS[model.__name__], re.MULTILINE)

            names = {name for line in listed for name in re.findall(r"`(.+?)`", line)}
            assert names == rules_of(model)


def test_the_diagrams_show_every_relation_and_no_other():
    shown = re.findall(r"^    (\w+ \S+--\S+ \w+ : \w+)$", PAGE, re.MULTILINE)

    assert sorted(shown) == sorted(relations())


def test_every_state_is_in_the_table_of_states():
    columns = [
        field
        for model in our_models()
        for field in model._meta.local_concrete_fields
        if field.name in {"state", "outcome"}
    ]

    states = {value for field in columns for value, _ in field.choices or () if value}
    assert set(re.findall(r"`([A-Z]+)`", STATES)) == states
