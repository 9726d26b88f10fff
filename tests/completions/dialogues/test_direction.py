"""How a dialogue is folded is tested with highlights; here, how its language is laid out."""

import pytest

from completions.dialogues.display import direction


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("en", "auto"),
        ("und", "auto"),
        ("", "auto"),
        ("he", "rtl"),
        ("iw", "rtl"),
        ("ar-EG", "rtl"),
        ("FA", "rtl"),
        ("ur-Arab-PK", "rtl"),
        ("he-Latn", "auto"),
        ("az-Arab", "rtl"),
        ("arn", "auto"),  # Mapudungun, no Arabic
        ("zh-Hans", "auto"),
    ],
)
def test_direction_follows_the_script_or_else_the_language(language, expected):
    assert direction(language) == expected
