"""Nothing that a rater receives tells where a message comes from (ADR-0007)."""

import datetime as dt
import re
import uuid

import pytest
from django.test import Client

from annotation import urls
from annotation.choices import Side
from annotation.models import Comparison, Lease
from completions.choices import SystemKind
from completions.models import Completion, System
from tests.factories import (
    make_comparison,
    make_completion,
    make_context,
    make_dataset,
    make_dialogue,
    make_judge,
    make_llm_judgment,
    make_system,
    make_writer,
)
from tests.web.visits import ANSWERS, HTMX, consent_fields, open_study, url

pytestmark = pytest.mark.django_db

MADE_AT = dt.datetime(2011, 7, 13, 4, 51, 27, tzinfo=dt.UTC)
FIRST_KEY = 730_915_000  # every key of the rows below begins with these six digits
SECRETS = [
    "Zanzibar",
    "zanzibar",
    "Quokka",
    "quokka",
    "W0MBAT",
    "Numbat",
    "numbat",
    "axolotl",
    "narwhal",
    "pangolin",
    "okapi",
    "730915",
    "2011-07",
    "July 2011",
    "Jul 2011",
    "July 13",
    "04:51",
    "1310532",  # how the time of making begins as a number of seconds
    "simulated",
]


@pytest.fixture(params=["preference", "rubric"])
def study(request):
    """A study whose every hidden name, key and time cannot be mistaken for anything else."""
    dataset = make_dataset(slug="axolotl-set", name="axolotl set")
    study = open_study(request.param, n_pairs=0, dataset=dataset, slug="open", seed="okapi-seed")
    model = make_system(
        pk=FIRST_KEY,
        slug="zanzibar-9b",
        name="Zanzibar 9B, simulated",
        family="zanzibar",
        model_id="openai/zanzibar-9b",
        is_simulated=True,
    )
    people = make_system(
        pk=FIRST_KEY + 1, slug="quokka", name="Quokka people", kind=SystemKind.HUMAN
    )
    for n in range(4):
        dialogue = make_dialogue(pk=FIRST_KEY + n, dataset=dataset, emotion_type="narwhal")
        context = make_context(
            pk=FIRST_KEY + n, dialogue=dialogue, key=f"pangolin-{n}", created_at=MADE_AT
        )
        make_comparison(
            pk=FIRST_KEY + n,
            key=f"okapi-pair-{n}",
            study=study,
            first=make_completion(
                pk=FIRST_KEY + 2 * n, context=context, system=model, created_at=MADE_AT
            ),
            second=make_completion(
                pk=FIRST_KEY + 2 * n + 1,
                context=context,
                system=people,
                writer=make_writer(dataset=dataset, code=f"W0MBAT{n}"),
                created_at=MADE_AT,
            ),
        )
    judge = make_judge(slug="numbat", name="Numbat judge", family="numbat")
    for comparison in Comparison.objects.all():
        make_llm_judgment(comparison=comparison, judge=judge, rationale="Numbat says so.")
    return study


def everything_in(answer):
    """Return all that a browser gets: status line, headers, cookies and body."""
    cookies = answer.cookies.output()
    return f"{answer.status_code} {answer.serialize_headers().decode()} {cookies} " + (
        answer.content.decode()
    )


def walk(client, study):
    """Yield every answer of every address of the rater's pages, by both methods and both ways."""
    yield client.get(url(study, "entry"), {"pid": "77"})
    fields = consent_fields(client, study, pid="77")
    yield client.post(url(study, "consent"), fields | {"choice": "agree"})
    kind = study.protocol.lower()
    for headers in ({}, HTMX):
        for name in ("entry", "how", "judge", "take_break", "help", "stop", "withdraw", "done"):
            yield client.get(url(study, name), headers=headers)
        yield client.post(url(study, "how"), ANSWERS[kind], headers=headers)
        yield client.post(url(study, "how"), {}, headers=headers)
        token = Lease.objects.get(closed_at=None).token
        yield client.post(url(study, "submit", token), {}, headers=headers)
        yield client.post(url(study, "submit", token), ANSWERS[kind], headers=headers)
        yield client.get(url(study, "last"), headers=headers)
        yield client.get(url(study, "judge"), headers=headers)
        token = Lease.objects.get(closed_at=None).token
        yield client.post(url(study, "skip", token), {}, headers=headers)
        yield client.post(url(study, "skip", token), {"reason": "unclear"}, headers=headers)
        yield client.post(url(study, "submit", uuid.uuid4()), ANSWERS[kind], headers=headers)
        yield client.post(url(study, "skip", uuid.uuid4()), {"reason": "unclear"}, headers=headers)
    yield client.get(url(study, "resume", "R-1~x"))
    yield client.get(url(study, "judge") + "no/such/page")
    yield client.post(url(study, "stop"))
    yield client.post(url(study, "withdraw"))
    for name in ("judge", "last", "done"):
        yield client.get(url(study, name))


