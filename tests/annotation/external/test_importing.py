"""Judgments made elsewhere come in by the API and in files: what is stored, and what is refused."""

import copy
import hashlib
import io
import json
import re
from pathlib import Path

import pytest
from django.test import Client

from access.choices import Scope
from access.models import LogEntry
from annotation.external.rules import (
    NO_PAIR,
    NO_SIDES,
    SEVERAL,
    KnownPair,
    NamedPair,
    read_rows,
    rows_of,
)
from annotation.models import ExternalBatch, ExternalJudgment, Judgment
from annotation.tool_files.layouts import LAYOUTS, OF_TEXTS
from annotation.tool_files.reading import read_tool_file
from ranking.fits import services
from tests.helpers.factories import (
    HOUR,
    NOW,
    make_comparison,
    make_completion,
    make_study,
    make_system,
    make_writer,
)
from tests.helpers.factories_of_site import bearing, make_secret
from tests.helpers.judged import make_judged_study

ABOUT = {
    "source": "Lab Elm",
    "reference": "2026-01",
    "url": "https://elm.example/raters",
    "licence": "CC-BY-4.0",
    "recruitment": "Students of one course, paid by the hour.",
    "consent": "To publication of their answers without names.",
    "collected_from": "2026-01-02",
    "collected_until": "2026-01-04",
    "is_simulated": False,
}
ONE, TWO = "Tell me more.", "Cheer up!"


@pytest.fixture
def pair():
    return make_comparison(study=make_study(protocol="PREFERENCE"))


def row_of(pair, **fields):
    preferred = pair.second.content_hash
    sent = {"comparison": pair.key, "rater": "anna@elm", "preferred": preferred, "strength": 2}
    return sent | fields


def address(study):
    return f"/api/v1/studies/{study.slug}/external-judgments/"


def send(study, rows=(), secret=None, **fields):
    return send_body(study, ABOUT | {"rows": rows} | fields, secret)


def send_body(study, body, secret=None):
    secret = secret or make_secret(Scope.WRITE_JUDGMENTS, study=study.slug)
    return Client().post(
        address(study), body, content_type="application/json", headers=bearing(secret)
    )


def errors(answer):
    assert answer.status_code == 400, answer.content
    return {one["pointer"]: one["detail"] for one in answer.json()["errors"]}


@pytest.mark.django_db
def test_the_documented_batch_is_taken(pair):
    page = (Path(__file__).resolve().parents[3] / "docs/api.md").read_text(encoding="utf-8")
    (printed,) = re.findall(r"external-judgments/.*-d @batch.json\n(.*?)```", page, re.DOTALL)
    sent = printed.replace("KEY", pair.key).replace("SHA256", pair.first.content_hash)

    answer = send(pair.study, **json.loads(sent))

    assert (answer.status_code, answer.json()["n_judgments"]) == (201, 2)


