"""The tables of a release in Croissant, the format in which programs find their way in data."""

from collections.abc import Mapping
from typing import Any

from ranking.releases.card import ABOUT_SCORES, SIMULATED, URLS, title
from ranking.releases.tables import FLAG, INTEGER, NUMBER, TABLES, Field, ReleaseTable

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


def croissant(about: Mapping[str, Any], hashes: Mapping[str, str]) -> dict[str, Any]:
    """Return the description; ``hashes`` are the SHA-256 of the files of tables by their paths."""
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
        "recordSet": [_records(table) for table in tables],
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


def _records(table: ReleaseTable) -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": table.name,
        "name": table.name,
        "description": table.says,
        "key": {"@id": f"{table.name}/{table.key}"},
        "field": [_field(table, one) for one in table.fields],
    }


def _field(table: ReleaseTable, one: Field) -> dict[str, Any]:
    return {
        "@type": "cr:Field",
        "@id": f"{table.name}/{one.name}",
        "name": one.name,
        "description": one.says,
        "dataType": TYPES.get(one.kind, "sc:Text"),
        "source": {"fileObject": {"@id": table.path}, "extract": {"column": one.name}},
    }
