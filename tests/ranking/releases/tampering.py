"""Ways to tamper with a release, and what its verification says of each."""

import json
import os
import shutil

from ranking.released.writing import SUMS
from tests.helpers.released import change_document, change_row

AGREEMENT = "analyses/{fit}/agreement.json"


def rows(folder, name):
    text = (folder / f"data/{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def document(folder, name):
    return json.loads((folder / name).read_text(encoding="utf-8"))


def one_fit(folder):
    """Return the key of a fit with analyses."""
    return next(fit["fit"] for fit in document(folder, "release.json")["fits"] if fit["analyses"])


def agreement_of(folder):
    return AGREEMENT.format(fit=one_fit(folder))


def change_verdict(folder):
    verdict = rows(folder, "judgments")[0]["verdict"]
    change_row(folder, "judgments", verdict=-verdict)


def change_rating(folder):
    def raise_first(content):
        content["ratings"][0]["elo"] += 0.001

    change_document(folder, f"ratings/{one_fit(folder)}.json", raise_first)


def change_agreement(folder):
    def raise_first(content):
        table = content["findings"]["tables"][0]
        row = table["rows"][0]
        place = next(n for n, cell in enumerate(row) if isinstance(cell, float))
        row[place] += 0.0001

    change_document(folder, agreement_of(folder), raise_first)


def change_checksum(folder):
    text = (folder / SUMS).read_text(encoding="utf-8")
    (folder / SUMS).write_text(("1" if text[0] == "0" else "0") + text[1:], encoding="utf-8")


def change_rubric(folder):
    def reword(content):
        content["dimensions"][0]["asks"] += " Perhaps?"

    change_document(folder, "study/rubric.json", reword)


def changed(table, **fields):
    """Return what changes fields of the first row of a table."""
    return lambda folder: change_row(folder, table, **fields)


def deleted(name):
    """Return what deletes a file; ``{fit}`` in its name is a fit with analyses."""
    return lambda folder: (folder / name.format(fit=one_fit(folder))).unlink()


def claim_texts(folder):
    """Say that the texts of contexts are there although they are not."""
    change_document(folder, "release.json", lambda one: one["dataset"].update(has_text=True))


def relabel(**labels):
    """Return what says of an analysis that it is another one, which nobody computes again."""

    return lambda folder: change_document(
        folder, agreement_of(folder), lambda content: content.update(labels)
    )


def simulate_plan(folder):
    change_document(folder, "study/plan.json", lambda plan: plan.update(is_simulated=True))


def add_file(folder):
    (folder / "data/extra.jsonl").write_text("{}\n")


def said(**fields):
    """Return what changes what a release says of itself; None takes it out."""

    def change(about):
        about.update(fields)
        for name in [one for one in fields if fields[one] is None]:
            del about[name]

    return lambda folder: change_document(folder, "release.json", change)


def nest_analysis(folder):
    (folder / agreement_of(folder)).write_text("[" * 50_000)


def add_fit(folder):
    shutil.copy(folder / f"ratings/{one_fit(folder)}.json", folder / "ratings/fit-0.json")


def swap_side(folder):
    side = rows(folder, "judgments")[0]["side_of_first"]
    change_row(folder, "judgments", side_of_first={"A": "B", "B": "A"}[side])


def asked(name, number):
    """Return what changes one number of how every fit was computed."""

    def change(folder):
        for path in (folder / "ratings").iterdir():
            change_document(folder, f"ratings/{path.name}", lambda one: one["method"].update(new))

    new = {name: number}
    return change


def rename_fit(folder):
    def rename(about):
        about["fits"][0]["fit"] = "\x1b[2J\u202e"

    change_document(folder, "release.json", rename)


def rewritten(name, rewrite):
    """Return what changes the bytes of a file."""
    return lambda folder: (folder / name).write_bytes(rewrite((folder / name).read_bytes()))


def replaced(name, make):
    """Return what puts something that is no file in the place of a file."""

    def change(folder):
        (folder / name).unlink()
        make(folder / name)

    return change


ABOUT, ROWS = "release.json", "data/judgments.jsonl"
NO_JSON = "cannot be read (it is no JSON at line 1, sign 1)"
NO_KIND = "release.json: lacks what every release has: "
ODD = {
    "nothing": (rewritten(ABOUT, lambda _: b""), NO_JSON),
    "a byte order mark": (rewritten(ABOUT, b"\xef\xbb\xbf".__add__), NO_JSON),
    "another encoding": (
        rewritten(ABOUT, lambda text: text.decode().encode("utf-16")),
        "cannot be read (byte 1 is not UTF-8)",
    ),
    "no number": (
        rewritten(ABOUT, lambda text: text.replace(b'"version": 1', b'"version": NaN')),
        "cannot be read (NaN is not a JSON number)",
    ),
    "a number too large to be one": (
        rewritten(ABOUT, lambda text: text.replace(b'"version": 1', b'"version": -1e400')),
        "cannot be read (-1e400 is too large a number)",
    ),
    "a name twice": (
        rewritten(ABOUT, lambda text: text.replace(b"{", b'{"key": "x", ', 1)),
        "cannot be read (a name stands twice in an object)",
    ),
    "deep": (rewritten(ABOUT, lambda _: b"[" * 100_000), "(its values are nested too deep)"),
    "a deep row": (rewritten(ROWS, lambda _: b"[" * 100_000), "(its values are nested too deep)"),
    "a row twice named": (
        rewritten(ROWS, lambda text: text.replace(b"{", b'{"verdict":1,', 1)),
        "line 1: cannot be read (a name stands twice in an object)",
    ),
    "draws without an end": (
        asked("replicates", 10**9),
        ".json: method.replicates is over 100,000, the most there is",
    ),
    "halves without an end": (asked("splits", 10**9), ".json: method.splits is over 1,000, the"),
    "a command for the terminal in a fit": (rename_fit, "ratings/\x1b[2J"),
    "a list of keys": (said(key=[1]), f"{NO_KIND}key is no text"),
    "a word for a flag": (said(is_simulated="yes"), f"{NO_KIND}is_simulated is no flag"),
    "a list of counts": (said(counts=[]), f"{NO_KIND}counts is no map"),
    "fits in a map": (said(fits={}), f"{NO_KIND}fits is no list"),
    "half a sign": (said(key="\ud800", title=1), f"{NO_KIND}title is no text"),
    "a command for the terminal": (said(key="\x1b[31m", title=1), f"{NO_KIND}title is no text"),
    "a prompt elsewhere": (said(prompts={"../../x": ""}), "../../x: cannot be read (there is no"),
    "an endless number": (
        changed("systems", intelligence_index=float("1e999")),
        "is not a JSON number",
    ),
    "half a sign of a text": (
        changed("completions", text="\ud800"),
        "hashes: cannot be checked: a",
    ),
    "a word for points": (changed("judgments", marks={"H": "x"}), "cannot be checked: a value is"),
    "a bare plan": (
        rewritten("study/plan.json", lambda _: b"{}"),
        "data: cannot be checked: there is no 'is_simulated'",
    ),
}
IS_NO_FILE = "is a pipe or a device and not a file"
NO_FILES = {
    "a pipe": (replaced(ROWS, os.mkfifo), IS_NO_FILE),
    "a pipe for the sums": (replaced(SUMS, os.mkfifo), IS_NO_FILE),
    "a pipe too many": (lambda folder: os.mkfifo(folder / "x"), IS_NO_FILE),
    "a link without an end": (replaced(ABOUT, lambda at: at.symlink_to("/dev/zero")), "is a link"),
    "a link to a folder": (lambda folder: (folder / "x").symlink_to("."), "x: is a link"),
    "a large file without content": (
        lambda folder: os.truncate(folder / ABOUT, 200_000_000),
        "release.json: cannot be read (it has more than 100,000,000 bytes)",
    ),
    "a long line without content": (
        lambda folder: os.truncate(folder / ROWS, 50_000_000),
        "data/judgments.jsonl: line 121: cannot be read (it is no JSON",
    ),
}


ANOTHER_MESSAGE = changed("completions", text="Another message.")
A_SIMULATED_RATER = changed("raters", is_simulated=True)
NAMED = {
    # what is changed: by what, and what is said of it
    "a rating": (change_rating, ".json: ratings["),
    "a checksum": (change_checksum, "its checksum is not the one"),
    "a deleted file": (deleted("data/exclusions.jsonl"), "data/exclusions.jsonl"),
    "an added file": (add_file, "data/extra.jsonl"),
    "a side": (swap_side, "data/judgments.jsonl"),
}
STAND_IN = ".json: is_simulated is False, and what was judged"
FORGED = {
    "a judgment": (change_verdict, "ratings/"),
    "a rating": (change_rating, ".elo: is "),
    "an agreement figure": (change_agreement, "agreement.json: findings.tables"),
    "a word of the rubric": (change_rubric, "is not the one of rubric_hash"),
    "a message": (ANOTHER_MESSAGE, "the text is not the one of its content_hash"),
    "a deleted file": (deleted("data/exclusions.jsonl"), "data/exclusions.jsonl: cannot be read"),
    "a deleted analysis": (deleted(AGREEMENT), "agreement.json: cannot be read"),
    "a nested analysis": (nest_analysis, "agreement.json: cannot be read"),
    "a deleted figure": (deleted("figures/{fit}/ratings.svg"), "ratings.svg: is not in the folder"),
    "a deleted licence": (deleted("LICENSE"), "LICENSE: is not in the folder"),
    "an added file": (add_file, "data/extra.jsonl: release.json tells of no such file"),
    "an added fit": (add_fit, "ratings/fit-0.json: release.json tells of no such file"),
    "no fits": (said(fits=None), "release.json: lacks fits"),
    "no key": (said(key=None), "release.json: lacks key"),
    "no version of the code": (said(code_version=None), "release.json: lacks code_version"),
    "fits that are none": (said(fits=["fit-0"]), "release.json: lacks what every release has"),
    "a number of fits": (said(fits=7), "release.json: lacks what every release has"),
    "an exclusion": (changed("raters", is_excluded=True), "counts, and must not"),
    "a hidden message": (changed("completions", text=None), "the text is null"),
    "hidden turns": (claim_texts, "the turns are null"),
    "another kind": (relabel(kind="LIKERT"), "agreement.json: kind is 'LIKERT'"),
    "another fit": (relabel(fit="fit-0"), "agreement.json: fit is 'fit-0'"),
    "an analysis of stand-ins": (relabel(is_simulated=True), "agreement.json: is_simulated is"),
    "a simulated system": (changed("systems", is_simulated=True), STAND_IN),
    "a simulated context": (changed("contexts", is_simulated=True), STAND_IN),
    "a simulated judge": (changed("judges", is_simulated=True), STAND_IN),
    "a simulated rater": (A_SIMULATED_RATER, STAND_IN),
    "a simulated rater of a real study": (A_SIMULATED_RATER, "counts, and must not"),
    "an exclusion of nobody": (changed("judges", is_excluded=True), "not what exclusions say last"),
    "an unknown scale": (changed("judgments", protocol="X", verdict=99), "protocol 'X' is not"),
    "another weight of a strong verdict": (asked("much", 3), "method.much is 3, and study/"),
    "narrower intervals": (asked("level", 0.5), "method.level is 0.5, and study/protocol.json"),
    "other masses of people": (asked("masses", [9, 1]), "method.masses is [9, 1], and study/"),
    "a simulated study": (simulate_plan, "release.json: is_simulated is False"),
}
