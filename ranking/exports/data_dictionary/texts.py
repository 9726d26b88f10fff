"""Columns of what is judged: contexts, completions, comparisons."""

from ranking.exports.data_dictionary.columns import (
    STUDY_COLUMNS,
    Column,
    Kind,
    Table,
    count,
    flag,
    system,
    text,
    time,
)

LICENCE = "empty where the dataset's licence does not let it be passed on"
STRATA = ("REGULAR", "ADVERSARIAL")

CONTEXTS = Table(
    "contexts",
    "Contexts",
    "One row per context that the study compares texts of, by its key.",
    (
        text("context", "stable public name, derived from the content"),
        text("content_hash", "hash of the turns"),
        text("dialogue", "hash of the source dialogue: contexts of one depend on each other"),
        text("dataset", "name of the dataset"),
        text("licence", "licence of the dataset, as its import said"),
        text("stratum", "whether the talk is as found, or rewritten to be hostile", *STRATA),
        text("escalation_profile", "how the seeker turns hostile, if rewritten"),
        text("source_context", "the context that was rewritten, if it was"),
        flag("is_simulated", "the offline provider wrote the seeker"),
        text("review", "what a person decided about it", "PENDING", "KEPT", "DROPPED"),
        text("language", "language of the dialogue, as a BCP 47 tag"),
        text("emotion_type", "the seeker's emotion, as normalised"),
        text("problem_type", "the seeker's problem, as normalised"),
        count("turn_index", "index of the last turn shown in the dialogue", unit="from 0"),
        count("n_turns", "how many turns there are", unit="turns"),
        text("situation", f"the situation in a few words; {LICENCE}"),
        Column(
            "turns",
            Kind.JSON,
            f"the turns: a list of objects with role (seeker, supporter) and text; {LICENCE}",
        ),
        flag("has_text", "the licence lets the texts be passed on"),
        *STUDY_COLUMNS,
    ),
)
COMPLETIONS = Table(
    "completions",
    "Completions",
    "One row per completion that the study compares, by context and hash.",
    (
        text("completion", "hash of the text"),
        text("context", "the context that it answers"),
        system("system", "slug of the system that wrote it"),
        Column(
            "kind",
            Kind.TEXT,
            "what wrote it",
            ("MODEL", "HUMAN", "ORIGINAL", "CHECK"),
            shows_system=True,
        ),
        Column("family", Kind.TEXT, "maker of the model, or empty", shows_system=True),
        flag("is_simulated", "the offline provider wrote it"),
        flag("is_erased", "its text was deleted at its writer's wish"),
        Column(
            "is_brought_in",
            Kind.BOOLEAN,
            "a model gave it elsewhere: no call of this site made it",
            ("true", "false"),
            shows_system=True,
        ),
        system("source", "of what was brought in: where it is said to be from"),
        system("model_version", "of what was brought in: the model, as is said"),
        count("n_characters", "length of the text", unit="characters"),
        text(
            "text",
            "the text; of the source's own reply, " + LICENCE + "; empty if deleted",
        ),
        *STUDY_COLUMNS,
    ),
)
COMPARISONS = Table(
    "comparisons",
    "Comparisons",
    "One row per comparison of the plan, in its order.",
    (
        text("comparison", "the pair's stable public name, derived from its content"),
        text("context", "the context's stable public name"),
        text("dialogue", "hash of the source dialogue"),
        text("stratum", "whether the talk is as found, or rewritten to be hostile", *STRATA),
        text("purpose", "a main pair, or one shown as a quality check only", "MAIN", "CHECK"),
        count("position", "seeded place in the order in which pairs are handed out", unit="from 0"),
        system("first_system", "slug of the system that wrote the first completion"),
        system("second_system", "slug of the other; empty where messages are rated alone"),
        text("first_completion", "hash of the first completion's text"),
        text("second_completion", "hash of the second's"),
        flag("is_simulated", "the seeker or one of the systems is simulated"),
        count("slots_left", "judgments by people still wanted and not handed out"),
        count("shown_first_as_a", "how often the first completion was drawn as A"),
        count("shown_first_as_b", "how often as B"),
        Column("weight", Kind.NUMBER, "how eagerly an adaptive plan hands it out", unit="relative"),
        flag("is_held", "reports, or the deletion of a text, keep it from everybody"),
        count("n_people", "judgments by people that it has, counted or not"),
        count("n_judges", "judgments by LLM judges that it has, counted or not"),
        time("held_at", "since when it is held"),
        *STUDY_COLUMNS,
    ),
)
