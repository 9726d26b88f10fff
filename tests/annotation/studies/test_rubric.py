import tomllib

import pytest

from annotation.studies import rubric
from annotation.studies.rubric import RubricError

TEXT = (rubric.RUBRICS / "heart-1.toml").read_text(encoding="utf-8")


def heart():
    return rubric.load_rubric("heart-1")


class TestHeartRubric:
    def test_holds_what_its_file_does_and_changes_under_a_new_version_alone(self):
        assert "".join(heart().keys) == "HEART"
        assert heart().content() == tomllib.loads(TEXT)
        assert heart().sha256 == (
            "c06c3cacba206e48433e1e3546fded36a652b64384da861e1e98cb53790ef54d"
        )


class TestHash:
    def test_does_not_depend_on_comments_and_layout(self):
        other = "# a comment\n" + TEXT.replace("\n\n", "\n\n\n")

        assert rubric.parse_rubric(other, source="x").sha256 == heart().sha256

    @pytest.mark.parametrize(
        "change",
        [
            pytest.param(lambda text: text.replace("warmth", "care"), id="a word"),
            pytest.param(lambda text: text.replace('key = "R"', 'key = "Q"'), id="a key"),
            pytest.param(lambda text: text.replace('version = "1"', 'version = "2"'), id="version"),
        ],
    )
    def test_changes_with_the_content(self, change):
        changed = rubric.parse_rubric(change(TEXT), source="x")

        assert changed.sha256 != heart().sha256


class TestBadRubric:
    @pytest.mark.parametrize(
        ("text", "message"),
        [
            pytest.param("name = ", "x.toml: not valid TOML: Invalid value", id="not TOML"),
            pytest.param('name = "a"', "x.toml: version: Field required", id="missing field"),
            pytest.param(
                TEXT + 'hint = "x"', "x.toml: dimensions.4.hint: Unexpected", id="unknown"
            ),
            pytest.param(
                TEXT.replace('key = "A"', 'key = "R"'),
                "x.toml: dimensions: every key may be used once, found H, E, R, R, T",
                id="key twice",
            ),
            pytest.param(
                TEXT.replace('key = "A"', 'key = "a b"'),
                "x.toml: dimensions.2.key: String should match",
                id="bad key",
            ),
            pytest.param(
                TEXT.replace('name = "Attunement"', 'name = "  "'),
                "x.toml: dimensions.2.name: String should have at least 1",
                id="empty name",
            ),
        ],
    )
    def test_is_refused_with_file_field_and_reason(self, text, message):
        with pytest.raises(RubricError) as caught:
            rubric.parse_rubric(text, source="x.toml")

        assert message in str(caught.value)

    def test_unknown_reference_names_the_known_ones_and_cannot_leave_the_folder(self):
        with pytest.raises(RubricError, match='there is no rubric "heart-9"; known are heart-1'):
            rubric.load_rubric("heart-9")
        with pytest.raises(RubricError):
            rubric.load_rubric("../rubrics/heart-1")

    def test_file_must_be_named_after_its_content(self, tmp_path, monkeypatch):
        (tmp_path / "heart-2.toml").write_text(TEXT, encoding="utf-8")
        monkeypatch.setattr(rubric, "RUBRICS", tmp_path)

        with pytest.raises(RubricError, match=r"heart-2\.toml: holds heart-1"):
            rubric.load_rubric("heart-2")
