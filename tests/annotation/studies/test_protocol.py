"""Study files: what they hold, what is refused and why, and how they are written back."""

import hashlib
import json
import re
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.rationales.themes import load_codebook
from annotation.studies import rubric
from annotation.studies.protocol import files
from annotation.studies.protocol import study as protocol_study
from annotation.studies.protocol.files import (
    FORMS,
    STUDIES,
    FaultyError,
    ProtocolError,
    as_toml,
    check_values,
    values_as_toml,
    values_of,
)
from completions.files import toml

SHIPPED = sorted(path.stem for path in STUDIES.glob("*.toml"))
DEMO = (STUDIES / "demo.toml").read_text(encoding="utf-8")
RUBRIC = rubric.load_rubric("heart-1")
DEEP = "[" * 1_000 + "]" * 1_000
SEED = "8f3a09c1d4e27b65a0f1c2d3e4b5968f"


def load(slug):
    return files.load_protocol(STUDIES / f"{slug}.toml")


def content_of(study):
    return study.content(RUBRIC.content(), normaliser="n-1")


HASH_OF_DEMO = toml.content_hash(content_of(load("demo")))


def test_mentions_are_words_of_the_study_whatever_their_case():
    words = ["TOMATOES", "clarinet", "simulated", "heart-1"]  # the last names its rubric

    assert load("demo").mentions(words) == ["TOMATOES", "simulated"]


class TestShippedStudies:
    @pytest.mark.parametrize(
        ("slug", "numbers"),
        [
            ("demo", (3, 0, 12)),
            ("heart-likert", (5, 0, 40)),
            ("heart-preference", (5, 28, 40)),
            ("heart-rubric", (5, 28, 40)),
            ("quick", (3, 0, 20)),
        ],
    )
    def test_have_their_numbers_and_no_seed_that_anybody_could_read(self, slug, numbers):
        study = load(slug)

        assert (study.judgments_per_pair, study.pairs_per_context, study.session_length) == numbers
        assert (study.slug, study.seed) == (slug, None)
        assert rubric.load_rubric(study.rubric).reference == study.rubric
        if slug != "quick":  # whose texts are about anything
            assert study.help_lines[0].url == "https://findahelpline.com/"

    @pytest.mark.parametrize("slug", ["demo", "heart-preference"])
    def test_of_preference_show_no_word_of_the_rubric(self, slug):
        names = [dimension.name for dimension in RUBRIC.dimensions]

        study = load(slug)

        assert study.protocol == "preference"
        assert study.mentions([*names, "rubric", "dimension"]) == []

    def test_let_raters_tick_reasons_of_the_codebook_unless_they_replicate_the_paper(self):
        chips = {slug: load(slug).chips for slug in SHIPPED}

        assert {slug for slug in SHIPPED if chips[slug]} == {"heart-rubric"}
        assert {chip.theme for chip in chips["heart-rubric"]} <= set(load_codebook().keys)

    @pytest.mark.parametrize("slug", SHIPPED)
    def test_tell_before_consent_what_a_person_must_know(self, slug):
        consent = load(slug).consent

        assert [fact.name for fact in consent.facts] == [
            "Where the texts come from" if slug == "quick" else "Who wrote the replies",
            "What is stored",
            "What it is used for",
            "Stopping and withdrawing",
        ]