def test_no_answer_holds_a_name_a_key_or_a_time(client, study):
    answers = list(walk(client, study))

    assert {answer.status_code for answer in answers} == {200, 303, 404, 422}
    for answer in answers:
        received = everything_in(answer)
        assert [secret for secret in SECRETS if secret in received] == []


def test_the_walk_visits_every_address(client, study):
    visited = {answer.wsgi_request.resolver_match for answer in walk(client, study)}

    names = {match.url_name for match in visited if match and match.app_name == "annotation"}
    assert names == {pattern.name for pattern in urls.urlpatterns}


def test_the_walk_would_see_a_leak(client, study):
    Completion.objects.filter(system__slug="quokka").update(text="As W0MBAT1 I say: go on.")

    leaks = [answer for answer in walk(client, study) if "W0MBAT" in everything_in(answer)]

    assert leaks


def test_a_rater_who_is_not_enrolled_sees_no_message(study):
    client = Client()
    texts = list(Completion.objects.values_list("text", flat=True))
    for name in ("entry", "how", "judge", "last", "help", "take_break", "stop", "done"):
        page = client.get(url(study, name), follow=True).content.decode()
        assert not [text for text in texts if text in page]


def enrolled(study):
    client = Client()
    client.post(url(study, "consent"), consent_fields(client, study) | {"choice": "agree"})
    return client


def bare(page, *texts):
    """Return the page without its one-time values and without ``texts``."""
    body = page.content.decode()
    body = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "TOKEN", body)
    body = re.sub(r'name="csrfmiddlewaretoken" value="\w+"', "CSRF", body)
    for n, text in enumerate(texts):
        body = body.replace(text, f"TEXT {n}")
    return body


def test_both_sides_differ_in_their_text_alone(study):
    client = enrolled(study)
    Completion.objects.filter(system__slug="quokka").update(text="I am here. Go on, please?")
    Completion.objects.filter(system__slug="zanzibar-9b").update(text="That is hard. What helps?")
    texts = "I am here. Go on, please?", "That is hard. What helps?"
    client.get(url(study, "judge"))

    pages = []
    for side, order in ((Side.A, texts), (Side.B, texts[::-1])):
        Lease.objects.update(first_side=side)
        pages.append(bare(client.get(url(study, "judge")), *order))

    assert pages[0] == pages[1]
    card = '<article class="card message" aria-labelledby="{0}"><h3 id="{0}">Message {1}</h3>'
    assert card.format("a", "A") in pages[0]
    assert card.format("b", "B") in pages[0]


def test_typing_habits_of_a_source_are_not_shown(study):
    client = enrolled(study)
    System.objects.get(slug="zanzibar-9b").completions.update(
        text="**I\u2019m here** \u2014 truly\u2026\n\n* Breathe.\n* Call \u201cher\u201d."
    )

    page = client.get(url(study, "judge")).content.decode()

    assert "I&#x27;m here - truly... Breathe. Call &quot;her&quot;." in page


def test_tokens_are_random_and_unrelated(study):
    client = enrolled(study)
    tokens = []
    for _ in range(3):
        client.get(url(study, "judge"))
        tokens.append(token := Lease.objects.get(closed_at=None).token)
        client.post(url(study, "skip", token), {"reason": "unclear"})

    assert {token.version for token in tokens} == {4}
    assert len({str(token)[:8] for token in tokens}) == 3


def test_keys_in_the_fixture_are_the_ones_looked_for(study):
    keys = [
        *Completion.objects.values_list("pk", flat=True),
        *System.objects.values_list("pk", flat=True),
        *Comparison.objects.values_list("pk", flat=True),
    ]

    assert {str(key)[:6] for key in keys} == {"730915"}
    assert str(MADE_AT.timestamp()).startswith("1310532")
