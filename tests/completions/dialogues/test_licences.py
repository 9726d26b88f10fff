"""Which licences let texts be passed on."""

import pytest

from completions.dialogues.licences import allows_texts


@pytest.mark.parametrize(
    "licence",
    ["CC BY 4.0", "CC-BY-NC-4.0", "cc-by-nc-sa-4.0", "CC0-1.0", "MIT", "Apache-2.0", "ODC-By 1.0"],
)
def test_texts_leave_with(licence):
    assert allows_texts(licence, is_authored=False)


@pytest.mark.parametrize(
    "licence", ["", "CC BY-ND 4.0", "cc-by-nc-nd-4.0", "All rights reserved", "mitigated", "ask us"]
)
def test_texts_stay_with(licence):
    assert not allows_texts(licence, is_authored=False)
    assert allows_texts(licence, is_authored=True)
