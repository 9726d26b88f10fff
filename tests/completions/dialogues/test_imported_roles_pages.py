"""Who speaks in an imported item, from the file to the rater's page and the judge's prompt.

The judge script that was published with the items takes the first turn for the seeker's always,
and shows half of them with the two swapped.
"""

import json
import re

import pytest

from annotation.judges.services import judging
from completions.dialogues.importing import import_dialogues
from completions.dialogues.ingest.files import read_dialogues
from completions.models import Completion
from completions.runs.services.calling import Claim
from tests.helpers.datasets import HISTORY, item, write_array
from tests.helpers.factories import (
    NOW,
    make_comparison,
    make_completion,
    make_judge_call,
    make_study,
)
from tests.helpers.visits import enrol, open_study, study_content, url

pytestmark = pytest.mark.django_db

HISTORIES = {
    "supporter first": item(),
    "seeker first": item(dialogue_history=HISTORY[1:]),
    "named": item(dialogue_history=HISTORY[1:], prev_speakers=["usr", "sys", "usr"]),
}
ROLES = dict(zip(HISTORY, ("supporter", "seeker") * 2, strict=True))


@pytest.fixture(params=HISTORIES.values(), ids=[*HISTORIES])
def completion(request, tmp_path):
    """The reply of an item that was imported from a file."""
    path = write_array(tmp_path / "items.json", [request.param])
    import_dialogues(dataset_name="Items", dialogues=read_dialogues(path), now=NOW)
    return Completion.objects.select_related("context__dataset").get()


def compared(study, completion):
    other = make_completion(context=completion.context)
    return make_comparison(study=study, first=completion, second=other)


def expected(completion):
    return [(ROLES[turn["text"]], turn["text"]) for turn in completion.context.turns]


def shown(page):
    """Return who says what on a page."""
    turns = re.findall(r'<span class="who">(\w+)</span><div class="said"><p [^>]*>(.*?)</p>', page)
    return [(who.lower(), text) for who, text in turns]


class TestImportedRoles:
    def test_are_those_of_the_raters_page(self, client, completion):
        study = open_study(n_pairs=0, dataset=completion.context.dataset)
        compared(study, completion)
        enrol(client, study)

        page = client.get(url(study, "judge")).content.decode()

        assert shown(page)[: len(completion.context.turns)] == expected(completion)

    def test_are_those_of_the_judges_prompt(self, completion):
        study = make_study(
            dataset=completion.context.dataset, content=study_content("rubric"), protocol="RUBRIC"
        )
        call = make_judge_call(comparison=compared(study, completion))

        question = judging._Desk().question(call, Claim(call.pk, NOW, attempts=1))

        prompt = question.request.messages[1]["content"]
        dialogue = json.loads(prompt.partition("<dialogue>")[2].partition("</dialogue>")[0])
        assert [(turn["role"], turn["text"]) for turn in dialogue] == expected(completion)