class TestContent:
    def test_holds_the_rubric_itself_and_survives_json(self):
        content = content_of(load("demo"))

        assert (content["rubric"], content["normaliser"]) == (RUBRIC.content(), "n-1")
        assert json.loads(json.dumps(content)) == content

    def test_hash_does_not_depend_on_comments_and_defaults_left_out(self):
        layout = "# another comment\n" + DEMO.replace("lease_minutes = 30\n", "")
        other = files.parse_protocol(layout, source="x")

        assert toml.content_hash(content_of(other)) == HASH_OF_DEMO

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            pytest.param("judgments_per_pair = 3", "judgments_per_pair = 4", id="a number"),
            pytest.param("best, most naturally", "best, most warmly", id="the question"),
        ],
    )
    def test_hash_changes_with_the_content(self, old, new):
        changed = files.parse_protocol(DEMO.replace(old, new), source="x")

        assert toml.content_hash(content_of(changed)) != HASH_OF_DEMO

    @pytest.mark.parametrize(
        ("path", "set_to"),
        [("lease_minutes", 31), ("exclusion.misfit", 2.0), ("pool_masses.people", 3.0)],
    )
    def test_hash_of_older_files_outlasts_a_field_that_comes_later(self, path, set_to, monkeypatch):
        demo = load("demo")
        *part, name = path.split(".")
        monkeypatch.setattr(protocol_study, "LATER", (*protocol_study.LATER, path))
        asked = {part[0]: {name: set_to}} if part else {name: set_to}
        other = protocol_study.StudyProtocol.model_validate({**demo.model_dump(), **asked})

        assert f"'{name}': " not in str(content_of(demo))
        assert f"'{name}': {set_to}" in str(content_of(other))

    def test_holds_of_the_seed_the_hash_alone(self):
        content = content_of(load("demo").model_copy(update={"seed": SEED}))

        assert SEED not in json.dumps(content)
        assert content["seed_sha256"] == hashlib.sha256(SEED.encode()).hexdigest()


def with_seed(seed):
    return DEMO.replace('slug = "demo"', f'slug = "demo"\nseed = "{seed}"')


class TestSeed:
    @pytest.mark.parametrize("seed", [SEED, SEED.upper(), 2 * SEED], ids=["32", "upper", "64"])
    def test_may_be_typed_as_a_long_number_drawn_by_chance(self, seed):
        assert files.parse_protocol(with_seed(seed), source="x").seed == seed

    @pytest.mark.parametrize(
        "seed",
        [
            *("7", "heart-preference-1", "heart-rubric-1"),
            *("", SEED[:-1], 2 * SEED + "0", f"{SEED[:-1]}g", "0" * 32, "0123456" * 5),
            "a sentence that somebody could guess",
        ],
    )
    def test_is_refused_where_somebody_could_guess_it(self, seed):
        with pytest.raises(ProtocolError, match=r"x: seed: .*leave it out, so that it is drawn"):
            files.parse_protocol(with_seed(seed), source="x")


SLUG, PAIRS, CHECKS = 'slug = "demo"', "judgments_per_pair = 3", "[checks]"
TWO_CHIPS = """
[[chips]]
key = "a"
words = "warm"

[[chips]]
key = "b"
words = "warm"
"""
LIKERT = 'protocol = "likert"\nplan = "adaptive"'
FAULTS = {
    "not TOML": (SLUG, "slug = ", "not valid TOML"),
    "nested": (SLUG, f"slug = {DEEP}", "not valid TOML: nested too deep"),
    "number": (SLUG, f"slug = {'9' * 5_000}", "not valid TOML: Exceeds"),
    "missing field": (SLUG, "", "slug: Field required"),
    "unknown field": ("lease_minutes", "lease_minuets", "lease_minuets: Extra"),
    "protocol": ('"preference"', '"stars"', "protocol: Input should be"),
    "adaptive without pairs": ('protocol = "preference"', LIKERT, "has no pairs to choose from"),
    "slug": ('"demo"', '"De mo"', "slug: String should match"),
    "taken": ('"demo"', '"contexts"', "is an address of the console"),
    "no judgments": (PAIRS, "judgments_per_pair = 0", "1 or more"),
    "words": ("session_length = 12", 'session_length = "x"', "give a whole number"),
    "soft scores": ("slightly = 2", "slightly = 4", "must be less than"),
    "off the scale": ("much = 4", "much = 6", "soft_scores.much: give"),
    "practice": ("strength = 4", "strength = 5", "strength must be one of [2, 4]"),
    "last turn": ('role = "seeker"', 'role = "supporter"', "practice: the last turn"),
    "address": ("https://988", "javascript://988", "help_lines.12.url"),
    "one chip twice": (CHECKS, TWO_CHIPS + CHECKS, "chips: 'warm' is there twice"),
    "one system": (PAIRS, f'systems = ["ash"]\n{PAIRS}', "systems: one system alone"),
    "one system twice": (
        PAIRS,
        f'systems = ["ash", "ash"]\n{PAIRS}',
        "systems: one is there twice",
    ),
    "NUL in a text": ('title = "', r'title = "\u0000', "title: the character U+0000"),
    "NUL in a list": ("instructions = [", r'instructions = ["\u0000",', "instructions: the char"),
    "version": ('version = "1"', 'version = ""', "consent.version: write"),
}


