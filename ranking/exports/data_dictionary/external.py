"""Columns of judgments made elsewhere."""

from ranking.exports.data_dictionary.columns import (
    PER_DIMENSION,
    STUDY_COLUMNS,
    Table,
    count,
    flag,
    system,
    text,
    time,
)

EXTERNAL = Table(
    "external",
    "Judgments made elsewhere",
    "One row per verdict of another lab's rater, also of batches that were left out. They are no "
    "judgments of the study: nothing of it rests on them.",
    (
        text("source", "name of the lab that made it"),
        text("reference", "the lab's name of the batch"),
        text("url", "page of the lab, or about the data"),
        text("licence", "of these judgments, as the lab says"),
        text("collected_from", "first day of collecting, ISO 8601"),
        text("collected_until", "last day of collecting, ISO 8601"),
        flag("is_simulated", "the lab's raters are programs"),
        flag("is_excluded", "the newest decision leaves the batch out"),
        text("rater", "code of the lab's rater, within the batch alone"),
        text("comparison", "the pair's stable public name, derived from its content"),
        text("context", "the context's stable public name"),
        text("dialogue", "hash of the source dialogue"),
        text("stratum", "whether the talk is as found, or rewritten", "REGULAR", "ADVERSARIAL"),
        text("purpose", "a main pair, or one shown as a quality check only", "MAIN", "CHECK"),
        system("first_system", "slug of the system that wrote the first completion"),
        system("second_system", "slug of the other"),
        text("first_completion", "hash of the first completion's text"),
        text("second_completion", "hash of the second's; empty where messages are rated alone"),
        count(
            "verdict",
            "the preference, positive when the first completion is ahead",
            unit="points of the study's scale",
        ),
        count(
            f"mark_{PER_DIMENSION}",
            "per dimension of the rubric: as the verdict; in a likert study the points",
            unit="points",
        ),
        time("judged_at", "when, if the lab says"),
        time("received_at", "when the batch came"),
        *STUDY_COLUMNS,
    ),
)
