"""Judgments as other tools write them: recognised by their columns, and put into ours. Pure."""

import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Row = Mapping[str, Any]
OURS = ("context_id", "system_a", "system_b", "winner")
FIRST, SECOND, TIE = "a", "b", "tie"
_WORDS = {
    FIRST: "a model_a left first response_1 response_a system_a",
    SECOND: "b model_b right second response_2 response_b system_b",
    TIE: "tie tie_bothbad bothbad both_bad both_good equal same draw",
    "": "error nan none",
}
_SIDES = {"": ""} | {word: one for one, words in _WORDS.items() for word in words.split()}
_CONTEXTS = (
    *("context_id", "question_id", "instance_id", "item_id", "item", "comparison", "id"),
    *("instruction", "prompt", "question"),
)
_RATERS = (
    "rater_id",
    "rater",
    "judge",
    "annotator",
    "judge_hash",
    "user",
    "user_id",
    "completed_by",
)
_FIRSTS = ("system_a", "model_a", "model_left", "left_model", "model_1", "generator_1")
_SECONDS = ("system_b", "model_b", "model_right", "right_model", "model_2", "generator_2")
_EVEN = 1.5
"""AlpacaEval's preference between 1 and 2 that favours neither; it once wrote 0 for it."""


@dataclass(frozen=True)
class Layout:
    """How one tool writes judgments: what tells it, and the judgments in one of its rows."""

    name: str
    is_it: Callable[[Row], bool]
    judgments: Callable[[Row], Iterator[dict[str, Any]]]
    says: str
    """Which of its columns become which of ours, for people."""


def layout_of(row: Row, layouts: "Sequence[Layout]") -> Layout | None:
    """Return the first of the layouts that a row is in, or None."""
    return next((one for one in layouts if one.is_it(row)), None)


def side(value: object, first: object = None, second: object = None) -> str | None:
    """Return who won in our words; None for a word that says nothing of it.

    The winner may be named by side, in any case, or by the name of a system.
    """
    word = spelled(value)
    if word and word == spelled(first) != spelled(second):
        return FIRST
    if word and word == spelled(second) != spelled(first):
        return SECOND
    if word not in _SIDES:
        word = "_".join("".join(one if one.isalnum() else " " for one in word.casefold()).split())
    return _SIDES.get(word)


def spelled(value: object) -> str:
    """Return a name or a word without spaces around it, in the one spelling of its accents."""
    return "" if value is None else unicodedata.normalize("NFC", str(value)).strip()


def _has(*names: str) -> Callable[[Row], bool]:
    return lambda row: all(name in row for name in names)


def _first_of(row: Row, names: Sequence[str]) -> Any:  # noqa: ANN401 (any JSON)
    return next((row[name] for name in names if row.get(name) not in (None, "")), None)


def _common(row: Row) -> dict[str, Any]:
    """Return the columns that a judgment has whoever won: all of the row's, and ours."""
    context, turn = _first_of(row, _CONTEXTS), row.get("turn")
    rater = _first_of(row, _RATERS)
    if isinstance(rater, list):  # FastChat names a judge with its prompt
        rater = rater[0] if rater else None
    if isinstance(rater, dict):
        rater = rater.get("email") or rater.get("id")
    if not (context is None or turn is None or isinstance(context, (list, dict))):
        context = f"{context}, turn {turn}"
    common = {**row, "context_id": context}
    return common if rater is None else common | {"rater_id": rater}


def _judgment(
    row: Row, first: object, second: object, winner: object, **more: object
) -> dict[str, Any]:
    """Return a judgment whose winner is a word of ours."""
    return _common(row) | {"system_a": first, "system_b": second, "winner": winner} | more


def _told(row: Row, first: object, second: object, word: object, **more: object) -> dict[str, Any]:
    """Return a judgment whose winner is told in the tool's words, or by a system's name."""
    found = side(word, first, second)
    return _judgment(row, first, second, word if found is None else found, **more)


