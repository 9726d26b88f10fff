"""All files of a release that are neither rows nor results: study, prompts, texts, Croissant."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from annotation.choices import Protocol
from annotation.judges.prompts import ALONE, PAIR
from annotation.studies import queries as study_queries
from annotation.studies.rubric import Rubric, rubric_of
from completions.files.toml import content_hash
from completions.llm import prompts
from ranking.boards import as_text, board_of, refusal_of
from ranking.choices import FitState
from ranking.judgments.method import code_version
from ranking.released.tables import (
    ABOUT,
    FLAG,
    FORMAT,
    INTEGER,
    LIST,
    MAPPING,
    NUMBER,
    REBUILD,
    TABLES,
    Field,
    ReleaseTable,
)
from ranking.released.writing import document, sha256, sha256_of
from ranking.releases import card
from ranking.releases.card import ABOUT_SCORES, SIMULATED, URLS, title
from ranking.releases.contents import Contents

VERSION = "0.1.0"


def files(
    contents: Contents,
    counts: Mapping[str, int],
    results: Mapping[str, Mapping[str, list[str]]],
    folder: Path,
) -> dict[str, str]:
    """Return the texts of all files that are no tables and no results, by their paths.

    ``counts`` are the rows of each table, ``results`` the names of analyses and of figures of
    each fit; the tables are in ``folder`` already.
    """
    tables = [table for table in TABLES if table.name in counts]
    hashes = {table.path: sha256_of(folder / table.path) for table in tables}
    leaves = {table.name: leaves_of(folder / table.path, table) for table in tables}
    study = contents.study
    content = study_queries.content_of(study)
    prompts = _prompts(contents, rubric_of(content))
    about = _about(contents, counts, results) | {
        "prompts": {name: sha256(text.encode()) for name, text in sorted(prompts.items())},
        "protocol_hash": study.protocol_hash,
        "rubric_hash": content_hash(content["rubric"]),
    }
    boards = {
        fit.key: as_text(board_of(fit)) for fit in contents.fits if fit.state == FitState.DONE
    }
    return {
        "study/protocol.json": document(content),
        "study/rubric.json": document(content["rubric"]),
        "study/plan.json": document(_plan(contents)),
        **{f"prompts/{name}": text for name, text in prompts.items()},
        ABOUT: document(about),
        "croissant.json": document(croissant(about, hashes, leaves)),
        "README.md": card.readme(about, boards),
        "LICENSE": card.licence(about),
        "NOTICE": card.notice(about),
        **({} if contents.shares_text else {REBUILD: card.rebuilding(about)}),
    }


def _about(
    contents: Contents,
    counts: Mapping[str, int],
    results: Mapping[str, Mapping[str, list[str]]],
) -> dict[str, Any]:
    release, study = contents.release, contents.study
    return {
        "format": FORMAT,
        "key": release.key,
        "version": release.version,
        "study": study.slug,
        "title": study.title,
        "as_of": release.as_of.isoformat(),
        "is_simulated": release.is_simulated,
        "licence": release.licence,
        "dataset": {
            "slug": study.dataset.slug,
            "name": study.dataset.name,
            "licence": study.dataset.licence,
            "is_authored": study.dataset.is_authored,
            "has_text": contents.shares_text,
            "languages": contents.languages,
        },
        "fits": [
            {
                "fit": fit.key,
                "pool": fit.pool,
                "context_set": fit.context_set,
                "state": FitState.REFUSED if refusal_of(fit) else fit.state,
                "n_judgments": fit.n_judgments,
                "is_simulated": fit.is_simulated,
            }
            | {what: sorted(names) for what, names in results[fit.key].items()}
            for fit in contents.fits
        ],
        "counts": dict(counts) | {"rationales": len(contents.rationales)},
        "notes": list(contents.notes),
        "code_version": code_version(),
        "software": f"HEART {VERSION}",
    }


def _plan(contents: Contents) -> dict[str, Any]:
    study = contents.study
    return {
        "study": study.slug,
        "name": study.name,
        "version": study.version,
        "protocol": study.protocol,
        "plan": study.plan,
        **({"seed": study.disclosed_seed} if study.disclosed_seed else {}),
        "judgments_per_pair": study.judgments_per_pair,
        "pairs_per_context": study.pairs_per_context,
        "session_length": study.session_length,
        "is_simulated": study.is_simulated,
    }


def _prompts(contents: Contents, rubric: Rubric) -> dict[str, str]:
    """Return the fixed part of all prompts, as their hashes are made of it."""
    is_alone = contents.study.protocol == Protocol.LIKERT
    judge = ALONE if is_alone else PAIR
    supporter = prompts.load_prompt(prompts.SUPPORTER)
    return {"judge.txt": judge.fixed(rubric), f"{supporter.name}.txt": supporter.text}


CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
TYPES = {INTEGER: "sc:Integer", NUMBER: "sc:Float", FLAG: "sc:Boolean"}
Leaves = Mapping[str, Mapping[tuple[str, ...], str]]
"""Of each nested field of a table: where its values stand, and their type."""


def leaves_of(path: Path, table: ReleaseTable) -> Leaves:
    """Return what stands in the nested fields of a file of rows.

    Readers of Croissant take plain values alone, so each value inside a field is named.
    """
    nested = [one.name for one in table.fields if one.kind in (MAPPING, LIST)]
    found: dict[str, dict[tuple[str, ...], set[str]]] = {name: {} for name in nested}
    if nested:
        with path.open(encoding="utf-8") as file:
            for row in map(json.loads, file):
                for name in nested:
                    for place, kind in _leaves(row[name]):
                        found[name].setdefault(place, set()).add(kind)
    return {
        name: {place: _type(kinds) for place, kinds in sorted(places.items())}
        for name, places in found.items()
    }


def _leaves(value: object, place: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the place and the type of each plain value; those of a list share one place."""
    if isinstance(value, dict):
        for name, one in value.items():
            yield from _leaves(one, (*place, name))
    elif isinstance(value, list):
        for one in value:
            yield from _leaves(one, place)
    elif value is not None:
        yield (
            place,
            {bool: "sc:Boolean", int: "sc:Integer", float: "sc:Float"}.get(type(value), "sc:Text"),
        )


