"""A small dataset on its way from dialogues to contexts."""

from completions.contexts import screening
from completions.models import Candidate, Dataset, Dialogue
from tests.factories import make_candidate, make_context, make_dataset, make_dialogue

CURRENT = screening.rules_version("en")


def talk(n_couplets: int) -> list[dict[str, str]]:
    """Return turns with so many couplets that end on a supporter's turn."""
    pair = [{"role": "seeker", "text": "I feel low."}, {"role": "supporter", "text": "Since when?"}]
    return pair * n_couplets


def screen(dialogue: Dialogue, *outcomes: list[str] | str, rules: str = CURRENT) -> list[Candidate]:
    """Store a candidate per outcome: a list of reasons, "suitable", or "" for no signal."""
    return [
        make_candidate(
            dialogue=dialogue,
            turn_index=2 * place,
            rules=rules,
            reasons=outcome if isinstance(outcome, list) else [],
            is_suitable=outcome == "suitable",
        )
        for place, outcome in enumerate(outcomes)
    ]


def make_screened_dataset(slug: str = "talks") -> Dataset:
    """Three dialogues in two emotions and three cells, six candidates, two contexts."""
    dataset = make_dataset(slug=slug)
    labels = [("fear", "job"), ("fear", "exam"), ("anger", "job")]
    sad, exam, angry = (
        make_dialogue(
            dataset=dataset,
            emotion_type=emotion,
            problem_type=problem,
            turns=talk(n),
            n_utterances=10 * n,
        )
        for (emotion, problem), n in zip(labels, (3, 1, 2), strict=True)
    )
    screen(sad, "suitable", ["self-harm", "violence"], "suitable")
    screen(exam, "")
    screen(angry, ["violence"], ["violence", "too-short"])
    for turn in (0, 4):
        make_context(dialogue=sad, turn_index=turn)
    return dataset
