"""Keys of preference pairs for training."""

from ranking.exports.data_dictionary.columns import (
    STUDY_COLUMNS,
    Column,
    Kind,
    Table,
    count,
    flag,
    system,
    text,
)

MESSAGES = "a list of objects with role and content"
PREFERENCES = Table(
    "preferences",
    "Preference pairs",
    "One line per comparison of which one completion is preferred; JSON lines alone.",
    (
        Column("prompt", Kind.JSON, f"the talk so far: {MESSAGES}; the seeker is the user"),
        Column("chosen", Kind.JSON, f"the preferred completion: {MESSAGES}"),
        Column("rejected", Kind.JSON, f"the other: {MESSAGES}"),
        text("context", "the context's stable public name"),
        text("dialogue", "hash of the source dialogue"),
        text("split", "part; a source dialogue is in one alone", "train", "validation", "test"),
        text("comparison", "the pair's stable public name"),
        Column(
            "agreement",
            Kind.NUMBER,
            "share of the evaluators' votes that are for the chosen",
            unit="0 to 1",
        ),
        Column(
            "margin",
            Kind.NUMBER,
            "votes for the chosen less those for the other, as a share of all",
            unit="0 to 1",
        ),
        count("n_judgments", "judgments that it rests on"),
        count("n_evaluators", "people and judges that it rests on; each has one vote"),
        Column("votes_chosen", Kind.NUMBER, "votes for the chosen", unit="votes"),
        Column("votes_rejected", Kind.NUMBER, "votes for the other", unit="votes"),
        Column("votes_tied", Kind.NUMBER, "votes for neither", unit="votes"),
        text("pool", "whose judgments", "HUMAN", "LLM", "COMBINED"),
        system("chosen_system", "slug of the system that wrote the chosen"),
        system("rejected_system", "slug of the other"),
        text("chosen_completion", "hash of the chosen text"),
        text("rejected_completion", "hash of the other"),
        text("licence", "licence of the dataset, as its import said"),
        flag("is_simulated", "the talk, a system, a rater or a judge of it is simulated"),
        *STUDY_COLUMNS,
    ),
    is_nested=True,
)
