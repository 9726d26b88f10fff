"""Writes of the completions app; everything a caller may import is named here."""

from completions.services.arriving import accept_invitation
from completions.services.assistants import OFFLINE, assistant_for
from completions.services.authoring import (
    AuthoredTalk,
    DatasetTakenError,
    StoredTalk,
    store_authored_talks,
)
from completions.services.codes import new_code, repeatable_code
from completions.services.contexts import BuildReport, build_contexts
from completions.services.generating import (
    NotAModelError,
    forget_generation_claims,
    generate_completions,
    is_generation_waiting,
    plan_generation_calls,
)
from completions.services.holding import HoldReasonMissingError, decide_hold, hold_leaks
from completions.services.importing import (
    DatasetNameError,
    ImportReport,
    StratumError,
    import_dialogues,
)
from completions.services.inviting import invite_writer
from completions.services.leasing import (
    ContextTakenError,
    WriterNotActiveError,
    WritingLeaseNotFoundError,
    lease_next_context,
    release_expired_writing_leases,
    skip_context,
)
from completions.services.log import record
from completions.services.reviewing import review_context
from completions.services.rewriting import (
    Assistants,
    NoSourceLeftError,
    make_adversarial_contexts,
)
from completions.services.sending import OwnWordsMissingError, save_draft, submit_completion
from completions.services.sole import AnotherAtWorkError
from completions.services.systems import register_simulated_system

__all__ = [
    "OFFLINE",
    "AnotherAtWorkError",
    "Assistants",
    "AuthoredTalk",
    "BuildReport",
    "ContextTakenError",
    "DatasetNameError",
    "DatasetTakenError",
    "HoldReasonMissingError",
    "ImportReport",
    "NoSourceLeftError",
    "NotAModelError",
    "OwnWordsMissingError",
    "StoredTalk",
    "StratumError",
    "WriterNotActiveError",
    "WritingLeaseNotFoundError",
    "accept_invitation",
    "assistant_for",
    "build_contexts",
    "decide_hold",
    "forget_generation_claims",
    "generate_completions",
    "hold_leaks",
    "import_dialogues",
    "invite_writer",
    "is_generation_waiting",
    "lease_next_context",
    "make_adversarial_contexts",
    "new_code",
    "plan_generation_calls",
    "record",
    "register_simulated_system",
    "release_expired_writing_leases",
    "repeatable_code",
    "review_context",
    "save_draft",
    "skip_context",
    "store_authored_talks",
    "submit_completion",
]
