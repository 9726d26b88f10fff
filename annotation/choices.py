"""Enumerations stored by the annotation app."""

from django.db import models


class Protocol(models.TextChoices):
    """What an evaluator is asked, and on which scale the answer is given."""

    PREFERENCE = "PREFERENCE", "Five points, from A much better to B much better"
    RUBRIC = "RUBRIC", "Forced choice with a strength of 1 to 5, rubric in view"
    LIKERT = "LIKERT", "One message at a time, 1 to 5 on each dimension"


class PlanKind(models.TextChoices):
    """How a study decides which open pair is judged next."""

    BALANCED = "BALANCED", "Balanced: every pair as often as the others"
    ADAPTIVE = "ADAPTIVE", "Adaptive: informative pairs first, probabilities stored"


class StudyState(models.TextChoices):
    """Where a study stands."""

    DRAFT = "DRAFT", "Draft"
    LOCKED = "LOCKED", "Locked, not open yet"
    OPEN = "OPEN", "Open"
    PAUSED = "PAUSED", "Paused"
    CLOSED = "CLOSED", "Closed"


class Purpose(models.TextChoices):
    """Why a comparison is shown."""

    MAIN = "MAIN", "Counts for the ratings"
    CHECK = "CHECK", "Quality check"


class Side(models.TextChoices):
    """Where a completion is drawn on one screen."""

    A = "A", "A"
    B = "B", "B"


class Platform(models.TextChoices):
    """Where a rater came from."""

    GUEST = "GUEST", "A plain visitor"
    PROLIFIC = "PROLIFIC", "Prolific"
    MTURK = "MTURK", "Mechanical Turk"
    CONNECT = "CONNECT", "CloudResearch Connect"
    GENERIC = "GENERIC", "Another platform"


class SubmissionState(models.TextChoices):
    """Where a submission of a rater stands, by what their platform said of it last."""

    ACTIVE = "ACTIVE", "Under way"
    RETURNED = "RETURNED", "Given back on the platform"
    EXPIRED = "EXPIRED", "Out of time on the platform"
    REJECTED = "REJECTED", "Rejected on the platform"
    APPROVED = "APPROVED", "Approved on the platform"


class RaterState(models.TextChoices):
    """Where a rater stands."""

    ACTIVE = "ACTIVE", "Judging"
    FINISHED = "FINISHED", "Saw the whole session"
    STOPPED = "STOPPED", "Stopped early"
    SCREENED = "SCREENED", "Did not pass the way in"
    FULL = "FULL", "Came when nothing was left"
    WITHDRAWN = "WITHDRAWN", "Withdrew"


class RaterStage(models.TextChoices):
    """Which part of a session an active rater is in."""

    COMPREHENSION = "COMPREHENSION", "Asked whether the task is clear"
    SCREENING = "SCREENING", "In the screening round"
    JUDGING = "JUDGING", "Judging"


class CheckKind(models.TextChoices):
    """What a quality check plants; repeats of a rater's own pair are known by their lease."""

    ATTENTION = "ATTENTION", "One message is plainly out of place"
    GOLD = "GOLD", "Which message is better is known"


class Expected(models.TextChoices):
    """What is known of a quality check."""

    FIRST = "FIRST", "The first completion is better"
    SECOND = "SECOND", "The second completion is better"
    HIGH = "HIGH", "The one completion deserves a 4 or 5"
    LOW = "LOW", "The one completion deserves a 1 or 2"


class ReportKind(models.TextChoices):
    """Why a rater reported a dialogue."""

    UPSET = "UPSET", "It upset the rater"
    CONTENT = "CONTENT", "Its content should not be shown"


class ReportOutcome(models.TextChoices):
    """What an admin decided about reported content."""

    RELEASED = "RELEASED", "May be shown again"
    DROPPED = "DROPPED", "Shown to nobody any more"


class Source(models.TextChoices):
    """Who a rater guesses to have written a message."""

    PERSON = "PERSON", "A person"
    PROGRAM = "PROGRAM", "A program"
    UNSURE = "UNSURE", "Cannot tell"


class TextState(models.TextChoices):
    """How a rationale stands before a release."""

    CLEAN = "CLEAN", "Nothing found: released"
    WAITING = "WAITING", "Waits for a person"
    RELEASED = "RELEASED", "Released as it is"
    MASKED = "MASKED", "Released with passages removed"
    WITHHELD = "WITHHELD", "Withheld"


class TextOutcome(models.TextChoices):
    """What a person decides about a rationale in which something was found."""

    RELEASED = "RELEASED", "Release as it is"
    MASKED = "MASKED", "Remove the passages"
    WITHHELD = "WITHHELD", "Withhold"


class AuditState(models.TextChoices):
    """How an audit of blinding stands."""

    RUNNING = "RUNNING", "Under way"
    DONE = "DONE", "Done"
    FAILED = "FAILED", "Failed"
