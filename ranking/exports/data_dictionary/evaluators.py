"""Columns of raters."""

from ranking.exports.data_dictionary.columns import STUDY_COLUMNS, Table, count, flag, text, time

RATERS = Table(
    "raters",
    "Raters",
    "One row per rater, by pseudonym. Names of platforms, links and time zones are never in it.",
    (
        text("rater", "the pseudonym"),
        flag("is_simulated", "the rater is a program"),
        flag("is_team", "the rater is of the team, who can read results of an open study"),
        text(
            "state",
            "where the rater stands",
            *("ACTIVE", "FINISHED", "STOPPED", "SCREENED", "FULL", "WITHDRAWN"),
        ),
        text(
            "stage",
            "part of the session an active rater is in",
            *("COMPREHENSION", "SCREENING", "JUDGING"),
        ),
        text(
            "platform",
            "where the rater came from",
            *("GUEST", "PROLIFIC", "MTURK", "CONNECT", "GENERIC"),
        ),
        time("entered_at", "when the rater agreed to take part"),
        time("ended_at", "when the session was over"),
        flag("data_kept", "false: the rater withdrew and asked that nothing counts"),
        count("n_judgments", "answers given, revisions included"),
        count("n_checks", "planted pairs answered"),
        count("n_skipped", "pairs skipped"),
        flag("is_excluded", "the newest decision leaves the rater out of the analysis"),
        text("exclusion", "rule and version of the newest decision"),
        text("exclusion_reason", "the reason given with it"),
        time("decided_at", "when it was made"),
        *STUDY_COLUMNS,
    ),
)
