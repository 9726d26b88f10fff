"""Writes of the completions app; everything a caller may import is named here."""

from typing import TYPE_CHECKING

from access.later import names_of

if TYPE_CHECKING:
    from completions.services.adding import SystemTakenError, add_system
    from completions.services.arriving import (
        accept_invitation,
        agree_again,
        decline_invitation,
        save_profile,
    )
    from completions.services.assistants import OFFLINE, assistant_for
    from completions.services.authoring import (
        AuthoredTalk,
        DatasetTakenError,
        StoredTalk,
        store_authored_talks,
    )
    from completions.services.bringing import (
        BringReport,
        OutcomeChangedError,
        bring_messages,
        try_messages,
    )
    from completions.services.bringing_models import (
        IntakeReport,
        Kept,
        RowsRefusedError,
        bring_completions,
        try_completions,
    )
    from completions.services.budgeting import UnknownPriceError
    from completions.services.catalogue import SyncReport, sync_systems
    from completions.services.codes import new_code, repeatable_code
    from completions.services.completing import complete_message
    from completions.services.contexts import BuildReport, build_contexts
    from completions.services.covering import retry_completions
    from completions.services.deciding import (
        MessageChangedError,
        MessageNotOpenError,
        NoteMissingError,
        Seen,
        WriterGoneError,
        decide_message,
    )
    from completions.services.fixing import (
        CompletionFixedError,
        fix_completions,
        lock_sent_back,
        lock_texts,
    )
    from completions.services.forgetting import erase_texts, forget_person, lock_work
    from completions.services.freezing import freeze_dataset, thaw_dataset
    from completions.services.generating import (
        NotAModelError,
        forget_generation_claims,
        generate_completions,
        is_generation_waiting,
        plan_generation_calls,
        pull_generation,
    )
    from completions.services.going import give_work_back, leave, pause_writer, resume_writer
    from completions.services.holding import HoldReasonMissingError, decide_hold, hold_leaks
    from completions.services.importing import (
        DatasetNameError,
        ImportReport,
        StratumError,
        import_dialogues,
    )
    from completions.services.inviting import (
        LINKED,
        CannotBeInvitedError,
        Invitations,
        invite_again,
        invite_writer,
        invite_writers,
        renew_link,
    )
    from completions.services.labelling import (
        forget_labelling_claims,
        forget_labels,
        is_labelling_waiting,
        name_strategies,
        plan_strategy_calls,
        pull_labelling,
    )
    from completions.services.labelling_runs import start_labelling_run
    from completions.services.leasing import (
        ContextTakenError,
        DatasetFrozenError,
        WriterNotActiveError,
        WritingLeaseNotFoundError,
        lease_next_context,
        lock_writer,
        release_expired_writing_leases,
        skip_context,
    )
    from completions.services.mailing import queue_mail, send_writer_mails
    from completions.services.pooling import MessagesTakenError, configure_pool
    from completions.services.revealing import Author, reveal_author
    from completions.services.reviewing import review_context
    from completions.services.rewriting import (
        Assistants,
        NoSourceLeftError,
        make_adversarial_contexts,
    )
    from completions.services.running import (
        BudgetTooSmallError,
        NothingToAskError,
        RunStateError,
        cancel_run,
        finish_all_runs,
        pause_run,
        resume_run,
        retry_failed,
        start_generation_run,
    )
    from completions.services.sending import (
        DraftOutdatedError,
        LookAgainError,
        MessageClosedError,
        OwnWordsMissingError,
        TrialOverError,
        Typed,
        Version,
        save_draft,
        send_message,
        store_revision,
    )
    from completions.services.sole import AnotherAtWorkError
    from completions.services.spot_checking import (
        LabellingClosedError,
        LabellingOpenError,
        NothingToSettleError,
        NotLabelledYetError,
        TwoLabellersError,
        UnknownStrategyError,
        adjudicate,
        draw_sample,
        label_item,
    )
    from completions.services.systems import register_simulated_system
    from completions.services.vetting import (
        NotOnTrialError,
        RefusalNoteMissingError,
        TrialNotDoneError,
        admit_writer,
        load_vetting_talks,
        move_on,
        refuse_writer,
        use_vetting,
    )
else:
    __getattr__ = names_of(__name__)

__all__ = [
    "LINKED",
    "OFFLINE",
    "AnotherAtWorkError",
    "Assistants",
    "Author",
    "AuthoredTalk",
    "BringReport",
    "BudgetTooSmallError",
    "BuildReport",
    "CannotBeInvitedError",
    "CompletionFixedError",
    "ContextTakenError",
    "DatasetFrozenError",
    "DatasetNameError",
    "DatasetTakenError",
    "DraftOutdatedError",
    "HoldReasonMissingError",
    "ImportReport",
    "IntakeReport",
    "Invitations",
    "Kept",
    "LabellingClosedError",
    "LabellingOpenError",
    "LookAgainError",
    "MessageChangedError",
    "MessageClosedError",
    "MessageNotOpenError",
    "MessagesTakenError",
    "NoSourceLeftError",
    "NotAModelError",
    "NotLabelledYetError",
    "NotOnTrialError",
    "NoteMissingError",
    "NothingToAskError",
    "NothingToSettleError",
    "OutcomeChangedError",
    "OwnWordsMissingError",
    "RefusalNoteMissingError",
    "RowsRefusedError",
    "RunStateError",
    "Seen",
    "StoredTalk",
    "StratumError",
    "SyncReport",
    "SystemTakenError",
    "TrialNotDoneError",
    "TrialOverError",
    "TwoLabellersError",
    "Typed",
    "UnknownPriceError",
    "UnknownStrategyError",
    "Version",
    "WriterGoneError",
    "WriterNotActiveError",
    "WritingLeaseNotFoundError",
    "accept_invitation",
    "add_system",
    "adjudicate",
    "admit_writer",
    "agree_again",
    "assistant_for",
    "bring_completions",
    "bring_messages",
    "build_contexts",
    "cancel_run",
    "complete_message",
    "configure_pool",
    "decide_hold",
    "decide_message",
    "decline_invitation",
    "draw_sample",
    "erase_texts",
    "finish_all_runs",
    "fix_completions",
    "forget_generation_claims",
    "forget_labelling_claims",
    "forget_labels",
    "forget_person",
    "freeze_dataset",
    "generate_completions",
    "give_work_back",
    "hold_leaks",
    "import_dialogues",
    "invite_again",
    "invite_writer",
    "invite_writers",
    "is_generation_waiting",
    "is_labelling_waiting",
    "label_item",
    "lease_next_context",
    "leave",
    "load_vetting_talks",
    "lock_sent_back",
    "lock_texts",
    "lock_work",
    "lock_writer",
    "make_adversarial_contexts",
    "move_on",
    "name_strategies",
    "new_code",
    "pause_run",
    "pause_writer",
    "plan_generation_calls",
    "plan_strategy_calls",
    "pull_generation",
    "pull_labelling",
    "queue_mail",
    "refuse_writer",
    "register_simulated_system",
    "release_expired_writing_leases",
    "renew_link",
    "repeatable_code",
    "resume_run",
    "resume_writer",
    "retry_completions",
    "retry_failed",
    "reveal_author",
    "review_context",
    "save_draft",
    "save_profile",
    "send_message",
    "send_writer_mails",
    "skip_context",
    "start_generation_run",
    "start_labelling_run",
    "store_authored_talks",
    "store_revision",
    "sync_systems",
    "thaw_dataset",
    "try_completions",
    "try_messages",
    "use_vetting",
]
