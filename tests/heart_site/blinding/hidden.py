"""What no rater may ever receive: names, keys, hashes and times that cannot be mistaken."""

import base64
import binascii
import datetime as dt
import html
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from django.apps import apps
from django.contrib.auth.models import User
from django.contrib.staticfiles import finders
from django.db import connection

from annotation.choices import CheckKind, Expected, Purpose
from annotation.models import Comparison, Lease, QualityCheck, Rater, Study
from completions.choices import SystemKind
from completions.models import Completion, Context, Dialogue, System
from tests.helpers.factories import (
    make_comparison,
    make_completion,
    make_context,
    make_dataset,
    make_dialogue,
    make_judge,
    make_judgment,
    make_llm_judgment,
    make_quality_check,
    make_rater,
    make_system,
    make_writer,
)
from tests.helpers.visits import open_study, study_content

FIRST_KEY = 1_730_915_000
"""Every key of the rows made below begins with the same seven digits, which chance seldom makes."""
KEYS_BEGIN = str(FIRST_KEY)[:7]
MADE_AT = dt.datetime(2011, 7, 13, 4, 51, 27, tzinfo=dt.UTC)
NAMES = [
    "Zanzibar",  # a model's name, family and address
    "Quokkaland",  # people as a system
    "W0MBATLING",  # writers
    "Bandicoot",  # their addresses, and an admin
    "Numbatlike",  # a judge
    "Axolotlish",  # the dataset
    "Narwhalian",  # labels of the dialogue
    "Pangolinese",  # contexts
    "Okapi-seed",  # the seed
    "Okapi-pair",  # keys of comparisons
    "BYSTANDER",  # another rater
    "Xylophonic",  # what others wrote
]
TIMES = [
    "2011-07",
    "July 2011",
    "Jul 2011",
    "July 13",
    "04:51",
    "1310532",  # how the time of making begins as a number of seconds
]
WORDS = ["simulated", "quality check", "gold", "planted", "repeated pair"]
QUESTION = {"text": "What do you compare?", "options": ["Two messages", "Two people"], "answer": 1}
N_CONTEXTS = 8


def make_hidden_study(kind: str, **fields: Any) -> Study:
    """Store a study whose every hidden name, key and time cannot be mistaken for anything else."""
    _use_unlikely_keys()
    User.objects.create_user("bandicoot", "admin@bandicoot.example")
    dataset = make_dataset(slug="axolotlish-set", name="Axolotlish set")
    content = study_content(
        kind,
        comprehension=[QUESTION],
        screening={"pairs": 1, "min_passed": 1},
        checks={"rate": 0.2, "repeat_rate": 0.2, "gold_set": "heart-1"},
        source_guesses=2,
    )
    study = open_study(
        kind,
        n_pairs=0,
        **{"dataset": dataset, "slug": "open", "seed": "okapi-seed", "content": content} | fields,
    )
    model = make_system(
        slug="zanzibar-9b",
        name="Zanzibar 9B, simulated",
        family="zanzibar",
        model_id="openai/zanzibar-9b",
        is_simulated=True,
    )
    people = make_system(slug="quokkaland", name="Quokkaland people", kind=SystemKind.HUMAN)
    for n in range(N_CONTEXTS):
        _make_pair(study, n, model, people)
    _make_checks(study)
    _let_others_judge(study)
    return study


def secrets_of(study: Study) -> list[str]:
    """Return every string that no rater may receive, as they are in the database now."""
    hashes = [
        *Completion.objects.values_list("content_hash", flat=True),
        *Context.objects.values_list("content_hash", flat=True),
        *Dialogue.objects.values_list("content_hash", flat=True),
        study.protocol_hash,
    ]
    keys = Comparison.objects.values_list("key", flat=True)
    draw_keys = Rater.objects.values_list("draw_key", flat=True)
    return [
        *NAMES,
        *TIMES,
        *WORDS,
        KEYS_BEGIN,
        *keys,
        *draw_keys,
        *(digest[:12] for digest in hashes),
    ]


def leaks(answer: Any, secrets: list[str]) -> list[str]:
    """Return those of ``secrets`` that the answer holds, plainly or in some coding.

    A word counts where it stands alone: random tokens have four letters in a row by chance.
    """
    received = everything_in(answer).casefold()
    return [
        secret
        for secret in secrets
        if secret.casefold() in received
        and (secret not in WORDS or re.search(rf"(?<![a-z0-9]){secret}(?![a-z0-9])", received))
    ]


