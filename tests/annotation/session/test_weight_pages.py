"""What a rater's browser loads: less than 30 kB for the first pair, less than 6 kB for the next."""

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.contrib.staticfiles import finders

from completions.dialogues.demo import DIALOGUES
from tests.helpers.factories import make_comparison, make_completion, make_context, make_dialogue
from tests.helpers.visits import ANSWERS, HTMX, enrol, open_study, url

pytestmark = pytest.mark.django_db

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
def study(request):
    study = open_study(request.param, n_pairs=0)
    for n in range(2):
        turns, one, other = dialogue_of(n)
        context = make_context(dialogue=make_dialogue(dataset=study.dataset), turns=turns)
        texts = [one] if request.param == "likert" else [one, other]
        make_comparison(
            study=study,
            **{
                place: make_completion(context=context, text=text)
                for place, text in zip(("first", "second"), texts, strict=False)
            },
        )
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


def test_first_pair_comes_with_all_that_it_needs_in_thirty_kilobytes(client, study):
    enrol(client, study)

    page = client.get(url(study, "judge"), headers=GZIP)

    assert page["Content-Encoding"] == "gzip"
    assets = {address: weight(address) for address in assets_of(text(page))}
    assert {Path(address).suffix for address in assets} == {".css", ".js", ".svg"}
    assert len(page.content) + sum(assets.values()) < FIRST_VISIT, (len(page.content), assets)


def test_next_pair_comes_in_six_kilobytes(client, study):
    enrol(client, study)
    page = text(client.get(url(study, "judge"), headers=GZIP))
    action = re.search(r'id="answer"[^>]* action="([^"]+)"', page)
    assert action is not None

    following = client.post(action[1], ANSWERS[study.protocol.lower()], headers=HTMX | GZIP)

    assert 'id="answer"' in text(following)
    assert action[1] not in text(following)
    assert len(following.content) < NEXT_PAIR


def test_style_sheets_and_scripts_load_nothing_more(client, study):
    enrol(client, study)

    for address in assets_of(client.get(url(study, "judge")).content.decode()):
        found: Any = finders.find(address.removeprefix("/static/"))
        if address.endswith(".css"):
            assert not re.findall(r"url\(|@import", Path(found).read_text("utf-8"))
