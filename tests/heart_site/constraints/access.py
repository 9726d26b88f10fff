"""Ways to break the rules of who may do what, and of the log."""

import datetime as dt

from access.models import Member
from tests.heart_site.constraints.rules import breaks, given, known, limit, once, once_within, ways
from tests.helpers.factories import NOW
from tests.helpers.factories_written_once import make_user


def make_row(**fields):
    user = fields.pop("user", None) or make_user()
    return Member.objects.create(**{"user": user, "role": "ANALYST", "since": NOW} | fields)


CASES = [
    breaks("member_role_known", of=make_row, role="OTHER"),
    once("Member.user", of=make_row, user=make_user),
    once("ApiToken.secret_hash", secret_hash="a" * 64),
    *given("apitoken_named_and_hashed", "name", "prefix", "secret_hash"),
    breaks("apitoken_scopes_known", "none", scopes=""),
    breaks("apitoken_scopes_known", "unknown", scopes="read:all"),
    limit(
        "apitoken_scopes_known",
        "no spaces",
        scopes=("read:studies,read:texts", "read:studies read:texts"),
    ),
    breaks("apitoken_expires_within_a_year", "never valid", expires_at=NOW),
    limit(
        "apitoken_expires_within_a_year",
        "too long",
        expires_at=(NOW + dt.timedelta(days=367), NOW + dt.timedelta(days=366)),
    ),
    limit("apitoken_revoked_after_made", revoked_at=(NOW - dt.timedelta(seconds=1), NOW)),
    once("idempotencykey_once_per_token", "token", key=lambda: "k", but="token"),
    *given("idempotencykey_names_request", "key", "request_hash"),
    limit(
        "idempotencykey_keeps_success",
        "a refusal",
        status=(400, 201),
        answer=({"code": "invalid"}, {}),
    ),
    breaks("idempotencykey_keeps_success", "no answer", status=201),
    *known("consentevidence_kind"),
    *given("consentevidence_says_who_to_what", "scope", "person", "text_hash"),
    once_within("consentevidence_once_per_text", {"person": "1" * 64}),
    *given("logentry_names_act_and_subject", "action", "subject"),
    breaks("hook_has_address", url=""),
    *ways(
        "hook_secret_until_removed",
        ({}, "none", {"secret": ""}),
        ({}, "kept", {"removed_at": NOW, "is_active": False}, {"secret": ""}),
        ({}, "active", {"removed_at": NOW, "secret": ""}),
    ),
    once("hookdelivery_once_per_event", "hook", event_key=lambda: "k"),
    *known("hookdelivery_event"),
    breaks("hookdelivery_state_known", state="OTHER", next_attempt_at=None),
    breaks("hookdelivery_pending_has_next", next_attempt_at=None),
    breaks(
        "hookdelivery_pending_has_next",
        "claimed",
        of={"state": "ABANDONED", "next_attempt_at": None},
        claimed_at=NOW,
    ),
    breaks(
        "hookdelivery_delivered_with_time",
        state="DELIVERED",
        next_attempt_at=None,
        but={"delivered_at": NOW},
    ),
]
