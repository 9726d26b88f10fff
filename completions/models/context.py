"""Candidates, the contexts that are made of them, and rewrites to adversarial ones."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from completions.choices import (
    CallState,
    EscalationProfile,
    Review,
    RewriteState,
    RewriteStep,
    Stratum,
)
from completions.models.dataset import Dataset, Dialogue
from completions.models.shapes import ProviderCall
from completions.models.system import Assistant


class ContextQuerySet(models.QuerySet["Context"]):
    """Contexts, by what a person decided about them."""

    def in_use(self) -> "ContextQuerySet":
        """Return those from which something new may be made: all that nobody dropped."""
        return self.exclude(review=Review.DROPPED)

    def dropped(self) -> "ContextQuerySet":
        """Return those that a person dropped."""
        return self.filter(review=Review.DROPPED)


class Context(models.Model):
    """A dialogue history that ends on a seeker turn."""

    dataset = models.ForeignKey(Dataset, models.PROTECT, related_name="contexts")
    dialogue = models.ForeignKey(Dialogue, models.PROTECT, related_name="contexts")
    key = models.CharField(
        max_length=24, unique=True, help_text="Stable public name, derived from the content."
    )
    turn_index = models.PositiveSmallIntegerField(
        help_text="Index, in the dialogue's merged turns, of the last seeker turn."
    )
    turns = models.JSONField(help_text='[{"role": "seeker" | "supporter", "text": ...}, ...].')
    stratum = models.CharField(max_length=12, choices=Stratum, default=Stratum.REGULAR)
    escalation_profile = models.CharField(max_length=12, choices=EscalationProfile, blank=True)
    source_context = models.ForeignKey(
        "self", models.PROTECT, null=True, blank=True, related_name="rewrites"
    )
    provenance = models.JSONField(
        default=dict, blank=True, help_text="Selection seed, signals, transformation, prompt hash."
    )
    content_hash = models.CharField(max_length=64)
    is_simulated = models.BooleanField(
        default=False, help_text="Seeker turns come from the offline provider: for trying out only."
    )
    review = models.CharField(max_length=8, choices=Review, default=Review.PENDING)
    review_note = models.TextField(blank=True)
    # Signed, so that the constraint below, and not a nameless one, refuses to go under zero.
    slots_left = models.SmallIntegerField(
        help_text="How many human completions are still wanted and not leased."
    )
    created_at = models.DateTimeField()

    objects = ContextQuerySet.as_manager()

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["dialogue", "turn_index"],
                condition=Q(stratum=Stratum.REGULAR),
                name="context_regular_once_per_turn",
            ),
            models.UniqueConstraint(
                fields=["source_context", "escalation_profile"],
                name="context_rewritten_once_per_profile",
            ),
            models.CheckConstraint(
                condition=Q(stratum__in=Stratum.values), name="context_stratum_known"
            ),
            models.CheckConstraint(
                # An adversarial context made elsewhere was imported whole: no source of ours.
                condition=Q(
                    stratum=Stratum.ADVERSARIAL,
                    escalation_profile__in=EscalationProfile.values,
                    source_context__isnull=False,
                )
                | Q(escalation_profile="", source_context__isnull=True),
                name="context_rewrite_has_profile_and_source",
            ),
            models.CheckConstraint(
                condition=Q(review__in=Review.values), name="context_review_known"
            ),
            models.CheckConstraint(
                condition=Q(slots_left__gte=0), name="context_slots_not_negative"
            ),
        )
        indexes = (
            models.Index(
                fields=["dataset", "id"], condition=Q(slots_left__gt=0), name="context_open"
            ),
        )

    def __str__(self) -> str:
        return self.key


class Candidate(models.Model):
    """A couplet as the screening rules found it: suitable, or removed with every reason."""

    dialogue = models.ForeignKey(Dialogue, models.PROTECT, related_name="candidates")
    turn_index = models.PositiveSmallIntegerField(
        help_text="Index, in the dialogue's merged turns, of the seeker turn."
    )
    rules = models.CharField(max_length=64, help_text="Version and hash of the rules applied.")
    findings = models.JSONField(
        default=list, blank=True, help_text='[{"rule": ..., "turn": ..., "start": ..., "end": ...}]'
    )
    reasons = models.JSONField(
        default=list, blank=True, help_text="Names of the rules that remove it, in their order."
    )
    is_suitable = models.BooleanField(help_text="Carries a signal, and no rule removes it.")
    screened_at = models.DateTimeField()

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["dialogue", "turn_index"], name="candidate_once_per_turn"
            ),
            models.CheckConstraint(condition=~Q(rules=""), name="candidate_rules_given"),
        )
        indexes = (
            models.Index(
                fields=["dialogue"], condition=Q(is_suitable=True), name="candidate_suitable"
            ),
        )

    def __str__(self) -> str:
        return f"#{self.pk} {self.dialogue_id}:{self.turn_index}"

    @property
    def text(self) -> str:
        """What the seeker says in the turn."""
        return str(self.dialogue.turns[self.turn_index]["text"])


class ScreeningCall(ProviderCall):
    """The call by which one assistant gives its opinion of one candidate."""

    candidate = models.ForeignKey(Candidate, models.PROTECT, related_name="screening_calls")
    assistant = models.ForeignKey(Assistant, models.PROTECT, related_name="screening_calls")
    opinion = models.JSONField(
        default=dict, blank=True, help_text="Signals, disqualifiers and whether it would keep it."
    )

    class Meta(ProviderCall.Meta):
        constraints: ClassVar[tuple[models.BaseConstraint, ...]] = (
            *ProviderCall.Meta.constraints,
            models.UniqueConstraint(
                fields=["candidate", "assistant"], name="screeningcall_once_per_candidate"
            ),
            models.CheckConstraint(
                condition=(Q(state=CallState.DONE) & ~Q(opinion={}))
                | (~Q(state=CallState.DONE) & Q(opinion={})),
                name="screeningcall_done_with_opinion",
            ),
        )

    def __str__(self) -> str:
        return f"#{self.pk} {self.assistant_id} on {self.candidate_id}"


class Rewrite(models.Model):
    """The seeker of one regular context made hostile after one profile: wanted, done or dropped."""

    source_context = models.ForeignKey(Context, models.PROTECT, related_name="planned_rewrites")
    profile = models.CharField(max_length=12, choices=EscalationProfile)
    rewriter = models.ForeignKey(Assistant, models.PROTECT, related_name="rewrites")
    hostility_rater = models.ForeignKey(Assistant, models.PROTECT, related_name="rated_rewrites")
    target = models.JSONField(help_text="Wanted hostility of each seeker turn, 0 to 10.")
    measured = models.JSONField(
        default=list, blank=True, help_text="Hostility of each seeker turn as last rated."
    )
    state = models.CharField(max_length=8, choices=RewriteState, default=RewriteState.PLANNED)
    reason = models.TextField(blank=True, help_text="Why it was dropped.")
    context = models.OneToOneField(
        Context, models.PROTECT, null=True, blank=True, related_name="rewrite"
    )
    created_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["source_context", "profile"], name="rewrite_once_per_profile"
            ),
            models.CheckConstraint(
                condition=Q(profile__in=EscalationProfile.values), name="rewrite_profile_known"
            ),
            models.CheckConstraint(
                condition=Q(state=RewriteState.PLANNED, ended_at__isnull=True)
                | (
                    Q(state__in=[RewriteState.ACCEPTED, RewriteState.DROPPED])
                    & Q(ended_at__isnull=False)
                ),
                name="rewrite_ended_with_time",
            ),
            models.CheckConstraint(
                condition=Q(state=RewriteState.ACCEPTED, context__isnull=False)
                | (~Q(state=RewriteState.ACCEPTED) & Q(context__isnull=True)),
                name="rewrite_accepted_with_context",
            ),
            models.CheckConstraint(
                condition=(Q(state=RewriteState.DROPPED) & ~Q(reason=""))
                | (~Q(state=RewriteState.DROPPED) & Q(reason="")),
                name="rewrite_dropped_with_reason",
            ),
        )

    def __str__(self) -> str:
        return f"#{self.pk} {self.source_context_id} {self.profile}"


class RewriteCall(ProviderCall):
    """One question to an assistant about a rewrite: write it, or rate the hostility of one."""

    rewrite = models.ForeignKey(Rewrite, models.PROTECT, related_name="calls")
    step = models.CharField(max_length=5, choices=RewriteStep)
    round = models.PositiveSmallIntegerField(help_text="From 1; a refused answer opens the next.")
    problems = models.JSONField(
        default=list, blank=True, help_text="What the checks found wrong with the answer."
    )

    class Meta(ProviderCall.Meta):
        constraints: ClassVar[tuple[models.BaseConstraint, ...]] = (
            *ProviderCall.Meta.constraints,
            models.UniqueConstraint(
                fields=["rewrite", "step", "round"], name="rewritecall_once_per_round"
            ),
            models.CheckConstraint(
                condition=Q(step__in=RewriteStep.values), name="rewritecall_step_known"
            ),
            models.CheckConstraint(condition=Q(round__gte=1), name="rewritecall_round_from_one"),
        )

    def __str__(self) -> str:
        return f"#{self.pk} {self.step} {self.round} of {self.rewrite_id}"
