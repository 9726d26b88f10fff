"""What assistants said of a candidate, beside what the rules found."""

from collections.abc import Sequence

from completions.choices import CallState
from completions.contexts import screening
from completions.contexts.review_queries.shown import Opinion, Verdicts
from completions.contexts.screening.highlights import Entry
from completions.dialogues.normaliser import plain
from completions.models import Candidate, ScreeningCall


def opinions_of(candidate: Candidate | None) -> tuple[Opinion, ...]:
    """Return the opinions that were asked for, by the name of the assistant, in one query."""
    if candidate is None:
        return ()
    calls = ScreeningCall.objects.filter(candidate=candidate).select_related("assistant")
    return tuple(_opinion(call) for call in calls.order_by("assistant__name"))


def _opinion(call: ScreeningCall) -> Opinion:
    said = call.opinion
    quotes: dict[str, tuple[str, ...]] = {}
    for found in (*said.get("signals", ()), *said.get("disqualifiers", ())):
        quotes[found["name"]] = (*quotes.get(found["name"], ()), plain(found["quote"]))
    return Opinion(
        assistant=call.assistant.name,
        is_simulated=call.assistant.is_simulated,
        state_label=str(CallState(call.state).label),
        qualifies=said.get("qualifies"),
        reason=said.get("reason", ""),
        quotes=quotes,
    )


def verdicts(entries: Sequence[Entry], opinions: Sequence[Opinion]) -> tuple[Verdicts, ...]:
    """Return a row for every rule that fired or that an assistant names, in their order."""
    fired = [entry.rule for entry in entries]
    named = {rule for opinion in opinions for rule in opinion.quotes}
    known = [*screening.SIGNALS, *screening.DISQUALIFIERS]
    order = [*known, *sorted({*fired, *named} - set(known))]
    return tuple(
        Verdicts(
            rule=rule,
            is_signal=rule in screening.SIGNALS,
            fired=rule in fired,
            quotes=tuple(opinion.quotes.get(rule, ()) for opinion in opinions),
        )
        for rule in order
        if rule in fired or rule in named
    )
