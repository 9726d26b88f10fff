"""Writes of writers; everything a caller may import is named here."""

from typing import TYPE_CHECKING

from access.later import names_of

if TYPE_CHECKING:
    from completions.writers.services.arriving import (
        accept_invitation,
        agree_again,
        decline_invitation,
        save_profile,
    )
    from completions.writers.services.completing import complete_message
    from completions.writers.services.emailing import queue_mail, send_writer_mails
    from completions.writers.services.importing import (
        MessageImportReport,
        import_messages,
        try_messages,
    )
    from completions.writers.services.inviting import (
        LINKED,
        CannotBeInvitedError,
        Invitations,
        invite_again,
        invite_writer,
        invite_writers,
        renew_link,
    )
    from completions.writers.services.leasing import (
        ContextTakenError,
        DatasetFrozenError,
        WriterNotActiveError,
        WritingLeaseNotFoundError,
        lease_next_context,
        lock_writer,
        release_expired_writing_leases,
        skip_context,
    )
    from completions.writers.services.leaving import (
        erase_texts,
        forget_person,
        give_work_back,
        leave,
        lock_work,
        pause_writer,
        resume_writer,
    )
    from completions.writers.services.pool import (
        MessagesTakenError,
        PoolSettings,
        configure_pool,
        freeze_dataset,
        thaw_dataset,
    )
    from completions.writers.services.pseudonyms import new_code, repeatable_code
    from completions.writers.services.review_decisions import (
        Author,
        MessageChangedError,
        MessageNotOpenError,
        NoteMissingError,
        Seen,
        WriterGoneError,
        decide_message,
        reveal_author,
    )
    from completions.writers.services.sending import (
        DraftOutdatedError,
        LookAgainError,
        MessageClosedError,
        NewVersion,
        OwnWordsMissingError,
        TrialOverError,
        Typed,
        save_draft,
        send_message,
        store_revision,
    )
    from completions.writers.services.vetting import (
        NotOnTrialError,
        RefusalNoteMissingError,
        TrialNotDoneError,
        admit_writer,
        load_vetting_dialogues,
        move_on,
        refuse_writer,
        use_vetting,
    )
else:
    __getattr__ = names_of(__name__)

__all__ = [
    "LINKED",
    "Author",
    "CannotBeInvitedError",
    "ContextTakenError",
    "DatasetFrozenError",
    "DraftOutdatedError",
    "Invitations",
    "LookAgainError",
    "MessageChangedError",
    "MessageClosedError",
    "MessageImportReport",
    "MessageNotOpenError",
    "MessagesTakenError",
    "NewVersion",
    "NotOnTrialError",
    "NoteMissingError",
    "OwnWordsMissingError",
    "PoolSettings",
    "RefusalNoteMissingError",
    "Seen",
    "TrialNotDoneError",
    "TrialOverError",
    "Typed",
    "WriterGoneError",
    "WriterNotActiveError",
    "WritingLeaseNotFoundError",
    "accept_invitation",
    "admit_writer",
    "agree_again",
    "complete_message",
    "configure_pool",
    "decide_message",
    "decline_invitation",
    "erase_texts",
    "forget_person",
    "freeze_dataset",
    "give_work_back",
    "import_messages",
    "invite_again",
    "invite_writer",
    "invite_writers",
    "lease_next_context",
    "leave",
    "load_vetting_dialogues",
    "lock_work",
    "lock_writer",
    "move_on",
    "new_code",
    "pause_writer",
    "queue_mail",
    "refuse_writer",
    "release_expired_writing_leases",
    "renew_link",
    "repeatable_code",
    "resume_writer",
    "reveal_author",
    "save_draft",
    "save_profile",
    "send_message",
    "send_writer_mails",
    "skip_context",
    "store_revision",
    "thaw_dataset",
    "try_messages",
    "use_vetting",
]