@pytest.mark.django_db
class TestStoring:
    def test_a_batch_with_its_provenance_and_no_name_of_a_rater(self, pair):
        tie = {"rater": "bert", "preferred": None, "strength": None}
        rows = [row_of(pair, judged_at="2026-01-03T10:00:00Z"), row_of(pair, **tie)]
        answer = send(pair.study, rows)

        said, batch = answer.json(), ExternalBatch.objects.get()
        stored = list(batch.judgments.order_by("pk").values_list("rater", "verdict", "comparison"))
        assert answer.status_code == 201
        assert stored == [("e0001", -2, pair.pk), ("e0002", 0, pair.pk)]
        assert {name: said[name] for name in ABOUT} == ABOUT
        assert (said["n_judgments"], said["n_raters"], said["is_excluded"]) == (2, 2, False)
        assert "anna" not in str([vars(one) for one in ExternalJudgment.objects.all()])
        assert LogEntry.objects.get(action="external.received").by == batch.received_by

    def test_the_same_again_is_stored_once_and_other_content_is_a_conflict(self, pair):
        first = send(pair.study, [row_of(pair)])
        again = send(pair.study, [row_of(pair)])
        other = send(pair.study, [row_of(pair, strength=1)])
        elsewhere = send(pair.study, [row_of(pair, strength=1)], source="Lab Fir")

        assert (first.status_code, again.status_code) == (201, 200)
        assert again.json() == first.json()
        assert (other.status_code, other.json()["code"]) == (409, "conflict")
        assert elsewhere.status_code == 201
        assert ExternalBatch.objects.count() == 2

    def test_sending_and_reading_take_a_scope_each(self, pair):
        others = make_secret(*(one for one in Scope if one != Scope.WRITE_JUDGMENTS))
        assert send(pair.study, [row_of(pair)], secret=others).status_code == 403
        assert not ExternalBatch.objects.exists()

        send(pair.study, [row_of(pair)])

        reader, collector = make_secret(Scope.READ_JUDGMENTS), make_secret(Scope.WRITE_JUDGMENTS)
        (said,) = Client().get(address(pair.study), headers=bearing(reader)).json()["results"]
        assert said["source"] == "Lab Elm"
        assert Client().get(address(pair.study), headers=bearing(collector)).status_code == 403

    def test_a_rubric_study_has_marks_and_a_likert_study_points(self):
        content = {"rubric": {"dimensions": [{"key": "H"}, {"key": "E"}]}}
        rubric = make_comparison(study=make_study(protocol="RUBRIC", content=content))
        first = rubric.first.content_hash
        marks = {"H": {"preferred": first, "strength": 3}, "E": {"preferred": None}}
        alone = make_comparison(study=make_study(protocol="LIKERT", content=content), second=None)
        rated = {"comparison": alone.key, "rater": "r", "points": {"H": 5, "E": 1}}

        assert send(rubric.study, [row_of(rubric, strength=4, marks=marks)]).status_code == 201
        assert send(alone.study, [rated]).status_code == 201
        stored = ExternalJudgment.objects.order_by("pk").values_list("verdict", "marks")
        assert list(stored) == [(-4, {"H": 3, "E": 0}), (None, {"H": 5, "E": 1})]


@pytest.mark.django_db
class TestRefusing:
    def test_every_row_that_does_not_fit_is_named_and_none_is_stored(self, pair):
        other = make_comparison(study=make_study())
        writer = make_writer(dataset=pair.study.dataset)
        people = make_system(kind="HUMAN")
        erased = make_completion(system=people, writer=writer, text="", erased_at=NOW)
        second = make_completion(context=erased.context)
        gone = make_comparison(study=pair.study, first=erased, second=second)
        rows = [
            row_of(pair),
            row_of(pair),
            row_of(pair, rater="b", preferred=other.first.content_hash),
            row_of(pair, rater="c", strength=3),
            row_of(pair, rater="d", preferred=None),
            row_of(pair, rater="e", strength=None),
            row_of(pair, rater="f", marks={"H": {"preferred": None}}),
            row_of(pair, rater="g", points={"H": 1}),
            row_of(other),
            row_of(gone),
        ]

        found = errors(send(pair.study, rows))

        assert list(found) == [
            *("/rows/1/rater", "/rows/2/preferred", "/rows/3/strength", "/rows/4/strength"),
            *("/rows/5/strength", "/rows/6/marks", "/rows/7/points"),
            *("/rows/8/comparison", "/rows/9/comparison"),
        ]
        assert "in row 0: send one" in found["/rows/1/rater"]
        assert not ExternalBatch.objects.exists()

    @pytest.mark.parametrize(
        ("fields", "pointer"),
        [
            ({"consent": ""}, "/consent"),
            ({"url": "ftp://elm.example"}, "/url"),
            ({"collected_until": "2026-01-01"}, "/collected_until"),
            ({"collected_until": "2199-01-01"}, "/collected_until"),
            ({"collected_from": "1812-01-01"}, "/collected_from"),
            ({"rows": []}, "/rows"),
            ({"rows": [{"comparison": "\x00", "rater": "r"}]}, "/rows/0/comparison"),
            ({"rows": [{"comparison": "x", "rater": "r", "preferred": "A"}]}, "/rows/0/preferred"),
            ({"rows": [{"comparison": "x", "rater": "\ud800"}]}, "/rows/0/rater"),
            ({"rows": [{"comparison": "x", "marks": {"\ud800": {}}}]}, "/rows/0/marks"),
            ({"rows": [{"comparison": "x", "points": {"\ud800": 9}}]}, "/rows/0/points"),
        ],
    )
    def test_what_has_not_the_form(self, pair, fields, pointer):
        sent = {"rows": [row_of(pair)]} | fields
        assert pointer in errors(send(pair.study, **copy.deepcopy(sent)))

    def test_a_body_that_is_nested_too_deep_has_too_much_or_is_about_a_draft(self, pair):
        draft = make_study(state="DRAFT", locked_at=None, protocol_hash="")

        nested = send_body(pair.study, "[" * 50_000)
        too_much = send(pair.study, [row_of(pair)] * 1001)
        may_change = send(draft, [row_of(make_comparison(study=draft))])

        assert (nested.status_code, nested.json()["code"]) == (400, "parse_error")
        assert too_much.json()["code"] == "too_large"
        assert may_change.status_code == 409
        assert "lock it first" in may_change.json()["detail"]