def everything_in(answer: Any) -> str:
    """Return all that a browser gets: status line, headers, cookies and body, also decoded.

    When a cookie expires is the time of the answer and as many seconds as it is kept, which the
    cookie says as well: at one minute of the day it would look like a time that is hidden.
    """
    cookies = re.sub(r"(?i)expires=[^;]*", "", answer.cookies.output())
    head = f"{answer.status_code} {answer.serialize_headers().decode()} {cookies}"
    plain = f"{head} {answer.content.decode()}"
    return " ".join([plain, html.unescape(plain), unquote(plain), *_decoded(plain)])


def static_files_in(answer: Any) -> set[str]:
    """Return the addresses of the files that the page loads."""
    return set(re.findall(r'(?:href|src)="(/static/[^"]+)"', answer.content.decode()))


def static_text(address: str) -> str:
    """Return what is in a static file, with its address."""
    found: Any = finders.find(address.removeprefix("/static/"))
    return f"{address} {Path(found).read_text('utf-8')}"


def _decoded(text: str) -> Iterator[str]:
    """Yield what pieces of base64 stand for, also when they were compressed, as signing does."""
    for piece in set(re.findall(r"[A-Za-z0-9_\-+/]{12,}", text)):
        padded = piece + "=" * (-len(piece) % 4)
        try:
            data = base64.b64decode(padded.replace("-", "+").replace("_", "/"), validate=True)
        except binascii.Error:
            continue
        yield data.decode("latin-1")
        try:
            yield zlib.decompress(data).decode("latin-1")
        except zlib.error:
            continue


def _use_unlikely_keys() -> None:
    """Let the next row of every table have a key that no page holds by chance."""
    tables = [User._meta.db_table]
    for app in ("annotation", "completions"):
        tables += [model._meta.db_table for model in apps.get_app_config(app).get_models()]
    with connection.cursor() as cursor:
        for table in tables:
            _count_from(cursor, table)


def _count_from(cursor: Any, table: str) -> None:
    if connection.vendor == "postgresql":
        name = f'"{table}"'
        cursor.execute("SELECT setval(pg_get_serial_sequence(%s, 'id'), %s)", [name, FIRST_KEY])
    else:
        cursor.execute("DELETE FROM sqlite_sequence WHERE name = %s", [table])
        cursor.execute("INSERT INTO sqlite_sequence VALUES (%s, %s)", [table, FIRST_KEY])


def _make_pair(study: Study, n: int, model: System, people: System) -> None:
    dialogue = make_dialogue(
        dataset=study.dataset, emotion_type="narwhalian", problem_type="narwhalian woe"
    )
    context = make_context(dialogue=dialogue, key=f"pangolinese-{n}", created_at=MADE_AT)
    writer = make_writer(
        dataset=study.dataset, code=f"W0MBATLING{n}", email=f"w{n}@bandicoot.example"
    )
    by_model = make_completion(context=context, system=model, created_at=MADE_AT)
    by_person = make_completion(context=context, system=people, writer=writer, created_at=MADE_AT)
    if study.protocol == "LIKERT":
        for m, alone in enumerate((by_model, by_person)):
            make_comparison(study=study, first=alone, key=f"okapi-pair-{n}-{m}")
    else:
        make_comparison(study=study, first=by_model, second=by_person, key=f"okapi-pair-{n}")


def _make_checks(study: Study) -> None:
    """Plant a few checks; the first completion is better, or deserves a high rating."""
    for pair in Comparison.objects.filter(study=study).order_by("pk")[:3]:
        pair.purpose, pair.slots_left = Purpose.CHECK, 0
        pair.save(update_fields=["purpose", "slots_left"])
        alone = pair.second_id is None
        make_quality_check(
            comparison=pair,
            kind=CheckKind.GOLD,
            expected=Expected.HIGH if alone else Expected.FIRST,
            dimension="E",
        )


def _let_others_judge(study: Study) -> None:
    pair = Comparison.objects.filter(study=study, purpose=Purpose.MAIN).order_by("pk")[0]
    bystander = make_rater(study=study, code="BYSTANDER01")
    verdict = None if study.protocol == "LIKERT" else 1
    make_judgment(
        comparison=pair,
        rater=bystander,
        protocol=study.protocol,
        verdict=verdict,
        rationale="Xylophonic words of another rater.",
    )
    if verdict is not None:
        judge = make_judge(slug="numbatlike", name="Numbatlike judge", family="numbatlike")
        make_llm_judgment(comparison=pair, judge=judge, rationale="Xylophonic, says Numbatlike.")


def all_keys() -> list[int]:
    """Return the keys of the rows that raters' pages are made of."""
    tables = (Completion, System, Comparison, Context, Lease, Rater, QualityCheck)
    return [key for table in tables for key in table._default_manager.values_list("pk", flat=True)]
