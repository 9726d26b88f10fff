"""What others build on stays as it is while the house is moved: held against files.

``HEART_WRITE_GOLDEN=1 python -m pytest tests/guards/test_golden.py`` writes them anew, after a
change that is meant.
"""

import argparse
import io
import json
import os
import re
from pathlib import Path

import pytest
from django.core.management import call_command, get_commands, load_command_class
from django.urls import get_resolver

from annotation.studies.protocol.files import STUDIES, load_protocol
from completions.files.toml import content_hash
from ranking.released.writing import SUMS, files_of
from tests.helpers.released import build, make_study_to_release

GOLDEN = Path(__file__).parent / "golden"
OURS = ("heart_site", "ranking", "annotation", "completions", "access")
JUDGMENTS = """context_id,system_a,system_b,winner,rater_id,strength
q1,ada,bob,a,r1,2
q1,bob,cy,tie,r2,
q2,ada,bob,b,r1,1
q2,cy,ada,b,r2,3
q3,bob,cy,a,r1,2
q3,ada,cy,a,r2,1
q4,cy,bob,a,r1,1
"""


def schema(_folder):
    """The OpenAPI schema."""
    file = io.StringIO()
    call_command("spectacular", format="openapi-json", stdout=file)
    return json.dumps(json.loads(file.getvalue()), indent=1, sort_keys=True)


def commands(_folder):
    """The words that every command of ours takes, with what is said of them."""
    ours = sorted((name, app) for name, app in get_commands().items() if app in OURS)
    return "\n".join(
        line
        for name, app in ours
        for line in words_of(load_command_class(app, name).create_parser("manage.py", name), name)
    )


def words_of(parser, name):
    yield f"{name}: {parser.description}"
    for one in parser._actions:
        if isinstance(one, argparse._SubParsersAction):
            for inner, other in one.choices.items():
                yield from words_of(other, f"{name} {inner}")
        else:
            yield f"{name} {'/'.join(one.option_strings) or one.dest}: {one.help}"


def addresses(_folder):
    """Every address, by what it is called in links."""
    return "\n".join(sorted(f"{route} {name}" for route, name in named(get_resolver())))


def named(resolver, prefix="", space=""):
    for one in resolver.url_patterns:
        route = prefix + str(one.pattern)
        if hasattr(one, "url_patterns"):
            inner = f"{space}{one.namespace}:" if one.namespace else space
            yield from named(one, route, inner)
        else:
            yield route, f"{space}{one.name or ''}"


def rank(folder):
    """A ranking of a small file."""
    file, out = folder / "judgments.csv", io.StringIO()
    file.write_text(JUDGMENTS)
    call_command("rank", str(file), "--json", "--reps", "50", stdout=out)
    found = json.loads(out.getvalue(), parse_float=lambda text: float(f"{float(text):.6g}"))
    return re.sub(r'"numerics-\w+"', '"the mark of the code"', json.dumps(found, indent=1))


def studies(_folder):
    """The hashes of the studies that are shipped."""
    return "\n".join(
        f"{path.name} {content_hash(load_protocol(path).content({}, normaliser='1'))}"
        for path in sorted(STUDIES.glob("*.toml"))
    )


def release(folder):
    """The files of a built release: the words of its documents, the fields and kinds of its data.

    Numbers, hashes and figures are of rows that come and go with the tests, and are left out.
    """
    build(make_study_to_release(), folder / "built", is_drawn=False)
    told = dict[str, dict[str, None]]()
    for name in sorted(set(files_of(folder / "built")) - {SUMS}):
        told.setdefault(masked(name), {}).update(dict.fromkeys(lines_of(folder / "built" / name)))
    return "\n\n".join(
        "\n".join((name, *(sorted(lines) if ".json" in name else lines)))
        for name, lines in told.items()
    )


def lines_of(file):
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".json":
        return kinds(json.loads(text))
    if file.suffix == ".jsonl":
        return kinds([json.loads(line) for line in text.splitlines()])
    return masked(re.sub(r"```text.*?```", "", text, flags=re.DOTALL)).splitlines()


def kinds(value, path=""):
    """Yield the path of each value in a document, with its kind."""
    if isinstance(value, dict | list):
        inner = value.items() if isinstance(value, dict) else (("[]", one) for one in value)
        for key, one in inner:
            yield from kinds(one, f"{path}.{masked(key)}")
    else:
        yield f"{path} {type(value).__name__}"


def masked(text):
    return re.sub(
        r"(?<!release/)\d+", "0", re.sub(r"\b(fit-|rel-|numerics-)?[0-9a-f]{16,}\b", "a hash", text)
    )


@pytest.mark.parametrize(
    "made",
    [
        *(schema, commands, addresses, rank, studies),
        pytest.param(release, marks=pytest.mark.django_db),
    ],
)
def test_stays_as_it_is(made, tmp_path, monkeypatch, settings):
    monkeypatch.setenv("COLUMNS", "100")
    settings.HEART_BOOTSTRAP_REPLICATES = 20
    file = GOLDEN / f"{made.__name__}.txt"
    found = made(tmp_path).rstrip() + "\n"
    if os.environ.get("HEART_WRITE_GOLDEN"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(found, encoding="utf-8")

    assert found == file.read_text(encoding="utf-8")
