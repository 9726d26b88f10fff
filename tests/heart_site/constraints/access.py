"""Ways to break the rules of who may do what, and of the log."""

import datetime as dt
from functools import partial

from access.models import Member
from tests.heart_site.constraints.rules import Case, breaks, limit, once, twice, ways
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
    breaks("member_role_known", make_row, role="OTHER"),
    Case("Member.user", twice(make_row, user=make_user)),
    Case("ApiToken.secret_hash", twice(make_token_row, secret_hash="a" * 64)),
    breaks("apitoken_named_and_hashed", make_token_row, name=""),
    breaks("apitoken_named_and_hashed", make_token_row, "no beginning", prefix=""),
    breaks("apitoken_named_and_hashed", make_token_row, "no hash", secret_hash=""),
    breaks("apitoken_scopes_known", make_token_row, "none", scopes=""),
    breaks("apitoken_scopes_known", make_token_row, "unknown", scopes="read:all"),
    limit(
        "apitoken_scopes_known",
        make_token_row,
        "no spaces",
        scopes=("read:studies,read:texts", "read:studies read:texts"),
    ),
    breaks("apitoken_expires_within_a_year", make_token_row, "never valid", expires_at=NOW),
    limit(
        "apitoken_expires_within_a_year",
        make_token_row,
        "too long",
        expires_at=(NOW + dt.timedelta(days=367), NOW + dt.timedelta(days=366)),
    ),
    limit(
        "apitoken_revoked_after_made",
        make_token_row,
        revoked_at=(NOW - dt.timedelta(seconds=1), NOW),
    ),
    once(
        "idempotencykey_once_per_token",
        make_idempotency_key,
        token=make_token_row,
        key=lambda: "k",
        but="token",
    ),
    breaks("idempotencykey_names_request", make_idempotency_key, "no key", key=""),
    breaks("idempotencykey_names_request", make_idempotency_key, request_hash=""),
    limit(
        "idempotencykey_keeps_success",
        make_idempotency_key,
        "a refusal",
        status=(400, 201),
        answer=({"code": "invalid"}, {}),
    ),
    breaks("idempotencykey_keeps_success", make_idempotency_key, "no answer", status=201),
    breaks("consentevidence_kind_known", make_evidence, kind="OTHER"),
    *(
        breaks("consentevidence_says_who_to_what", make_evidence, name, **{name: ""})
        for name in ("scope", "person", "text_hash")
    ),
    Case(
        "consentevidence_once_per_text",
        twice(make_evidence, person=lambda: "1" * 64),
        twice(make_evidence),
    ),
    breaks("logentry_names_act_and_subject", make_log_entry, "no act", action=""),
    breaks("logentry_names_act_and_subject", make_log_entry, "no subject", subject=""),
    breaks("hook_has_address", make_hook, url=""),
    *ways(
        "hook_secret_until_removed",
        (make_hook, "none", {"secret": ""}),
        (make_hook, "kept", {"removed_at": NOW, "is_active": False}, {"secret": ""}),
        (make_hook, "active", {"removed_at": NOW, "secret": ""}),
    ),
    Case(
        "hookdelivery_once_per_event", twice(make_delivery, hook=make_hook, event_key=lambda: "k")
    ),
    breaks("hookdelivery_event_known", make_delivery, event="other"),
    breaks("hookdelivery_state_known", make_delivery, state="OTHER", next_attempt_at=None),
    breaks("hookdelivery_pending_has_next", make_delivery, next_attempt_at=None),
    breaks(
        "hookdelivery_pending_has_next",
        partial(make_delivery, state="ABANDONED", next_attempt_at=None),
        "claimed",
        claimed_at=NOW,
    ),
    breaks(
        "hookdelivery_delivered_with_time",
        make_delivery,
        state="DELIVERED",
        next_attempt_at=None,
        but={"delivered_at": NOW},
    ),
]
