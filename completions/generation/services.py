"""Runs that have systems complete contexts: planned, started, kept, and asked again."""

import datetime as dt
import re
from collections.abc import Collection, Sequence
from decimal import Decimal
from functools import partial
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from completions import llm
from completions.dialogues import wording
from completions.dialogues.context_extraction import digest
from completions.generation.planning import request_for
from completions.llm import prompts
from completions.models import (
    FAILED,
    Completion,
    Context,
    Dataset,
    GenerationCall,
    GenerationRun,
    System,
)
from completions.runs.services import asking, running
from completions.runs.services.asking import ModelAnswer
from completions.runs.services.calling import Claim, Question
from completions.runs.services.running import begin, checked_budget


class NotAModelError(ValueError):
    """Only a language model that is in use can be asked for completions."""


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
        If one of the systems is not a language model, or is retired; nothing is added then.
    """
    if other := sorted(one.slug for one in systems if not one.model_id or one.retired_at):
        msg = f"not language models, or retired: {other}"
        raise NotAModelError(msg)
    Dataset.objects.select_for_update().get(pk=dataset.pk)  # one planner at a time
    added = [
        GenerationCall(run=run, context=context, system=system, created_at=now)
        for system in sorted(systems, key=lambda one: one.slug)
        for context in _contexts_without(dataset, system)
    ]
    GenerationCall.objects.bulk_create(added, batch_size=500)
    return len(added)


@transaction.atomic
def start_generation_run(
    *,
    dataset: Dataset,
    systems: Collection[System],
    now: dt.datetime,
    budget_usd: Decimal | None = None,
    by: User | None = None,
) -> GenerationRun:
    """Have systems complete the contexts that they lack, in a run of their own.

    Raises
    ------
    NotAModelError, UnknownPriceError, BudgetTooSmallError
        If a system is no model in use, a budget cannot be kept with it, or the budget is nothing.
    NothingToAskError
        If every context and system has a call or a completion; no run is added then.
    """
    slugs = sorted(system.slug for system in systems)
    run = GenerationRun.objects.create(
        dataset=dataset,
        plan={"dataset": dataset.slug, "systems": slugs},
        budget_usd=checked_budget(budget_usd, systems),
        created_at=now,
        created_by=by,
    )
    n_added = plan_generation_calls(dataset=dataset, systems=systems, now=now, run=run)
    return begin(run, n_added, now=now, by=by)


@transaction.atomic
def retry_completions(
    *,
    dataset: Dataset,
    now: dt.datetime,
    by: User | None = None,
    context: str = "",
    system: str = "",
) -> int:
    """Ask again for completions that failed, and return how many calls that is.

    Those of one context and one system by their key and slug, or of all where these are empty.
    Their runs go on, each with its budget; what was answered is never asked again. Calls that
    belong to no run are left as they are.
    """
    only = Q(context__key=context) if context else Q()
    only &= Q(system__slug=system) if system else Q()
    failed = GenerationCall.objects.filter(only, FAILED, context__dataset=dataset)
    runs = GenerationRun.objects.filter(pk__in=failed.values("run")).order_by("pk")
    return sum(
        running.retry_failed(run, now=now, by=by, with_invalid=True, only=only) for run in runs
    )


class CompletionCalls:
    """What generation calls ask, and the completions that are kept; see ``asking.CallKind``."""

    def load(self, ids: Collection[int]) -> QuerySet[GenerationCall]:
        """Return these calls with their contexts and systems."""
        return GenerationCall.objects.filter(pk__in=ids).select_related("context", "system")

    def question(self, call: GenerationCall, claim: Claim) -> Question[str]:
        """Ask for the next message of the supporter.

        Raises
        ------
        PermanentError
            If the system was retired after the call was planned.
        """
        if call.system.retired_at:
            msg = f"{call.system.slug} was retired before it was asked."
            raise llm.PermanentError(msg, kind="retired")
        prompt = prompts.load_prompt(prompts.SUPPORTER)
        return Question(claim, prompt.hash, request_for(call.system, call.context), str)

    def keep(self, ended: Sequence[tuple[GenerationCall, ModelAnswer[str]]]) -> None:
        """Keep each reply with its completion."""
        stored = Completion.objects.bulk_create(_completion(*one) for one in ended)
        for (call, heard), completion in zip(ended, stored, strict=True):
            columns = _columns(heard) | {"completion": completion}
            GenerationCall.objects.filter(pk=call.pk).update(**columns)


generate_completions = partial(asking.ask_for_runs, CompletionCalls(), GenerationRun)
"""Make the waiting generation calls, and keep the completions."""


def _contexts_without(dataset: Dataset, system: System) -> Sequence[Context]:
    """Return the contexts in use that the system has not completed nor been asked to complete."""
    called = GenerationCall.objects.filter(context=OuterRef("pk"), system=system)
    completed = Completion.objects.filter(context=OuterRef("pk"), system=system)
    contexts = Context.objects.in_use().filter(~Exists(called), ~Exists(completed))
    return list(contexts.filter(dataset=dataset).only("pk").order_by("pk"))


def _columns(heard: ModelAnswer[str]) -> dict[str, Any]:
    """Return the columns that keep a reply, with what is unusual about its form."""
    columns = heard.columns()
    columns["honoured"]["flags"] = flags_of(heard.reply.raw_text or heard.reply.text)
    return columns


def _completion(call: GenerationCall, heard: ModelAnswer[str]) -> Completion:
    """Return the completion as shown: on one line, so that its layout cannot name its source."""
    text = " ".join(heard.reply.text.split())
    return Completion(
        context_id=call.context_id,
        system_id=call.system_id,
        text=text,
        content_hash=digest(text),
        created_at=heard.at,
    )


MOST_SENTENCES = 3
_LEAD = r"^\W*(?:(?:sure|certainly|of course|absolutely|okay|ok|great)\b[^\n:]{0,20}?)?"
_DEPARTURES = {
    "preamble": re.compile(
        _LEAD
        + r"(?:here(?:['\u2019]s| is| are)|(?:my|a|the|one|possible|suggested) \w* ?"
        + r"(?:reply|response|message|answer)(?: (?:is|would|could|might))?)\b[^\n]{0,120}?:",
        re.IGNORECASE,
    ),
    "label": re.compile(
        r"^\W*(?:supporter|assistant|counsell?or|listener|therapist|ai|reply|response|message)"
        r"\W{0,3}:",
        re.IGNORECASE,
    ),
    "paragraphs": re.compile(r"\S[ \t]*\n\s*\S"),
    "quotation": re.compile(r"^\s*(?:\"[^\"]+\"|\u201c[^\u201c\u201d]+\u201d)\s*$"),
    "thoughts": re.compile(r"<(?:think|thinking|reasoning)>", re.IGNORECASE),
    "refusal": re.compile(
        r"^\W*(?:(?:i['\u2019]m |i am )?sorry,? (?:but )?|unfortunately,? )?"
        r"(?:as an ai\b|i (?:can['\u2019]t|cannot|am unable to|won['\u2019]t)"
        r" (?:help (?:you )?with|assist|fulfil|comply|continue with|respond to|provide))",
        re.IGNORECASE,
    ),
}
FLAGS = (*_DEPARTURES, "sentences")


def flags_of(text: str) -> list[str]:
    """Return how a reply departs from "answer with the message alone", in the order of ``FLAGS``.

    The reply is kept as it came. A flag tells readers of the record which replies to look at; it
    changes neither what is shown nor what counts.
    """
    found = [name for name, form in _DEPARTURES.items() if form.search(text)]
    if wording.count_sentences(text) > MOST_SENTENCES:
        found.append("sentences")
    return found
