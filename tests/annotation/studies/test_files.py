"""Studies written back as files, and studies from plain values."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.studies.protocol import (
    STUDIES,
    FaultyError,
    as_toml,
    check_values,
    load_protocol,
    parse_protocol,
    shipped_studies,
    values_as_toml,
    values_of,
)
from annotation.studies.rubric import load_rubric

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
SCALARS = st.one_of(TEXTS, st.integers(-(10**9), 10**9), st.booleans(), st.floats(-1e6, 1e6))
KEYS = st.from_regex(r"[a-z_]{1,8}", fullmatch=True)
TABLES = st.dictionaries(KEYS, st.one_of(SCALARS, st.lists(TEXTS, max_size=3)), max_size=4)


@pytest.fixture(params=shipped_studies())
def protocol(request):
    return load_protocol(STUDIES / f"{request.param}.toml")


class TestAsToml:
    def test_reads_back_as_the_same_study(self, protocol):
        assert parse_protocol(as_toml(protocol), source="written") == protocol

    def test_is_the_same_when_written_again(self, protocol):
        text = as_toml(protocol)

        assert as_toml(parse_protocol(text, source="written")) == text

    @given(
        st.dictionaries(
            KEYS,
            st.one_of(SCALARS, TABLES, st.lists(TABLES, min_size=1, max_size=3)),
            max_size=5,
        )
    )
    def test_says_whatever_toml_can_say(self, values):
        assert tomllib.loads(values_as_toml(values)) == values


class TestValues:
    def test_of_stored_content_make_the_study_again(self, protocol):
        rubric = load_rubric(protocol.rubric)
        content = protocol.content(rubric.content(), normaliser="7")

        assert check_values(values_of(content)) == protocol

    def test_that_are_wrong_are_told_by_field(self, protocol):
        values = protocol.model_dump(mode="json", exclude_none=True)
        values["judgments_per_pair"] = 0
        values["consent"]["facts"][0]["text"] = ""

        with pytest.raises(FaultyError) as caught:
            check_values(values)

        fields = {fault.field for fault in caught.value.faults}
        assert fields == {"judgments_per_pair", "consent.facts.0.text"}

    def test_that_do_not_go_together_are_told_of_the_whole(self, protocol):
        values = protocol.model_dump(mode="json", exclude_none=True)

        with pytest.raises(FaultyError) as caught:
            check_values({**values, "protocol": "likert", "plan": "adaptive"})

        (fault,) = caught.value.faults
        assert fault.field == ""
        assert "balanced" in fault.reason
