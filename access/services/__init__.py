"""What changes who may do what, whom the site tells of it, and the log of every act."""

from typing import TYPE_CHECKING

from access.later import names_of

if TYPE_CHECKING:
    from access.services.announcing import Happening, announce, is_awaited
    from access.services.delivering import deliver, seconds_to_next
    from access.services.evidence import Agreed, keep_evidence
    from access.services.hooks import (
        Asked,
        HookStateError,
        TooManyHooksError,
        add_hook,
        remove_hook,
        resend,
        send_test,
        set_active,
    )
    from access.services.idempotency import (
        Answer,
        KeyReusedError,
        answer_once,
        forget_idempotency_keys,
    )
    from access.services.log import record
    from access.services.members import (
        LastOwnerError,
        MemberRefusedError,
        NewMember,
        NoMemberError,
        add_member,
        change_role,
        note_password_link,
        remove_member,
        reset_second_factor,
    )
    from access.services.sign_in import (
        end_sessions,
        forget_where_signed_in,
        note_failed_sign_in,
        note_locked_sign_in,
        note_password,
        note_second_factor,
    )
    from access.services.tokens import TokenRefusedError, Wanted, make_token, note_use, revoke_token
else:
    __getattr__ = names_of(__name__)

__all__ = [
    "Agreed",
    "Answer",
    "Asked",
    "Happening",
    "HookStateError",
    "KeyReusedError",
    "LastOwnerError",
    "MemberRefusedError",
    "NewMember",
    "NoMemberError",
    "TokenRefusedError",
    "TooManyHooksError",
    "Wanted",
    "add_hook",
    "add_member",
    "announce",
    "answer_once",
    "change_role",
    "deliver",
    "end_sessions",
    "forget_idempotency_keys",
    "forget_where_signed_in",
    "is_awaited",
    "keep_evidence",
    "make_token",
    "note_failed_sign_in",
    "note_locked_sign_in",
    "note_password",
    "note_password_link",
    "note_second_factor",
    "note_use",
    "record",
    "remove_hook",
    "remove_member",
    "resend",
    "reset_second_factor",
    "revoke_token",
    "seconds_to_next",
    "send_test",
    "set_active",
]
