"""The study, its prompts, and what a reader needs: everything that is neither rows nor results."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from annotation.choices import Protocol
from annotation.judges.prompts import ALONE, PAIR
from annotation.studies import selectors
from annotation.studies.rubric import Rubric, rubric_of
from completions.files.toml import content_hash
from completions.llm import prompts
from ranking.boards import text as boards_text
from ranking.boards.queries import board_of
from ranking.choices import FitState
from ranking.judgments.code import code_version
from ranking.released.files import card
from ranking.released.files.croissant import croissant, leaves_of
from ranking.released.files.names import ABOUT, REBUILD
from ranking.released.files.tables import FORMAT, TABLES
from ranking.released.writing import document, sha256, sha256_of
from ranking.releases.building.contents import Contents

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
    content = selectors.content_of(study)
    prompts = _prompts(contents, rubric_of(content))
    about = _about(contents, counts, results) | {
        "prompts": {name: sha256(text.encode()) for name, text in sorted(prompts.items())},
        "protocol_hash": study.protocol_hash,
        "rubric_hash": content_hash(content["rubric"]),
    }
    boards = {
        fit.key: boards_text.as_text(board_of(fit))
        for fit in contents.fits
        if fit.state == FitState.DONE
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
                "state": fit.state,
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