@pytest.mark.django_db
def test_nothing_of_the_study_itself_changes():
    study = make_judged_study(n_dialogues=3)
    services.refit_study(study=study, clock=lambda: NOW + HOUR)
    pairs = list(study.comparisons.order_by("pk"))
    slots = [one.slots_left for one in pairs]
    hashes = set(study.fits.values_list("inputs_hash", flat=True))
    n = Judgment.objects.count()

    answer = send(study, [row_of(one, strength=1) for one in pairs])
    claimed = services.claim_changed_fits(study=study, now=NOW + 2 * HOUR)

    assert answer.status_code == 201, answer.content
    assert list(claimed) == []
    assert set(study.fits.values_list("inputs_hash", flat=True)) == hashes
    assert [one.slots_left for one in study.comparisons.order_by("pk")] == slots
    assert Judgment.objects.count() == n


def sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()


HASHES = (sha256(ONE), sha256(TWO))
SYSTEMS = (frozenset({"ash", "ash the kind"}), frozenset({"birch", "birch 2"}))
PAIR = NamedPair("pair-1", "ctx-1", SYSTEMS, HASHES)
OTHER = NamedPair("pair-2", "ctx-2", SYSTEMS, (sha256("Hm."), sha256("Oh.")))
SIDES = {"system_a": "birch", "system_b": "ash"}

ROW = {"comparison": "pair-1", "winner": "a", "rater": "r"} | SIDES


def rows(*records, pairs=(PAIR, OTHER), strength=1, columns=None):
    content = "".join(json.dumps(one) + "\n" for one in records)
    return read(content, pairs=pairs, strength=strength, columns=columns)


def read(content, *, pairs=(PAIR, OTHER), strength=1, columns=None):
    layouts = (*LAYOUTS, *OF_TEXTS)
    found = read_tool_file(io.BytesIO(content.encode()), columns or {}, layouts=layouts)
    return rows_of(found, pairs, strength=strength)


def task(**data):
    value = {"value": {"selected": "left"}}
    return {"id": 1, "data": data, "annotations": [{"completed_by": 7, "result": [value]}]}


SHAPES = {
    "our columns, by the pair's key": {"context_id": "pair-1", "winner": "b", "rater_id": "r"}
    | SIDES,
    "our columns, by context and systems": {"context_id": "ctx-1", "winner": "b", "rater_id": "r"}
    | SIDES,
    "the name of a system as winner": {"context_id": "ctx-1", "winner": "ash", "rater_id": "r"}
    | SIDES,
    "our columns, beside one that another layout reads": {"context_id": "pair-1", "winner": "b"}
    | {"rater_id": "r", "preferred": ""}
    | SIDES,
    "names of systems in full": {"comparison": "pair-1", "winner": "b", "rater": "r"}
    | {"system_a": "Birch 2", "system_b": "Ash the Kind"},
    "texts of the sides": {"comparison": "pair-1", "winner": "a", "rater": "r"}
    | {"text_a": ONE, "text_b": f" {TWO}\n"},
    "a row of the API": {"comparison": "pair-1", "rater": "r", "preferred": HASHES[0]},
    "chosen and rejected": {"comparison": "pair-1", "user": "r", "chosen": ONE, "rejected": TWO},
    "Label Studio, by texts": task(comparison="pair-1", text_a=ONE, text_b=TWO),
    "Argilla": {
        "id": "pair-1",
        "fields": {"response_1": ONE, "response_2": TWO},
        "metadata": {},
        "responses": {"preference": [{"value": "response_1", "user_id": "r"}]},
    },
    "Potato": {"instance_id": "pair-1", "user": "r", "text_a": TWO, "text_b": ONE}
    | {"which:::A": "", "which:::B": "true"},
}


