"""Whether files, texts and external judgments of a release are those that their hashes name."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from completions.files.toml import content_hash
from ranking.release_check.bundle import Bundle, Row, UnreadableError
from ranking.release_check.shapes import SCALES
from ranking.released.files.identities import id_of
from ranking.released.files.tables import BY_NAME
from ranking.released.writing import SUMS, files_of, read_sums, sha256_of

ORIGINAL = "ORIGINAL"  # the reply in the source dialogue


def problems_of_files(folder: Path) -> Iterator[str]:
    """Yield what is wrong: a file that is missing, one too many, or another than the listed one."""
    try:
        listed = read_sums((folder / SUMS).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        yield f"{SUMS}: cannot be read ({error})"
        return
    there = set(files_of(folder)) - {SUMS}
    for name in sorted(there | listed.keys()):
        if name not in there:
            yield f"{name}: is in {SUMS} and not in the folder"
        elif name not in listed:
            yield f"{name}: is in the folder and not in {SUMS}"
        elif (folder / name).is_symlink():
            yield f"{name}: is a link and not a file"
        elif sha256_of(folder / name) != listed[name]:
            yield f"{name}: its checksum is not the one in {SUMS}"


def problems_of_hashes(bundle: Bundle) -> Iterator[str]:
    """Yield what is not what its hash says: texts, contexts, protocol, rubric, prompts."""
    yield from _texts(bundle)
    yield from _turns(bundle)
    yield from _study(bundle)
    yield from _prompts(bundle)


def _texts(bundle: Bundle) -> Iterator[str]:
    kept = set() if bundle.about["dataset"]["has_text"] else _originals(bundle)
    for number, row in enumerate(bundle.tables["completions"], start=1):
        where = f"{BY_NAME['completions'].path}: line {number}: {row['id']}"
        if row["text"] is not None and _sha256(row["text"]) != row["content_hash"]:
            yield f"{where}: the text is not the one of its content_hash"
        if row["text"] is None and not row["is_erased"] and row["system"] not in kept:
            yield f"{where}: the text is null, and neither deleted nor kept by the licence"
        if row["is_erased"] and (row["text"] or row["content_hash"]):
            yield f"{where}: was deleted, and something of it is left"


def _originals(bundle: Bundle) -> set[str]:
    """Return the systems whose texts are replies of the source dialogues."""
    return {row["slug"] for row in bundle.tables["systems"] if row["kind"] == ORIGINAL}


def _turns(bundle: Bundle) -> Iterator[str]:
    has_text = bundle.about["dataset"]["has_text"]
    for number, row in enumerate(bundle.tables["contexts"], start=1):
        where = f"{BY_NAME['contexts'].path}: line {number}: {row['key']}"
        if row["turns"] is None and has_text:
            yield f"{where}: the turns are null, and the licence does not keep them"
        if row["turns"] is not None and _of_turns(row["turns"]) != row["content_hash"]:
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


def problems_of_external(bundle: Bundle) -> Iterator[str]:
    """Yield rows that are not what their ids say, or off the scale, and wrong numbers of rows."""
    path = BY_NAME["external_judgments"].path
    batches = bundle.by_key("external_batches")
    given, once = Counter[str](), Counter[tuple[str, str, str]]()
    for number, row in enumerate(bundle.tables["external_judgments"], start=1):
        given[row["batch"]] += 1
        once[row["batch"], row["comparison"], row["rater"]] += 1
        if id_of(row) != row["id"]:
            yield f"{path}: line {number}: {row['id']} is not the row of that id: it was changed"
        if not _is_on_scale(row, batches.get(row["batch"], {})):
            yield f"{path}: line {number}: verdict {row['verdict']} is off the scale"
    for (batch, comparison, rater), n in once.items():
        if n > 1:
            yield f"{path}: {batch} has {n} verdicts of {rater} on {comparison}"
    for name, batch_row in batches.items():
        if given[name] != batch_row["n_judgments"]:
            told = f"{given[name]} judgments, and n_judgments says {batch_row['n_judgments']}"
            yield f"{BY_NAME['external_batches'].path}: {name} has {told}"


def _is_on_scale(row: Row, batch: Row) -> bool:
    scale = SCALES.get(batch.get("protocol", ""))
    if scale is None:
        return row["verdict"] is None
    return row["verdict"] is not None and scale[0] <= row["verdict"] <= scale[1]
