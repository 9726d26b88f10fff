"""Have model systems complete contexts: plan the calls, claim them, keep what comes back."""

import datetime as dt
import hashlib
import threading
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from completions import llm
from completions.generation import departures
from completions.llm import prompts
from completions.models import Completion, Context, Dataset, GenerationCall, GenerationRun, System
from completions.runs import queries
from completions.runs.services import asking, calling
from completions.runs.services.asking import ModelAnswer
from completions.runs.services.calling import Claim, Clock, Question

MAX_TOKENS = 300
TIMEOUT_S = 120.0
_TURN = threading.Lock()


class NotAModelError(ValueError):
    """Only a language model can be asked for completions."""


@transaction.atomic
def plan_generation_calls(
    *,
    dataset: Dataset,
    systems: Collection[System],
    now: dt.datetime,
    run: GenerationRun | None = None,
) -> int:
    """Add the calls that every context in use and system lack; return how many were added.

    They belong to ``run``, if one is given. Planning again adds nothing for a pair that has a
    call, whatever its state, or a completion.

    Raises
    ------
    NotAModelError
        If one of the systems is not a language model; nothing is added then.
    """
    if other := sorted(one.slug for one in systems if not one.model_id):
        msg = f"not language models: {other}"
        raise NotAModelError(msg)
    Dataset.objects.select_for_update().get(pk=dataset.pk)  # one planner at a time
    added = [
        GenerationCall(run=run, context=context, system=system, created_at=now)
        for system in sorted(systems, key=lambda one: one.slug)
        for context in _contexts_without(dataset, system)
    ]
    GenerationCall.objects.bulk_create(added, batch_size=500)
    return len(added)


def generate_completions(
    *,
    clock: Clock,
    duration_s: float = 30.0,
    run: GenerationRun | None = None,
    stored: Callable[[], None] = lambda: None,
) -> int:
    """Make the waiting generation calls, several at a time, and return how many ended.

    With ``run`` those of one run alone. ``stored`` is called whenever results have been stored.

    Providers are called outside any transaction. Safe to run twice and in many processes: a
    call is claimed by one, and what has ended is never asked again.
    """
    desk = CompletionCalls(run)
    return asking.ask(desk, clock=clock, duration_s=duration_s, turn=_TURN, stored=stored)


@dataclass(frozen=True)
class CompletionCalls:
    """What generation calls ask, and the completions that are kept; see ``asking.CallKind``."""

    run: GenerationRun | None = None

    def calls(self) -> QuerySet[GenerationCall]:
        """Return the calls that may be made."""
        return queries.calls_to_make(GenerationRun, self.run)

    def load(self, ids: Collection[int]) -> QuerySet[GenerationCall]:
        """Return these calls with their contexts and systems."""
        return GenerationCall.objects.filter(pk__in=ids).select_related("context", "system")

    def question(self, call: GenerationCall, claim: Claim) -> Question[str]:
        """Ask for the next message of the supporter."""
        prompt = prompts.load_prompt(prompts.SUPPORTER)
        return Question(claim, prompt.hash, request_for(call.system, call.context), str)

    def keep(self, ended: Sequence[tuple[GenerationCall, ModelAnswer[str]]]) -> None:
        """Keep each reply with its completion."""
        stored = Completion.objects.bulk_create(_completion(*one) for one in ended)
        for (call, heard), completion in zip(ended, stored, strict=True):
            columns = _columns(heard) | {"completion": completion}
            GenerationCall.objects.filter(pk=call.pk).update(**columns)


def _contexts_without(dataset: Dataset, system: System) -> Sequence[Context]:
    """Return the contexts in use that the system has not completed nor been asked to complete."""
    called = GenerationCall.objects.filter(context=OuterRef("pk"), system=system)
    completed = Completion.objects.filter(context=OuterRef("pk"), system=system)
    contexts = Context.objects.in_use().filter(~Exists(called), ~Exists(completed))
    return list(contexts.filter(dataset=dataset).only("pk").order_by("pk"))


def request_for(system: System, context: Context) -> llm.Request:
    """Return what a system is asked to do about a context."""
    prompt = prompts.load_prompt(prompts.SUPPORTER)
    return calling.request_to(
        system,
        messages=prompts.supporter_messages(context.turns, prompt),
        max_tokens=MAX_TOKENS,
        timeout_s=TIMEOUT_S,
        stream=True,  # the only way to see the time to first token
    )


def _columns(heard: ModelAnswer[str]) -> dict[str, Any]:
    """Return the columns that keep a reply, with what is unusual about its form."""
    columns = heard.columns()
    columns["honoured"]["flags"] = departures.flags_of(heard.reply.raw_text or heard.reply.text)
    return columns


def _completion(call: GenerationCall, heard: ModelAnswer[str]) -> Completion:
    """Return the completion as shown: on one line, so that its layout cannot name its source."""
    text = " ".join(heard.reply.text.split())
    return Completion(
        context_id=call.context_id,
        system_id=call.system_id,
        text=text,
        content_hash=hashlib.sha256(text.encode()).hexdigest(),
        created_at=heard.at,
    )
