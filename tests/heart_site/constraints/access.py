"""Ways to break the rules of who may do what, and of the log."""

import datetime as dt
from functools import partial

from access.models import Member
from tests.heart_site.constraints.rules import Case, twice
from tests.helpers.factories import NOW
from tests.helpers.factories_of_site import (
    make_delivery,
    make_hook,
    make_idempotency_key,
    make_token_row,
)
from tests.helpers.factories_written_once import make_evidence, make_log_entry, make_user


def make_row(**fields):
    user = fields.pop("user", None) or make_user()
    return Member.objects.create(**{"user": user, "role": "ANALYST", "since": NOW} | fields)


CASES = [
    Case("member_role_known", partial(make_row, role="OTHER"), make_row),
    Case("Member.user", twice(make_row, user=make_user)),
    Case("ApiToken.secret_hash", twice(make_token_row, secret_hash="a" * 64)),
    Case("apitoken_named_and_hashed", partial(make_token_row, name=""), make_token_row),
    Case("apitoken_named_and_hashed", partial(make_token_row, prefix=""), label="no beginning"),
    Case("apitoken_named_and_hashed", partial(make_token_row, secret_hash=""), label="no hash"),
    Case("apitoken_scopes_known", partial(make_token_row, scopes=""), label="none"),
    Case("apitoken_scopes_known", partial(make_token_row, scopes="read:all"), label="unknown"),
    Case(
        "apitoken_scopes_known",
        partial(make_token_row, scopes="read:studies,read:texts"),
        partial(make_token_row, scopes="read:studies read:texts"),
        label="no spaces",
    ),
    Case(
        "apitoken_expires_within_a_year",
        partial(make_token_row, expires_at=NOW),
        label="never valid",
    ),
    Case(
        "apitoken_expires_within_a_year",
        partial(make_token_row, expires_at=NOW + dt.timedelta(days=367)),
        partial(make_token_row, expires_at=NOW + dt.timedelta(days=366)),
        label="too long",
    ),
    Case(
        "apitoken_revoked_after_made",
        partial(make_token_row, revoked_at=NOW - dt.timedelta(seconds=1)),
        partial(make_token_row, revoked_at=NOW),
    ),
    Case(
        "idempotencykey_once_per_token",
        twice(make_idempotency_key, token=make_token_row, key=lambda: "k"),
        twice(make_idempotency_key, key=lambda: "k"),
    ),
    Case("idempotencykey_names_request", partial(make_idempotency_key, key=""), label="no key"),
    Case("idempotencykey_names_request", partial(make_idempotency_key, request_hash="")),
    Case(
        "idempotencykey_keeps_success",
        partial(make_idempotency_key, status=400, answer={"code": "invalid"}),
        partial(make_idempotency_key, status=201, answer={}),
        label="a refusal",
    ),
    Case(
        "idempotencykey_keeps_success",
        partial(make_idempotency_key, status=201),
        make_idempotency_key,
        label="no answer",
    ),
    Case("consentevidence_kind_known", partial(make_evidence, kind="OTHER"), make_evidence),
    *(
        Case("consentevidence_says_who_to_what", partial(make_evidence, **{name: ""}), label=name)
        for name in ("scope", "person", "text_hash")
    ),
    Case(
        "consentevidence_once_per_text",
        twice(make_evidence, person=lambda: "1" * 64),
        twice(make_evidence),
    ),
    Case("logentry_names_act_and_subject", partial(make_log_entry, action=""), label="no act"),
    Case("logentry_names_act_and_subject", partial(make_log_entry, subject=""), label="no subject"),
    Case("hook_has_address", partial(make_hook, url="")),
    Case("hook_secret_until_removed", partial(make_hook, secret=""), make_hook, "none"),
    Case(
        "hook_secret_until_removed",
        partial(make_hook, removed_at=NOW, is_active=False),
        partial(make_hook, removed_at=NOW, is_active=False, secret=""),
        "kept",
    ),
    Case(
        "hook_secret_until_removed", partial(make_hook, removed_at=NOW, secret=""), label="active"
    ),
    Case(
        "hookdelivery_once_per_event", twice(make_delivery, hook=make_hook, event_key=lambda: "k")
    ),
    Case("hookdelivery_event_known", partial(make_delivery, event="other")),
    Case("hookdelivery_state_known", partial(make_delivery, state="OTHER", next_attempt_at=None)),
    Case("hookdelivery_pending_has_next", partial(make_delivery, next_attempt_at=None)),
    Case(
        "hookdelivery_pending_has_next",
        partial(make_delivery, state="ABANDONED", next_attempt_at=None, claimed_at=NOW),
        partial(make_delivery, state="ABANDONED", next_attempt_at=None),
        "claimed",
    ),
    Case(
        "hookdelivery_delivered_with_time",
        partial(make_delivery, state="DELIVERED", next_attempt_at=None),
        partial(make_delivery, state="DELIVERED", next_attempt_at=None, delivered_at=NOW),
    ),
]
