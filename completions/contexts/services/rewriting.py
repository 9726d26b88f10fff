"""Make adversarial contexts: plan rewrites, have them written, checked and rated, keep or drop."""

import datetime as dt
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db.models import QuerySet

from access.log import record
from completions import llm
from completions.choices import CallState, RewriteState, RewriteStep, Stratum
from completions.contexts import adversarial, questions, rewrite_display
from completions.contexts.services.rewrite_planning import (
    SOURCE_DROPPED,
    Assistants,
    ask_for,
    drop,
    plan,
    settle,
    take_up_refused,
)
from completions.dialogues.context_extraction import digest, turns_hash
from completions.llm.prompts import Prompt
from completions.models import Assistant, Context, Dataset, Rewrite, RewriteCall
from completions.runs import pulling
from completions.runs.services import asking, calling
from completions.runs.services.asking import ModelAnswer
from completions.runs.services.calling import TRIES, Claim, Clock, Question
from completions.runs.services.exclusive import sole_worker

ROUNDS = 3
"""How often a dialogue is rewritten before it is dropped."""
MAX_TOKENS = 4000
TIMEOUT_S = 180.0
PULL_S = 20.0
PAUSE_S = 1.0

Turns = list[dict[str, str]]
Told = Callable[[int, int], None]


@dataclass(frozen=True)
class RewritingReport:
    """Adversarial contexts in use, how many were made now, and why others were dropped now."""

    n_contexts: int
    n_added: int
    dropped: tuple[str, ...]
    are_simulated: bool

    @property
    def summary(self) -> str:
        """What there is now, with the word where the offline provider answered, in one line."""
        simulated = ", simulated: the offline provider answered" if self.are_simulated else ""
        return f"{self.n_contexts:,} adversarial contexts ({self.n_added:,} new){simulated}"


def make_adversarial_contexts(
    *,
    dataset: Dataset,
    n: int,
    seed: int,
    assistants: Assistants,
    clock: Clock,
    told: Told = lambda _done, _wanted: None,
) -> RewritingReport:
    """Bring the dataset's adversarial contexts to ``n``, by rewriting regular ones.

    Real and simulated assistants are counted apart. What was dropped is replaced by another
    source. A killed run goes on where it was: no call that was answered is made again. ``told``
    is called with how many there are and how many are wanted.

    Raises
    ------
    NoSourceLeftError
        If there are not enough regular contexts to rewrite; what was made stays.
    ProviderRefusesError
        If a provider takes no question, whatever it is about; no source is used up.
    AnotherAtWorkError
        If another process is at it.
    """
    made = assistants.made(dataset)

    def tell() -> None:
        told(made.count(), n)

    calls = assistants.calls(dataset)
    ask = partial(asking.ask, RewriteCalls(), calls, clock=clock, duration_s=PULL_S)
    with sole_worker("rewriting contexts"):
        before, dropped_before = made.count(), _dropped(dataset, assistants).count()
        calling.forget_claims(calls)
        take_up_refused(dataset, assistants)
        settle(dataset, assistants, clock())
        while not pulling.STOPPING.is_set() and plan(dataset, n, seed, assistants, clock()):
            n_ended = ask(stored=tell)
            settle(dataset, assistants, clock())
            if not n_ended:
                tell()  # a sign of life
                pulling.STOPPING.wait(PAUSE_S)  # a provider asked to be left alone for a while
        tell()
    after = made.count()
    reasons = _dropped(dataset, assistants).values_list("reason", flat=True)
    dropped = tuple(reasons[dropped_before:])
    return RewritingReport(after, after - before, dropped, assistants.are_simulated)


def _dropped(dataset: Dataset, assistants: Assistants) -> QuerySet[Rewrite]:
    """Return what was dropped, in the order in which it was."""
    dropped = Rewrite.objects.filter(assistants.of(dataset), state=RewriteState.DROPPED)
    return dropped.order_by("ended_at", "pk")


class RewriteCalls:
    """What rewriters and raters are asked, and what becomes of their answers."""

    def load(self, ids: Collection[int]) -> QuerySet[RewriteCall]:
        """Return these calls with their rewrites, sources and assistants."""
        return RewriteCall.objects.filter(pk__in=ids).select_related(
            "rewrite__source_context__dialogue",
            "rewrite__source_context__dataset",
            "rewrite__rewriter",
            "rewrite__hostility_rater",
        )

    def question(self, call: RewriteCall, claim: Claim) -> Question[Any]:
        """Put the dialogue to the rewriter, or the rewritten one to the rater."""
        if call.step == RewriteStep.WRITE:
            return _write_question(call, claim)
        return _rate_question(call, claim)

    def keep(self, ended: Sequence[tuple[RewriteCall, ModelAnswer[Any]]]) -> None:
        """End each call and take the next step: rate, write again, accept or drop."""
        for call, heard in ended:
            if call.step == RewriteStep.WRITE:
                _keep_text(call, heard)
            else:
                _keep_ratings(call, heard)


def _write_question(call: RewriteCall, claim: Claim) -> Question[Turns]:
    rewrite = call.rewrite
    request = calling.request_to(
        rewrite.rewriter,
        messages=questions.rewriter_messages(
            rewrite.source_context.turns, rewrite.target, _refused(call)
        ),
        response_schema=questions.REWRITE_SCHEMA,
        max_tokens=MAX_TOKENS,
        timeout_s=TIMEOUT_S,
    )
    prompt_hash = questions.rewriter_prompt().hash
    # An answer that cannot be read opens the next round, like any other fault.
    return Question(claim, prompt_hash, request, questions.read_rewrite)


