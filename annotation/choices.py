"""Enumerations stored by the annotation app."""

from django.db import models


class Protocol(models.TextChoices):
    """What an evaluator is asked, and on which scale the answer is given."""

    PREFERENCE = "PREFERENCE", "Five points, from A much better to B much better"
    RUBRIC = "RUBRIC", "Forced choice with a strength of 1 to 5, rubric in view"


class StudyState(models.TextChoices):
    """Where a study stands."""

    DRAFT = "DRAFT", "Draft"
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
    GENERIC = "GENERIC", "Another platform"


class RaterState(models.TextChoices):
    """Where a rater stands."""

    ACTIVE = "ACTIVE", "Judging"
    FINISHED = "FINISHED", "Saw the whole session"
    STOPPED = "STOPPED", "Stopped early"
    WITHDRAWN = "WITHDRAWN", "Withdrew"


class CheckKind(models.TextChoices):
    """What a quality check plants."""

    ATTENTION = "ATTENTION", "One message is plainly worse"
    GOLD = "GOLD", "Experts know the better message"
    REPEAT = "REPEAT", "The same pair again"
    SWAP = "SWAP", "The same pair, sides exchanged"


class Expected(models.TextChoices):
    """Which completion of a quality check is known to be better."""

    FIRST = "FIRST", "The first completion"
    SECOND = "SECOND", "The second completion"
