"""The example of a batch in docs/api.md is taken, and answered as the page says."""

import json
import re
from pathlib import Path

import pytest
from django.test import Client

from access.choices import Scope
from tests.helpers.factories import make_context, make_dataset, make_dialogue, make_system
from tests.helpers.factories_of_site import bearing, make_secret

PAGE = (Path(__file__).resolve().parents[3] / "docs/api.md").read_text(encoding="utf-8")
((ADDRESS, KEY, SENT, ANSWERED),) = re.findall(
    r'curl "https://[^/]+(/api/[^"]+)" .*?Idempotency-Key: ([^"]+)" -d \'\n(.*?)\'\n(.*?)```',
    PAGE,
    re.DOTALL,
)


@pytest.mark.django_db
def test_the_site_takes_the_example_and_answers_as_the_page_says():
    make_system(slug="ash", name="Ash")
    dataset = make_dataset(slug="talks")
    for row in json.loads(SENT)["completions"]:
        make_context(dialogue=make_dialogue(dataset=dataset), key=row["context"])
    headers = bearing(make_secret(Scope.WRITE_COMPLETIONS)) | {"Idempotency-Key": KEY}

    answer = Client().post(ADDRESS, SENT, content_type="application/json", headers=headers)

    said, found = json.loads(ANSWERED), answer.json()
    assert answer.status_code == 201
    for one in (said, found):
        for row in one["completions"]:
            assert isinstance(row.pop("id"), int)  # the page has those of an empty site
    assert found == said