def _rate_question(call: RewriteCall, claim: Claim) -> Question[list[int]]:
    turns = _written(call)
    request = calling.request_to(
        call.rewrite.hostility_rater,
        messages=questions.hostility_rater_messages(turns),
        response_schema=questions.RATING_SCHEMA,
        max_tokens=MAX_TOKENS,
        timeout_s=TIMEOUT_S,
    )
    n = len(questions.seekers(turns))
    return Question(
        claim,
        questions.hostility_rater_prompt().hash,
        request,
        lambda raw: questions.read_ratings(raw, n),
        tries=TRIES,
    )


def _refused(call: RewriteCall) -> tuple[str, list[str]] | None:
    """Return the answer of the round before, and everything that was wrong with it."""
    before = call.rewrite.calls.filter(round=call.round - 1).order_by("pk")
    problems = [problem for one in before for problem in one.problems]
    answers = [one.raw_answer for one in before if one.step == RewriteStep.WRITE]
    return (answers[0], problems) if answers else None


def _written(call: RewriteCall) -> Turns:
    """Return the text of the round that the call rates."""
    text = call.rewrite.calls.get(step=RewriteStep.WRITE, round=call.round)
    return questions.read_rewrite(llm.unwrapped(text.raw_answer, is_prose=False).text)


def _keep_text(call: RewriteCall, heard: ModelAnswer[Turns]) -> None:
    """Have a sound rewrite rated; anything else is written again."""
    rewrite, source = call.rewrite, call.rewrite.source_context
    problems = (
        [heard.fault]
        if heard.value is None
        else adversarial.rewrite_problems(
            source.turns,
            heard.value,
            target=rewrite.target,
            language=source.dialogue.language,
        )
    )
    columns = heard.columns()
    if problems:
        columns |= {
            "state": CallState.INVALID,
            "error_kind": "refused",
            "error_detail": "\n".join(problems),
            "problems": problems,
        }
    RewriteCall.objects.filter(pk=call.pk).update(**columns)
    if problems:
        _write_again(call, problems, heard.at)
    else:
        ask_for(rewrite, RewriteStep.RATE, call.round, heard.at)


def _keep_ratings(call: RewriteCall, heard: ModelAnswer[list[int]]) -> None:
    """Accept a rewrite whose hostility follows its profile; any other is written again.

    A person may have dropped the source since it was written.
    """
    rewrite, measured = call.rewrite, heard.value
    if measured is None:
        RewriteCall.objects.filter(pk=call.pk).update(**heard.columns())
        drop(rewrite, f"Its hostility could not be rated: {heard.fault}", heard.at)
        return
    problems = adversarial.curve_problems(rewrite.profile, measured)
    RewriteCall.objects.filter(pk=call.pk).update(**heard.columns(), problems=problems)
    Rewrite.objects.filter(pk=rewrite.pk).update(measured=measured)
    if problems:
        _write_again(call, problems, heard.at)
    elif Context.objects.in_use().filter(pk=rewrite.source_context_id).exists():
        accept(call, _written(call), measured, heard.at)
    else:
        drop(rewrite, SOURCE_DROPPED, heard.at)


def _write_again(call: RewriteCall, problems: Sequence[str], now: dt.datetime) -> None:
    """Open the next round, or drop the rewrite after the last."""
    if call.round < ROUNDS:
        ask_for(call.rewrite, RewriteStep.WRITE, call.round + 1, now)
    else:
        reason = f"Refused {ROUNDS} times, the last time because: {' '.join(problems)}"
        drop(call.rewrite, reason, now)


def accept(call: RewriteCall, turns: Turns, measured: Sequence[int], now: dt.datetime) -> None:
    """Make the rewrite, as last written and rated, a context."""
    rewrite, source = call.rewrite, call.rewrite.source_context
    content_hash = turns_hash(turns)
    context = Context.objects.create(
        dataset=source.dataset,
        dialogue=source.dialogue,
        key=digest(f"{source.key} {rewrite.profile} {content_hash}")[:24],
        turn_index=source.turn_index,
        turns=turns,
        stratum=Stratum.ADVERSARIAL,
        escalation_profile=rewrite.profile,
        source_context=source,
        is_simulated=rewrite.rewriter.is_simulated or rewrite.hostility_rater.is_simulated,
        provenance=_provenance(call, turns, measured),
        content_hash=content_hash,
        slots_left=source.dataset.completions_per_context,
        created_at=now,
    )
    Rewrite.objects.filter(pk=rewrite.pk).update(
        state=RewriteState.ACCEPTED, ended_at=now, context=context
    )
    record(
        action="context.rewritten",
        subject=f"context {context.key}",
        now=now,
        after={"source_context": source.key, "profile": rewrite.profile, "rounds": call.round},
    )


def _provenance(call: RewriteCall, turns: Turns, measured: Sequence[int]) -> dict[str, object]:
    """Say what a rewrite was made from, by whom, how, and what it changed."""
    rewrite, source = call.rewrite, call.rewrite.source_context
    return {
        "source_context": source.key,
        "dialogue": source.dialogue.content_hash,
        "turn_index": source.turn_index,
        "cell": [source.dialogue.emotion_type, source.dialogue.problem_type],
        "profile": rewrite.profile,
        "target": rewrite.target,
        "measured": list(measured),
        "rounds": call.round,
        "rewriter": _who(rewrite.rewriter, questions.rewriter_prompt()),
        "hostility_rater": _who(rewrite.hostility_rater, questions.hostility_rater_prompt()),
        "diff": rewrite_display.diff(source.turns, turns),
    }


def _who(assistant: Assistant, prompt: Prompt) -> dict[str, object]:
    return {
        "model_id": assistant.model_id,
        "is_simulated": assistant.is_simulated,
        "prompt": prompt.name,
        "prompt_hash": prompt.hash,
    }
