"""Have an assistant give a second opinion of the suitable candidates."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from completions.choices import CallState
from completions.contexts import questions
from completions.models import Assistant, Candidate, Dataset, ScreeningCall
from completions.runs import pulling
from completions.runs.services import asking, calling, states
from completions.runs.services.asking import ModelAnswer
from completions.runs.services.calling import TRIES, Claim, Clock, Question
from completions.runs.services.exclusive import sole_worker

MAX_TOKENS = 1000
TIMEOUT_S = 120.0
PULL_S = 20.0
PAUSE_S = 1.0
BATCH = 500

Told = Callable[[int, int], None]
Opinion = dict[str, Any]


@dataclass(frozen=True)
class OpinionReport:
    """Opinions asked for, how many came, and how many of these would keep the candidate."""

    n_asked: int
    n_given: int
    n_agreed: int

    @property
    def summary(self) -> str:
        """How many opinions came, and what they say, in one line."""
        return (
            f"{self.n_given:,} opinions of {self.n_asked:,}, "
            f"{self.n_agreed:,} agree that the candidate suits"
        )


def gather_opinions(
    *,
    dataset: Dataset,
    assistant: Assistant,
    clock: Clock,
    told: Told = lambda _done, _wanted: None,
) -> OpinionReport:
    """Ask the assistant about every suitable candidate that it was not asked about before.

    An opinion stands beside what the rules found and changes nothing. An answer that cannot be
    read, quotes what is not there or contradicts itself is asked for once more, then kept as
    invalid. A killed run goes on where it was.

    Raises
    ------
    ProviderRefusesError
        If the provider takes no question, whatever it is about.
    AnotherAtWorkError
        If another process is at it.
    """
    with sole_worker("gathering opinions"):
        calls = _calls(dataset, assistant)
        calling.forget_claims(calls)
        states.ask_again(states.refused(calls))
        _plan(dataset, assistant, clock)
        n_asked, waiting = calls.count(), calls.filter(ended_at=None)

        def tell() -> None:
            told(n_asked - waiting.count(), n_asked)

        ask = partial(asking.ask, ScreeningCalls(), calls, clock=clock, duration_s=PULL_S)
        tell()
        while not pulling.STOPPING.is_set() and waiting.exists():
            n_ended = ask(stored=tell)
            if refused := states.refused(calls).first():
                raise states.refusal(refused)
            if not n_ended:
                tell()  # a sign of life
                pulling.STOPPING.wait(PAUSE_S)  # a provider asked to be left alone for a while
    given = calls.filter(state=CallState.DONE)
    return OpinionReport(n_asked, given.count(), given.filter(opinion__qualifies=True).count())


def _plan(dataset: Dataset, assistant: Assistant, clock: Clock) -> None:
    calls = ScreeningCall.objects.filter(candidate=OuterRef("pk"), assistant=assistant)
    suitable = Candidate.objects.filter(dialogue__dataset=dataset, is_suitable=True)
    now = clock()
    ScreeningCall.objects.bulk_create(
        [
            ScreeningCall(candidate=candidate, assistant=assistant, created_at=now)
            for candidate in suitable.filter(~Exists(calls)).only("pk").order_by("pk")
        ],
        batch_size=BATCH,
    )


def _calls(dataset: Dataset, assistant: Assistant) -> QuerySet[ScreeningCall]:
    return ScreeningCall.objects.filter(candidate__dialogue__dataset=dataset, assistant=assistant)


class ScreeningCalls:
    """What a screener is asked, and what becomes of its answers."""

    def load(self, ids: Collection[int]) -> QuerySet[ScreeningCall]:
        """Return these calls with their dialogues."""
        return ScreeningCall.objects.filter(pk__in=ids).select_related(
            "assistant", "candidate__dialogue"
        )

    def question(self, call: ScreeningCall, claim: Claim) -> Question[Opinion]:
        """Put all that a reader of the candidate would see, and no label."""
        candidate, dialogue = call.candidate, call.candidate.dialogue
        shown = dialogue.turns[: candidate.turn_index + 2]
        texts = [dialogue.situation, *(turn["text"] for turn in shown)]
        request = calling.request_to(
            call.assistant,
            messages=questions.screener_messages(
                dialogue.turns, candidate.turn_index, dialogue.situation
            ),
            response_schema=questions.OPINION_SCHEMA,
            max_tokens=MAX_TOKENS,
            timeout_s=TIMEOUT_S,
        )
        read = partial(
            questions.read_opinion, last=shown[candidate.turn_index]["text"], texts=texts
        )
        return Question(claim, questions.screener_prompt().hash, request, read, tries=TRIES)

    def keep(self, ended: Sequence[tuple[ScreeningCall, ModelAnswer[Opinion]]]) -> None:
        """End the calls; an opinion is kept as it was read."""
        for call, heard in ended:
            ScreeningCall.objects.filter(pk=call.pk).update(
                **heard.columns(), opinion=heard.value or {}
            )