@pytest.mark.parametrize("record", SHAPES.values(), ids=SHAPES.keys())
def test_a_row_in_any_layout_prefers_the_text_that_it_names(record):
    found = rows(record)

    assert found.problems == []
    (row,) = found.rows
    assert (row.comparison, row.opinion.preferred, row.opinion.strength) == ("pair-1", HASHES[0], 1)
    assert row.rater in ("r", "7")
    assert row.judged_at is None
    assert found.n_without_strength == 1


@pytest.mark.parametrize(
    ("given", "preferred", "strength"),
    [
        ({"winner": "a", "strength": 2}, HASHES[1], 2),
        ({"winner": "b", "strength": "3.0"}, HASHES[0], 3),
        ({"winner": "tie"}, None, None),
        ({"winner": "tie (bothbad)", "strength": 2}, None, None),
        ({"winner": "B"}, HASHES[0], 4),
    ],
)
def test_the_strength_is_the_rows_or_else_the_one_that_was_said(given, preferred, strength):
    (row,) = rows({"comparison": "pair-1", "rater": "r"} | SIDES | given, strength=4).rows

    assert (row.opinion.preferred, row.opinion.strength) == (preferred, strength)


@pytest.mark.parametrize(
    ("changed", "field", "says"),
    [
        ({"comparison": "pair-3"}, "comparison", NO_PAIR),
        ({"system_a": "oak"}, "preferred", NO_SIDES),
        ({"system_a": "ash"}, "preferred", NO_SIDES),
        ({"system_a": None, "text_a": "Words of a third."}, "preferred", NO_SIDES),
        ({"rater": ""}, "rater", "names no rater"),
        ({"rater": "x" * 121}, "rater", "names no rater"),
        ({"winner": "perhaps"}, "winner", "its winner is no side"),
        ({"strength": "very"}, "strength", "is no whole number"),
        ({"strength": 2.9}, "strength", "is no whole number"),
        ({"strength": "nan"}, "strength", "is no whole number"),
        ({"strength": "1e999"}, "strength", "is no whole number"),
        ({"winner": "tie\ud800"}, "", "contains half of a surrogate pair"),
        ({"judged_at": "yesterday"}, "judged_at", "is no time"),
        ({"judged_at": "2026-01-31T18:05:00"}, "judged_at", "is no time"),
        ({"judged_at": "1066-01-31T18:05:00Z"}, "judged_at", "is no time"),
    ],
)
def test_a_row_that_cannot_be_taken_is_told_with_its_line_and_field(changed, field, says):
    found = rows(ROW, ROW | changed)

    assert [(one.position, one.field) for one in found.problems] == [(2, field)]
    assert found.problems[0].says.startswith(says)
    assert found.lines == [1]


def test_rows_without_a_winner_are_counted_and_no_problem():
    found = rows(ROW | {"winner": ""}, ROW | {"winner": "", "preferred": ""})

    assert (found.rows, found.problems, found.n_without_winner) == ([], [], 2)


@pytest.mark.parametrize("winner", ["a", "b"])
def test_a_strength_with_a_sign_never_turns_a_preference_round(winner):
    found = rows(ROW | {"winner": winner, "strength": -2})
    known = {"pair-1": [KnownPair(1, *HASHES)]}

    read, problems = read_rows(found.rows, known, protocol="PREFERENCE", dimensions=())

    assert (read, [one.field for one in problems]) == ([], ["strength"])


def test_a_side_alone_and_a_key_that_several_comparisons_share_tell_no_text():
    alone = read("item,r1,r2\npair-1,A,B\n")
    shared = rows(ROW, pairs=(PAIR, PAIR))

    assert [one.says for one in alone.problems] == [NO_SIDES, NO_SIDES]
    assert [one.says for one in shared.problems] == [SEVERAL]


def test_columns_may_be_called_otherwise_and_the_time_of_a_row_is_kept():
    row = {"pair": "pair-1", "better": "b", "who": "r", "judged_at": "2026-01-31T18:05:00Z"} | SIDES

    found = rows(row, columns={"comparison": "pair", "winner": "better", "rater_id": "who"})

    (one,) = found.rows
    assert one.opinion.preferred == HASHES[0]
    assert one.judged_at.isoformat() == "2026-01-31T18:05:00+00:00"