class TestBadStudy:
    @pytest.mark.parametrize(("old", "new", "message"), FAULTS.values(), ids=FAULTS)
    def test_is_refused_with_file_field_and_reason(self, old, new, message):
        assert old in DEMO

        with pytest.raises(ProtocolError) as caught:
            files.parse_protocol(DEMO.replace(old, new), source="mine.toml")

        assert str(caught.value).startswith("mine.toml: ")
        assert message in str(caught.value)

    def test_names_every_problem(self):
        text = DEMO.replace("session_length = 12", "").replace(
            'slug = "demo"', 'slug = "demo"\nseed = 7'
        )

        with pytest.raises(ProtocolError) as caught:
            files.parse_protocol(text, source="x")

        assert len(str(caught.value).splitlines()) == 2

    def test_may_be_missing_or_not_text(self, tmp_path):
        path = tmp_path / "latin.toml"
        path.write_bytes(b'title = "caf\xe9"')

        with pytest.raises(ProtocolError, match="not UTF-8: unexpected byte at position 12"):
            files.load_protocol(path)
        with pytest.raises(ProtocolError, match=r"none\.toml: cannot be read: No such file"):
            files.load_protocol(tmp_path / "none.toml")


def test_no_fault_is_told_as_a_regular_expression():
    """Each pattern that a study file is held to has words of its own."""
    schema = json.dumps(protocol_study.StudyProtocol.model_json_schema())
    patterns = set(re.findall(r'"pattern": ("(?:[^"\\\\]|\\\\.)*")', schema))

    assert patterns
    assert {json.loads(one) for one in patterns} <= set(FORMS)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('slug = "demo"', 'slug = "Our Demo"', "slug: use small letters, digits"),
        ("https://findahelpline.com/", "http://findahelpline.com/", "begins with https://"),
        ('paused = ""', 'paused = "a_b"', "use up to 40 letters, digits and hyphens"),
    ],
    ids=["slug", "address", "code"],
)
def test_a_fault_of_form_says_what_is_wanted(old, new, said):
    assert old in DEMO

    values = tomllib.loads(DEMO.replace(old, new, 1))
    with pytest.raises(files.FaultyError, match=said):
        files.check_values(values)


TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
SCALARS = st.one_of(TEXTS, st.integers(-(10**9), 10**9), st.booleans(), st.floats(-1e6, 1e6))
KEYS = st.from_regex(r"[a-z_]{1,8}", fullmatch=True)
TABLES = st.dictionaries(KEYS, st.one_of(SCALARS, st.lists(TEXTS, max_size=3)), max_size=4)


class TestAsToml:
    @pytest.mark.parametrize("slug", SHIPPED)
    def test_reads_back_as_the_same_study_and_is_written_the_same_again(self, slug):
        text = as_toml(load(slug))

        read = files.parse_protocol(text, source="written")
        assert read == load(slug)
        assert as_toml(read) == text

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
    @pytest.mark.parametrize("slug", SHIPPED)
    def test_of_stored_content_make_the_study_again(self, slug):
        study = load(slug)
        content = study.content(rubric.load_rubric(study.rubric).content(), normaliser="7")

        assert check_values(values_of(content)) == study

    def test_that_are_wrong_are_told_by_field(self):
        values = load("demo").model_dump(mode="json", exclude_none=True)
        values["judgments_per_pair"] = 0
        values["consent"]["facts"][0]["text"] = ""

        with pytest.raises(FaultyError) as caught:
            check_values(values)

        fields = {field for field, _reason in caught.value.faults}
        assert fields == {"judgments_per_pair", "consent.facts.0.text"}

    def test_that_do_not_go_together_are_told_of_the_whole(self):
        values = load("demo").model_dump(mode="json", exclude_none=True)

        with pytest.raises(FaultyError) as caught:
            check_values({**values, "protocol": "likert", "plan": "adaptive"})

        ((field, reason),) = caught.value.faults
        assert field == ""
        assert "balanced" in reason
