"""Whether every text is the one that its hash names."""

import hashlib
import json
from collections.abc import Iterator
from typing import Any

from completions.files.toml import content_hash
from ranking.release_check.bundle import Bundle, UnreadableError
from ranking.released.files.tables import BY_NAME


def problems_of_hashes(bundle: Bundle) -> Iterator[str]:
    """Yield what is not what its hash says: texts, contexts, protocol, rubric, prompts."""
    yield from _texts(bundle)
    yield from _study(bundle)
    yield from _prompts(bundle)


def _texts(bundle: Bundle) -> Iterator[str]:
    for number, row in enumerate(bundle.tables["completions"], start=1):
        where = f"{BY_NAME['completions'].path}: line {number}: {row['id']}"
        if row["text"] is not None and _sha256(row["text"]) != row["content_hash"]:
            yield f"{where}: the text is not the one of its content_hash"
        if row["is_erased"] and (row["text"] or row["content_hash"]):
            yield f"{where}: was deleted, and something of it is left"
    for number, row in enumerate(bundle.tables["contexts"], start=1):
        if row["turns"] is not None and _of_turns(row["turns"]) != row["content_hash"]:
            where = f"{BY_NAME['contexts'].path}: line {number}: {row['key']}"
            yield f"{where}: the turns are not those of its content_hash"


def _of_turns(turns: list[Any]) -> str:
    """Return the hash by which the site knows turns: of their JSON, without spaces or escapes."""
    return _sha256(json.dumps(turns, ensure_ascii=False, separators=(",", ":")))


def _study(bundle: Bundle) -> Iterator[str]:
    protocol, rubric = bundle.document("study/protocol.json"), bundle.document("study/rubric.json")
    about = bundle.about
    if content_hash(protocol) != about["protocol_hash"]:
        yield "study/protocol.json: is not the one of protocol_hash in release.json"
    if content_hash(rubric) != about["rubric_hash"]:
        yield "study/rubric.json: is not the one of rubric_hash in release.json"
    if protocol.get("rubric") != rubric:
        yield "study/rubric.json: is not the rubric in study/protocol.json"
    seed = bundle.document("study/plan.json").get("seed")
    if seed is not None and _sha256(str(seed)) != protocol.get("seed_sha256"):
        yield "study/plan.json: the seed is not the one of seed_sha256 in study/protocol.json"
    others = {row["protocol_hash"] for row in bundle.tables["judgments"]} - {about["protocol_hash"]}
    for other in sorted(others):
        yield f"{BY_NAME['judgments'].path}: judgments name another protocol_hash: {other}"


def _prompts(bundle: Bundle) -> Iterator[str]:
    for name, digest in sorted(bundle.about["prompts"].items()):
        try:
            text = (bundle.folder / "prompts" / name).read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            msg = f"prompts/{name}: cannot be read ({error})"
            raise UnreadableError(msg) from error
        if _sha256(text) != digest:
            yield f"prompts/{name}: is not the one of its hash in release.json"
        if name == "judge.txt":
            yield from _rubric_in(text, bundle)


def _rubric_in(text: str, bundle: Bundle) -> Iterator[str]:
    """Look for what the rubric asks in the prompt of the judges."""
    for dimension in bundle.document("study/rubric.json").get("dimensions", []):
        if dimension["asks"] not in text:
            yield f"prompts/judge.txt: does not ask what the rubric asks of {dimension['key']}"


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
