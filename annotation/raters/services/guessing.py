"""Keep what raters guess about sources, to test whether the blinding held."""

import datetime as dt
from collections.abc import Mapping

from django.db import transaction

from annotation.assignment.slots import lock_rater
from annotation.models import Rater, SourceGuess
from annotation.raters import entry_queries


@transaction.atomic
def record_guesses(*, rater: Rater, guesses: Mapping[int, str], now: dt.datetime) -> int:
    """Store guesses by the place of the message among those asked; return how many are new.

    A place that was not asked is ignored, and the first guess about a message stays: whoever
    goes back and sends again changes nothing.
    """
    rater = lock_rater(rater)
    messages = dict(enumerate(entry_queries.messages_to_guess(rater)))
    known = set(rater.source_guesses.values_list("completion_id", flat=True))
    new = [
        SourceGuess(rater=rater, completion=messages[place], guess=guess, guessed_at=now)
        for place, guess in sorted(guesses.items())
        if place in messages and messages[place].pk not in known
    ]
    return len(SourceGuess.objects.bulk_create(new))