def _ours(row: Row) -> Iterator[dict[str, Any]]:
    sides = side(row["winner"]), side(row["winner"], row["system_a"], row["system_b"])
    yield {**row, "winner": next((one for one in sides if one is not None), row["winner"])}


def _battle(row: Row) -> Iterator[dict[str, Any]]:
    yield _told(row, row["model_a"], row["model_b"], row["winner"])


def _games(row: Row) -> Iterator[dict[str, Any]]:
    """Yield the two games of MT-Bench: in the second the answers are exchanged."""
    names = {"model_1": row["model_1"], "model_2": row["model_2"]}
    for key, one, two in (("g1_winner", "model_1", "model_2"), ("g2_winner", "model_2", "model_1")):
        word = spelled(row[key])
        judged = _judgment if word in (one, two) else _told
        winner = {one: FIRST, two: SECOND}.get(word, row[key])
        yield judged(row, names[one], names[two], winner, judge_kind="llm")


def _annotation(row: Row) -> Iterator[dict[str, Any]]:
    """Yield what AlpacaEval says: a preference of 1 is for the first, of 2 for the second."""
    preference, winner = row["preference"], ""
    if spelled(preference).casefold() not in ("", "nan", "none"):
        number = float(preference) or _EVEN
        if not 0 <= number - 1 <= 1:
            msg = "the preference is not between 1 and 2"
            raise ValueError(msg)
        winner = TIE if number == _EVEN else FIRST if number < _EVEN else SECOND
    yield _judgment(row, row["generator_1"], row["generator_2"], winner, judge_kind="llm")


def _tasks(row: Row) -> Iterator[dict[str, Any]]:
    """Yield one judgment for each annotation of a task of Label Studio."""
    data = row["data"]
    for annotation in row["annotations"]:
        for result in () if annotation.get("was_cancelled") else annotation.get("result") or ():
            value = result.get("value") or {}
            if chosen := value.get("selected") or _alone(value.get("choices")):
                said = {**data, "id": row.get("id"), "completed_by": annotation.get("completed_by")}
                yield _told(said, *_pair(data), chosen, asked=str(result.get("from_name") or ""))


def _responses(row: Row) -> Iterator[dict[str, Any]]:
    """Yield one judgment for each answer to the questions of a record of Argilla."""
    about = {**(row.get("fields") or {}), **(row.get("metadata") or {}), "id": row.get("id")}
    for asked, answers in row["responses"].items():
        for answer in answers:
            if answer.get("status") in ("draft", "discarded"):
                continue
            said = {**about, "user_id": answer.get("user_id")}
            yield _told(said, *_pair(about), answer.get("value"), asked=asked)


def _labels(row: Row) -> Iterator[dict[str, Any]]:
    """Yield what Potato writes: a column for each label, which is filled where it was chosen."""
    chosen = [name.rpartition(":::")[2] for name in row if ":::" in name and _is_set(row[name])]
    yield _told(row, *_pair(row), _alone(chosen) or "")


def _alone(chosen: Any) -> Any:  # noqa: ANN401 (any JSON)
    """Return the one that was chosen; several stay several, and no judgment."""
    return chosen[0] if isinstance(chosen, list) and len(chosen) == 1 else chosen


def _is_set(value: object) -> bool:
    return spelled(value).casefold() not in ("", "0", "false", "none", "nan")


def _preferred(row: Row) -> Iterator[dict[str, Any]]:
    yield _judgment(row, row["chosen_model"], row["rejected_model"], FIRST)


def _of_texts(row: Row) -> Iterator[dict[str, Any]]:
    yield _told(row, *_pair(row), row["winner"])


def _preferred_text(row: Row) -> Iterator[dict[str, Any]]:
    yield _judgment({**row, "text_a": row["chosen"], "text_b": row["rejected"]}, "", "", FIRST)


