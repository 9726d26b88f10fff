"""Enumerations stored by the completions app."""

from django.db import models


class SystemKind(models.TextChoices):
    """What produced a completion."""

    MODEL = "MODEL", "Language model"
    HUMAN = "HUMAN", "Human supporters"
    ORIGINAL = "ORIGINAL", "Reply of the source dialogue"
    CHECK = "CHECK", "Authored for quality checks, never ranked"


class Stratum(models.TextChoices):
    """Whether a context is as its source has it, or rewritten to be hostile."""

    REGULAR = "REGULAR", "Regular"
    ADVERSARIAL = "ADVERSARIAL", "Adversarial"


class EscalationProfile(models.TextChoices):
    """How the hostility of an adversarial context develops over its seeker turns."""

    ALWAYS_10 = "ALWAYS_10", "Hostile from the first turn"
    LINEAR_RAMP = "LINEAR_RAMP", "A steady climb"
    MID_SPIKE = "MID_SPIKE", "A sudden jump halfway"
    MID_RAMP = "MID_RAMP", "A climb that starts late"


class Review(models.TextChoices):
    """What a person decided about a context."""

    PENDING = "PENDING", "Not reviewed yet"
    KEPT = "KEPT", "Kept"
    DROPPED = "DROPPED", "Dropped: used for nothing new"


class RewriteState(models.TextChoices):
    """Where the rewriting of a context stands."""

    PLANNED = "PLANNED", "Under way"
    ACCEPTED = "ACCEPTED", "Became a context"
    DROPPED = "DROPPED", "Given up, with the reason"


class RewriteStep(models.TextChoices):
    """What a call about a rewrite asks for."""

    WRITE = "WRITE", "The seeker's turns, rewritten"
    RATE = "RATE", "How hostile each of them is"


class JobKind(models.TextChoices):
    """What a job does."""

    IMPORT = "IMPORT", "Import of dialogues"
    BUILD = "BUILD", "Choice of contexts"
    SCREEN = "SCREEN", "Second opinions"
    REWRITE = "REWRITE", "Adversarial contexts"
    CHECK = "CHECK", "Check of a model"


class JobState(models.TextChoices):
    """Where a job stands."""

    CHECKED = "CHECKED", "Checked, not started"
    WAITING = "WAITING", "Waits for a worker"
    RUNNING = "RUNNING", "Under way"
    DONE = "DONE", "Done"
    FAILED = "FAILED", "Failed"
    STOPPED = "STOPPED", "Stopped"


class WriterState(models.TextChoices):
    """Where a writer stands."""

    INVITED = "INVITED", "Invited, has not agreed yet"
    DECLINED = "DECLINED", "Declined the invitation"
    PROFILING = "PROFILING", "Agreed, has not said who they are"
    VETTING = "VETTING", "Writing trial messages"
    REFUSED = "REFUSED", "Not admitted after the trial"
    ACTIVE = "ACTIVE", "Writing"
    PAUSED = "PAUSED", "On pause"
    LEFT = "LEFT", "Left, texts stay"
    WITHDRAWN = "WITHDRAWN", "Withdrew"
    ELSEWHERE = "ELSEWHERE", "Wrote elsewhere; texts were imported"


class Background(models.TextChoices):
    """What a writer brings along: the one question of the profile."""

    CROWD = "CROWD", "Crowd worker"
    PEER = "PEER", "Peer supporter"
    CLINICIAN = "CLINICIAN", "Clinician"


class MailKind(models.TextChoices):
    """What a mail to a writer is about."""

    INVITED = "INVITED", "Invitation with the personal link"
    ADMITTED = "ADMITTED", "Admitted after the trial"
    REFUSED = "REFUSED", "Not admitted after the trial"
    RETURNED = "RETURNED", "A message came back with a note"


class MessageState(models.TextChoices):
    """Where a writer's message for a dialogue stands."""

    TRIAL = "TRIAL", "Written on trial"
    WAITING = "WAITING", "Waits for review"
    RETURNED = "RETURNED", "Sent back with a note"
    ACCEPTED = "ACCEPTED", "Accepted"
    REJECTED = "REJECTED", "Rejected"
    LAPSED = "LAPSED", "Its writer left before mending it"
    ERASED = "ERASED", "Deleted at its writer's wish"


class MessageVerdict(models.TextChoices):
    """What a reviewer decided about a message."""

    ACCEPTED = "ACCEPTED", "Accept"
    RETURNED = "RETURNED", "Send back"
    REJECTED = "REJECTED", "Reject"


class CallState(models.TextChoices):
    """Where a call to a model provider stands."""

    PENDING = "PENDING", "Waiting"
    CLAIMED = "CLAIMED", "A worker has it"
    DONE = "DONE", "Answered"
    INVALID = "INVALID", "Answered, but not usable"
    FAILED = "FAILED", "Given up"


class RunState(models.TextChoices):
    """Where a run of calls stands."""

    RUNNING = "RUNNING", "Under way"
    PAUSED = "PAUSED", "Stands still"
    CANCELLED = "CANCELLED", "Cancelled: what was waiting is given up"
    ENDED = "ENDED", "Every call has ended"


class PauseReason(models.TextChoices):
    """Why a run stands still."""

    ADMIN = "ADMIN", "An administrator paused it"
    BUDGET = "BUDGET", "The next call might cost more than is left"
    REFUSED = "REFUSED", "The provider takes no question of ours"


class Presence(models.TextChoices):
    """Whether a text shows what is looked for: a strategy of support, a theme."""

    PRESENT = "PRESENT", "Present"
    ABSENT = "ABSENT", "Absent"
    UNCERTAIN = "UNCERTAIN", "Uncertain"


class LeaseOutcome(models.TextChoices):
    """How a lease was closed."""

    SUBMITTED = "SUBMITTED", "Answered"
    SKIPPED = "SKIPPED", "Skipped"
    EXPIRED = "EXPIRED", "Ran out"
    RELEASED = "RELEASED", "Given back"


class Way(models.TextChoices):
    """By which door a completion came in that was not made here."""

    API = "API", "Sent by a program"
    CONSOLE = "CONSOLE", "Uploaded in the console"
    COMMAND = "COMMAND", "Read by a command"


class HoldState(models.TextChoices):
    """What became of a completion that seems to give its source away."""

    HELD = "HELD", "Kept out of pairs until somebody decides"
    RELEASED = "RELEASED", "May be paired"
    DROPPED = "DROPPED", "Never to be paired"
