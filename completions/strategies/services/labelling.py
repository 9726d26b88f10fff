"""Have an assistant name the strategies of completions, in runs: start, ask, keep."""

import datetime as dt
from collections.abc import Collection, Sequence
from decimal import Decimal
from functools import partial

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from completions.dialogues.locking import fix_completions, lock_sent_back, lock_texts
from completions.dialogues.normaliser import plain
from completions.files.toml import ShippedFile
from completions.llm.labels import Labels, labels_schema, read_labels
from completions.llm.prompts import Prompt
from completions.models import (
    Assistant,
    Completion,
    Dataset,
    HumanLabelling,
    LabellingRun,
    StrategyCall,
    StrategyLabel,
)
from completions.runs.services import asking, calling, quoted_labels
from completions.runs.services.asking import ModelAnswer
from completions.runs.services.calling import TRIES, Claim, Question
from completions.runs.services.quoted_labels import TextDeletedError
from completions.runs.services.running import begin, checked_budget
from completions.strategies.codebook import (
    load_codebook,
    strategist_messages,
    strategist_prompt,
)

MAX_TOKENS = 3000
TIMEOUT_S = 120.0
BATCH = 500


def completions_to_label(dataset: Dataset) -> QuerySet[Completion]:
    """Return the completions of contexts in use whose text does not change any more.

    What people wrote can still be revised until a study compares it or the dataset is frozen.
    """
    final = Q(writer=None) | Q(fixed_at__isnull=False)
    texts = Completion.objects.filter(context__in=dataset.contexts.in_use(), erased_at__isnull=True)
    return texts if dataset.frozen_at else texts.filter(final)


@transaction.atomic
def plan_strategy_calls(
    *, dataset: Dataset, assistant: Assistant, now: dt.datetime, run: LabellingRun | None = None
) -> int:
    """Add the calls that completions lack, as part of ``run``; return how many were added.

    Planning again adds nothing for a completion that the assistant was asked about, whatever
    became of the call. What people wrote and is asked about is fixed from then on: labels quote it.
    """
    dataset = lock_texts(dataset.pk)  # one planner at a time, and no text changes
    lock_sent_back(dataset.pk)
    fix_completions(texts=completions_to_label(dataset), now=now)
    calls = StrategyCall.objects.filter(completion=OuterRef("pk"), assistant=assistant)
    lacking = completions_to_label(dataset).filter(~Exists(calls))
    added = [
        StrategyCall(completion=completion, assistant=assistant, run=run, created_at=now)
        for completion in lacking.only("pk").order_by("pk")
    ]
    StrategyCall.objects.bulk_create(added, batch_size=BATCH)
    return len(added)


def forget_labels(completions: Collection[int], *, now: dt.datetime) -> None:
    """Delete the words that labels, answers and notes quote of texts which are deleted.

    Calls that wait are given up. One that is under way ends by itself, and keeps nothing.
    """
    calls = StrategyCall.objects.filter(completion__in=completions)
    notes: QuerySet[HumanLabelling] = QuerySet(HumanLabelling)
    notes = notes.filter(item__completion__in=completions)
    quoted_labels.forget_quotes(calls, StrategyLabel, notes, now=now)


class StrategyCalls:
    """What a strategist is asked, and what becomes of its answers."""

    def load(self, ids: Collection[int]) -> QuerySet[StrategyCall]:
        """Return these calls with their texts."""
        return StrategyCall.objects.filter(pk__in=ids).select_related(
            "assistant", "completion__context"
        )

    def question(self, call: StrategyCall, claim: Claim) -> Question[Labels]:
        """Put the message in its dialogue, dressed as people see both."""
        codebook = load_codebook()
        turns = [turn | {"text": plain(turn["text"])} for turn in call.completion.context.turns]
        text = shown_text(call.completion)
        request = calling.request_to(
            call.assistant,
            messages=strategist_messages(turns, text, codebook),
            response_schema=labels_schema(codebook.request),
            max_tokens=MAX_TOKENS,
            timeout_s=TIMEOUT_S,
        )
        read = partial(read_labels, text=text, request=codebook.request)
        return Question(claim, strategist_prompt(codebook).hash, request, read, tries=TRIES)

    def keep(self, ended: Sequence[tuple[StrategyCall, ModelAnswer[Labels]]]) -> None:
        """End each call, with a label for each strategy if the answer could be read."""
        # Locked, so that whoever deletes texts meanwhile finds the quotes of them.
        keys = [call.completion_id for call, _ in ended]
        texts = Completion.objects.filter(pk__in=keys).order_by("pk")
        erased = dict(texts.select_for_update(no_key=True).values_list("pk", "erased_at"))
        for call, heard in ended:
            own = StrategyCall.objects.filter(pk=call.pk)
            if erased[call.completion_id] is None:
                quoted_labels.keep_labels(own, heard, StrategyLabel)
            else:
                quoted_labels.keep_nothing(own, heard)


name_strategies = partial(asking.ask_for_runs, StrategyCalls(), LabellingRun)
"""Make the waiting strategy calls; an answer that quotes what is not there is no label."""


def shown_text(completion: Completion) -> str:
    """Return the text as people see it, and as quotes have to stand in it.

    Raises
    ------
    TextDeletedError
        If it was deleted.
    """
    if completion.erased_at is not None:
        raise TextDeletedError
    return plain(completion.text)


@transaction.atomic
def start_labelling_run(
    *,
    dataset: Dataset,
    assistant: Assistant,
    now: dt.datetime,
    budget_usd: Decimal | None = None,
    by: User | None = None,
) -> LabellingRun:
    """Have an assistant name the strategies of all final texts that it was not asked about.

    Raises
    ------
    UnknownPriceError, BudgetTooSmallError
        If the budget cannot be kept with this assistant, or is nothing.
    NothingToAskError
        If it was asked about every text; no run is added then.
    """
    codebook = load_codebook()
    run = LabellingRun.objects.create(
        dataset=dataset,
        plan={"dataset": dataset.slug} | plan_of(assistant, codebook, strategist_prompt(codebook)),
        budget_usd=checked_budget(budget_usd, [assistant]),
        created_at=now,
        created_by=by,
    )
    n_added = plan_strategy_calls(dataset=dataset, assistant=assistant, now=now, run=run)
    return begin(run, n_added, now=now, by=by)


def plan_of(assistant: Assistant, codebook: ShippedFile, prompt: Prompt) -> dict[str, str]:
    """Return what a run notes of whom it asks for labels, by which codebook and prompt."""
    return {
        "assistant": assistant.slug,
        "codebook": codebook.reference,
        "codebook_sha256": codebook.sha256,
        "prompt": prompt.name,
        "prompt_sha256": prompt.hash,
    }
