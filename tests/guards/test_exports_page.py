"""docs/exports.md holds the data dictionary as the module has it."""

import re
from pathlib import Path

from ranking.exports import data_dictionary

PAGE = Path(__file__).resolve().parents[2] / "docs/exports.md"
BETWEEN = re.compile(r"<!-- dictionary: begin -->\n(.*)<!-- dictionary: end -->", re.DOTALL)


def test_the_page_holds_the_dictionary():
    found = BETWEEN.search(PAGE.read_text(encoding="utf-8"))

    assert found.group(1) == "\n" + data_dictionary.as_markdown(data_dictionary.TABLES) + "\n"


def test_every_column_is_explained_in_words():
    for table in data_dictionary.TABLES:
        assert all(len(column.meaning.split()) > 1 for column in table.columns)