def _of_hashes(row: Row) -> Iterator[dict[str, Any]]:
    """Yield a judgment without a winner: the text preferred is told by its hash, and no side."""
    yield _judgment(row, "", "", None)


def _wide(row: Row) -> Iterator[dict[str, Any]]:
    """Yield a judgment for each cell of a table with a column a rater."""
    first, second = _pair(row)
    about = {name: row[name] for name in row if name in (*_CONTEXTS, *_FIRSTS, *_SECONDS)}
    for name in _raters_in(row):
        yield _told({**about, "rater_id": name}, first or FIRST, second or SECOND, row[name])


def _raters_in(row: Row) -> list[str]:
    others = (*_CONTEXTS, *_FIRSTS, *_SECONDS)
    return [name for name in row if name not in others and not isinstance(row[name], (list, dict))]


def _is_wide(row: Row) -> bool:
    raters = _raters_in(row)
    has_item = any(name in row for name in _CONTEXTS)
    return has_item and len(raters) > 1 and all(side(row[name]) is not None for name in raters)


def _pair(row: Row) -> tuple[Any, Any]:
    return _first_of(row, _FIRSTS), _first_of(row, _SECONDS)


def _has_lists(name: str, within: str) -> Callable[[Row], bool]:
    def is_it(row: Row) -> bool:
        return isinstance(row.get(name), (list, dict)) and within in row

    return is_it


_is_task, _is_record = _has_lists("annotations", "data"), _has_lists("responses", "fields")


def has_questions(row: Row) -> bool:
    """Say whether judgments in the row are answers to questions: each has its name in ``asked``."""
    return _is_task(row) or _is_record(row)


LAYOUTS = (
    Layout("our own columns", _has(*OURS), _ours, "columns by their names"),
    Layout(
        "battles of LMArena or FastChat",
        _has("model_a", "model_b", "winner"),
        _battle,
        "model_a as system_a, model_b as system_b, question_id as context_id, judge as rater_id",
    ),
    Layout(
        "pairs of MT-Bench",
        _has("model_1", "model_2", "g1_winner", "g2_winner"),
        _games,
        "two judgments a row, the answers exchanged in the second, by an LLM",
    ),
    Layout(
        "annotations of AlpacaEval",
        _has("generator_1", "generator_2", "preference"),
        _annotation,
        "generator_1 as system_a, generator_2 as system_b, a preference under 1.5 as a win of it, "
        "instruction as context_id, annotator as rater_id, an LLM",
    ),
    Layout(
        "tasks of Label Studio",
        _is_task,
        _tasks,
        "a judgment an annotation, left as a, the systems from data",
    ),
    Layout(
        "records of Argilla",
        _is_record,
        _responses,
        "a judgment a response, response-1 as a, the systems from metadata",
    ),
    Layout(
        "annotations of Potato",
        lambda row: "instance_id" in row and any(":::" in name for name in row),
        _labels,
        "the label that is filled as winner, instance_id as context_id, user as rater_id",
    ),
    Layout(
        "pairs of chosen and rejected",
        _has("chosen_model", "rejected_model"),
        _preferred,
        "chosen_model as system_a, which wins, and rejected_model as system_b",
    ),
    Layout(
        "a column a rater",
        _is_wide,
        _wide,
        "a judgment a cell; where no systems are named, they are called a and b",
    ),
)
"""In the order in which they are tried."""
OF_TEXTS = (
    Layout(
        "rows of our API",
        _has("comparison", "rater", "preferred"),
        _of_hashes,
        "the better text by its SHA-256, none as a tie",
    ),
    Layout(
        "pairs of texts",
        _has("winner"),
        _of_texts,
        "the winner's side by its system or its text",
    ),
    Layout(
        "pairs of texts, chosen and rejected",
        _has("chosen", "rejected"),
        _preferred_text,
        "chosen as the better text",
    ),
)
"""Those that need not name systems: what they are of is found by key and text, not ranked."""
