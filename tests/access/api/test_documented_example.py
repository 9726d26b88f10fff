"""The example in docs/api.md is what the site answers."""

import datetime as dt
import json
import re
from pathlib import Path

import pytest
from django.test import override_settings

from annotation.studies.rubric import load_rubric
from ranking.choices import EvaluatorPool
from tests.helpers.factories import (
    NOW,
    digest,
    make_context,
    make_dialogue,
    make_judge,
    make_rater,
    make_study,
    make_system,
)
from tests.helpers.judged import fit_one, judge_all_pairs
from tests.helpers.rated import close

pytestmark = pytest.mark.django_db

PAGE = (Path(__file__).resolve().parents[3] / "docs/api.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r'```console\n\$ curl "https://[^/]+(/api/[^"]+)"\n(.*?)```', PAGE, re.DOTALL)
VERDICTS = [1, 1, -1, 2, 1, -1, 2, 1, -1, 1, -2, 2]  # one per source dialogue
# They name this code and these rows: their form is checked, and their place.
NAMES = {
    "fit": r"fit-[0-9a-f]{16}",
    "inputs_hash": "[0-9a-f]{64}",
    "protocol_hash": "[0-9a-f]{64}",
    "request_id": "[0-9a-f]{32}",
    "code_version": "numerics-[0-9a-f]{16}",
}


def always(verdict):
    return lambda *_pair: verdict


@pytest.fixture(scope="module")
def study(module_rows) -> None:
    rubric = load_rubric("heart-1").content()
    study = make_study(slug="kind-words", seed="kind-words-1", content={"rubric": rubric})
    systems = [make_system(slug="ash", name="Ash"), make_system(slug="beech", name="Beech")]
    rater, judge = make_rater(study=study), make_judge(name="Judge Oak")
    for number, verdict in enumerate(VERDICTS):
        dialogue = make_dialogue(dataset=study.dataset, content_hash=digest(f"example {number}"))
        context = make_context(dialogue=dialogue)
        judge_all_pairs(study, context, systems, always(verdict), rater, judge)
    with override_settings(HEART_BOOTSTRAP_REPLICATES=1000):
        fit_one(close(study), NOW + dt.timedelta(hours=1), EvaluatorPool.LLM)


def pairs(value, path=()):
    """Yield each leaf of a JSON value with its path."""
    if isinstance(value, dict | list) and value:
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, one in items:
            yield from pairs(one, (*path, key))
    else:
        yield path, value


def test_the_page_has_an_answer_and_an_error():
    assert len(EXAMPLES) == 2


@pytest.mark.parametrize(("address", "printed"), EXAMPLES, ids=["an answer", "an error"])
def test_the_site_answers_as_the_page_says(address, printed, client, study):
    answer = dict(pairs(client.get(address).json()))
    documented = dict(pairs(json.loads(printed)))

    assert list(documented) == list(answer)
    for path, value in documented.items():
        if path[-1] in NAMES:
            assert re.fullmatch(NAMES[path[-1]], value)
            assert re.fullmatch(NAMES[path[-1]], answer[path])
        elif isinstance(value, float):
            assert answer[path] == pytest.approx(value, abs=0.005)
        else:
            assert answer[path] == value
