"""What the pages that raters load all day may cost: queries, bytes, and nothing inline."""

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.contrib.staticfiles import finders
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.choices import Purpose
from annotation.models import Lease
from completions.dialogues.demo import DIALOGUES
from tests.annotation.session.steps import let_in, show_pair, submit
from tests.helpers.factories import (
    make_comparison,
    make_completion,
    make_context,
    make_dialogue,
    make_quality_check,
)
from tests.helpers.visits import ANSWERS, HTMX, open_study, study_content, url

pytestmark = pytest.mark.django_db


CONTROL = re.compile(r"^(SAVEPOINT|RELEASE|BEGIN|COMMIT|ROLLBACK)", re.IGNORECASE)
MOST = 8


def queries_of_submit_and_next(client, study, kind):
    lease = show_pair(client, study)
    with CaptureQueriesContext(connection) as captured:
        answer = submit(client, study, lease, ANSWERS[kind], headers=HTMX)
    assert answer.status_code == 200
    assert str(Lease.objects.get(closed_at=None).token) in answer.content.decode()
    return [one["sql"] for one in captured if not CONTROL.match(one["sql"])]


@pytest.mark.parametrize("kind", ANSWERS)
def test_submit_and_next_takes_at_most_eight_queries(client, kind):
    study = open_study(kind, n_pairs=3)
    let_in(client, study)
    queries_of_submit_and_next(client, study, kind)  # the study's page is made once

    queries = queries_of_submit_and_next(client, study, kind)

    assert len(queries) <= MOST, "\n".join(queries)


def test_planted_pairs_cost_no_more_queries(client):
    checks = {"rate": 0.5, "repeat_rate": 0.2, "gold_set": "x"}
    study = open_study(n_pairs=6, content=study_content(checks=checks))
    for _ in range(6):
        planted = make_comparison(study=study, purpose=Purpose.CHECK, slots_left=0)
        make_quality_check(comparison=planted)
    let_in(client, study)
    costs = [len(queries_of_submit_and_next(client, study, "preference")) for _ in range(5)]

    assert max(costs[1:]) <= MOST


FIRST_VISIT = 30_000
NEXT_PAIR = 6_000
GZIP = {"Accept-Encoding": "gzip"}
N_TURNS = 17  # three in four of the published dialogues' couplets have fewer before them
N_WORDS = 40  # as completions are asked for


def dialogue_of(n):
    """Return a dialogue of usual length, of sentences that compress no better than people's do."""
    said = [
        turn["content"]
        for dialogue in json.loads(DIALOGUES.read_text("utf-8"))
        for turn in dialogue["dialog"]
    ]
    said = said[n * N_TURNS :] + said[: n * N_TURNS]
    roles = ["seeker", "supporter"] * N_TURNS
    words = " ".join(said[N_TURNS:]).split()
    turns = [
        {"role": role, "text": text} for role, text in zip(roles, said[:N_TURNS], strict=False)
    ]
    return turns, " ".join(words[:N_WORDS]), " ".join(words[N_WORDS : 2 * N_WORDS])


@pytest.fixture(params=ANSWERS)
def kind(request):
    return request.param


@pytest.fixture
def study(kind):
    study = open_study(kind, n_pairs=0)
    for n in range(2):
        turns, *texts = dialogue_of(n)
        context = make_context(dialogue=make_dialogue(dataset=study.dataset), turns=turns)
        first, second = (make_completion(context=context, text=text) for text in texts)
        make_comparison(study=study, first=first, second=None if kind == "likert" else second)
    return study


def assets_of(page: str) -> set[str]:
    """Return the addresses that a browser loads to show the page."""
    tags = re.findall(r"<(?:link|script|img|source)\b[^>]*>", page)
    return {address for tag in tags for address in re.findall(r'(?:href|src)="([^"]+)"', tag)}


def weight(address: str) -> int:
    """Return the bytes of a static file as WhiteNoise compresses it."""
    found: Any = finders.find(address.removeprefix("/static/"))
    return len(gzip.compress(Path(found).read_bytes(), 9))


def text(answer: Any) -> str:
    return gzip.decompress(answer.content).decode()


def test_first_pair_comes_with_all_that_it_needs_in_thirty_kilobytes(client, study, rater):
    page = client.get(url(study, "judge"), headers=GZIP)

    assert page["Content-Encoding"] == "gzip"
    assets = {address: weight(address) for address in assets_of(text(page))}
    assert {Path(address).suffix for address in assets} == {".css", ".js", ".svg"}
    unpadded = len(gzip.compress(text(page).encode(), 6))  # lengths are hidden by up to 100 bytes
    assert unpadded + sum(assets.values()) < FIRST_VISIT, (unpadded, assets)


def test_next_pair_comes_in_six_kilobytes(client, kind, study, rater):
    page = text(client.get(url(study, "judge"), headers=GZIP))
    action = re.search(r'id="answer"[^>]* action="([^"]+)"', page)
    assert action is not None

    following = client.post(action[1], ANSWERS[kind], headers=HTMX | GZIP)

    assert 'id="answer"' in text(following)
    assert action[1] not in text(following)
    assert len(following.content) < NEXT_PAIR


def test_style_sheets_load_nothing_more(client, study, rater):
    for address in assets_of(client.get(url(study, "judge")).content.decode()):
        found: Any = finders.find(address.removeprefix("/static/"))
        if address.endswith(".css"):
            assert not re.findall(r"url\(|@import", Path(found).read_text("utf-8"))