def _type(kinds: set[str]) -> str:
    """Return the type of values of these types."""
    if kinds == {"sc:Integer", "sc:Float"}:
        return "sc:Float"
    return next(iter(kinds)) if len(kinds) == 1 else "sc:Text"


def croissant(
    about: Mapping[str, Any], hashes: Mapping[str, str], leaves: Mapping[str, Leaves]
) -> dict[str, Any]:
    """Return the description.

    ``hashes`` are the SHA-256 of the files of tables by their paths, and ``leaves`` what stands
    in nested fields, by the names of the tables.
    """
    tables = [table for table in TABLES if about["counts"].get(table.name)]
    said = f"{SIMULATED} " if about["is_simulated"] else ""
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": about["key"],
        "alternateName": title(about),
        "description": f"{said}{title(about)}. {ABOUT_SCORES}",
        "license": URLS[about["licence"]],
        "citeAs": f"{title(about)}, {about['key']}",
        "datePublished": about["as_of"][:10],
        "version": f"{about['version']}.0.0",
        "distribution": [_file(table, hashes[table.path]) for table in tables],
        "recordSet": [_records(table, leaves[table.name]) for table in tables],
    }


def _file(table: ReleaseTable, digest: str) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": table.path,
        "name": f"{table.name}.jsonl",
        "description": table.says,
        "contentUrl": table.path,
        "encodingFormat": "application/jsonlines",
        "sha256": digest,
    }


def _records(table: ReleaseTable, leaves: Leaves) -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": table.name,
        "name": table.name,
        "description": table.says,
        "key": {"@id": f"{table.name}/{table.key}"},
        "field": [_field(table, one, leaves.get(one.name, {})) for one in table.fields],
    }


def _field(
    table: ReleaseTable, one: Field, leaves: Mapping[tuple[str, ...], str]
) -> dict[str, Any]:
    identity = f"{table.name}/{one.name}"
    plain = {
        "@type": "cr:Field",
        "@id": identity,
        "name": one.name,
        "description": one.says,
        "dataType": TYPES.get(one.kind, "sc:Text"),
        "source": _source(table, one),
    }
    repeated = {"repeated": True} if one.kind == LIST else {}
    if () in leaves or not leaves:  # a list of plain values, or nothing inside
        return plain | repeated | {"dataType": leaves.get((), plain["dataType"])}
    del plain["source"], plain["dataType"]
    inside = [
        {
            "@type": "cr:Field",
            "@id": f"{identity}/{'/'.join(place)}",
            "name": ".".join(place),
            "dataType": kind,
            "source": _source(table, one, place),
        }
        for place, kind in leaves.items()
    ]
    return plain | repeated | {"subField": inside}


def _source(table: ReleaseTable, one: Field, place: tuple[str, ...] = ()) -> dict[str, Any]:
    found: dict[str, Any] = {
        "fileObject": {"@id": table.path},
        "extract": {"column": one.name},
    }
    if place:
        path = ".".join("'" + name.replace("'", "\\'") + "'" for name in place)
        found["transform"] = {"jsonPath": path}
    return found
