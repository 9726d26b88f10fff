"""Which licences let texts be passed on."""

import pytest

from completions.dialogues.licences import allows_texts, may_share

SHARED = [
    *("CC BY 4.0", "CC-BY-NC-4.0", "cc-by-nc-sa-4.0", "CC0-1.0", "MIT", "Apache-2.0"),
    *("ODC-By 1.0", "CC-BY-SA-4.0", "cc0-1.0", "CC BY-NC 4.0", "Apache License 2.0"),
    *("Creative Commons Attribution 4.0", "CDLA-Sharing-1.0"),
]
KEPT = [
    *("", "CC BY-ND 4.0", "cc-by-nc-nd-4.0", "All rights reserved", "mitigated", "ask us"),
    *("CC BY-NC-ND 4.0", "research only", "by agreement", "MIT-like, ask us"),
    *("CC BY-NC-ND4.0", "CC BY NoDerivatives 4.0", "CC BY 4.0 (not to be redistributed)"),
    *("MIT, for members of the consortium only", "CC BY 4.0 (лишь по запросу)"),
]


@pytest.mark.parametrize("licence", SHARED)
def test_texts_leave_with(licence):
    assert allows_texts(licence, is_authored=False)
    assert may_share(licence)


@pytest.mark.parametrize("licence", KEPT)
def test_texts_stay_with(licence):
    assert not allows_texts(licence, is_authored=False)
    assert allows_texts(licence, is_authored=True)
    assert not may_share(licence)
