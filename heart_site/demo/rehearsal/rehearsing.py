"""Simulated raters go through a study's pages, act by act, in the order of virtual time.

Everything that has happened is in the database: a rehearsal that was stopped goes on with the
raters who have not ended, after the last moment that is stored.
"""

import datetime as dt
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from django.db.models import Count, Max
from django.test.client import ClientHandler
from django.urls import resolve, reverse

from annotation.choices import RaterState
from annotation.judging.services import leasing
from annotation.models import Rater, Study
from heart_site.demo.rehearsal import answering
from heart_site.demo.rehearsal.answering import RANDOM, Mind, Truth
from heart_site.demo.rehearsal.browser import Browser, Form, Page
from heart_site.demo.rehearsal.people import USUAL, Crowd, SimulatedRater, VirtualClock, Whim, whim

READING_S, CLICK_S = 40.0, 4.0
LATE_S = 2 * 60 * 60.0
TOO_LITTLE = 422
SKIP_REASON = "undecided"
RATED, MARKED = "rating_", "mark_"


def _questions_of(form: Form) -> dict[str, list[str]]:
    """Return the options of each question by its name: radios, or the buttons of a single one."""
    buttons: dict[str, list[str]] = {}
    for name, value in form.buttons:
        buttons.setdefault(name, []).append(value)
    return form.choices or buttons


class LostError(Exception):
    """A simulated rater met a page that it cannot make sense of."""


class Walk:
    """Where one rater is.

    ``turn`` counts the pairs shown to this rater and names what is drawn for each of them, so that
    somebody who comes back after a stop goes on as if nothing had happened. A dialogue that they
    have read is not read again.
    """

    def __init__(
        self, mind: Mind, browser: Browser, study: Study, *, entry: str, turn: int = 0
    ) -> None:
        self.mind, self.turn = mind, turn
        self._browser, self._study, self._entry = browser, study, entry
        self._page: Page | None = None
        self._n_tries = 0
        self._read: set[str] = set()

    def act(self, now: datetime) -> float | None:
        """Do what comes next; return the seconds until the act after it, None if that was all."""
        if self._page is None:
            return self._look(self._browser.get(self._entry, now=now))
        for form in self._page.forms:
            if (do := self._acts().get(_name_of(form))) is not None:
                return do(form, now)
        return None

    def has_left(self) -> bool:
        """Say whether this rater left at the pair shown last, not to come back."""
        return self.turn > 0 and self._whim() == Whim.LEAVE

    def _acts(self) -> Mapping[str, Callable[[Form, datetime], float | None]]:
        return {
            "consent": self._agree,
            "comprehension": self._understand,
            "how": self._practise,
            "submit": self._answer,
            "finish": self._finish,
            "guess": self._guess,
        }

    def _look(self, page: Page) -> float | None:
        """Take a page in hand; return how long the rater looks at it, None if it is the last."""
        self._page = page
        names = {_name_of(form) for form in page.forms}
        if "submit" in names:
            self.turn += 1
            return self._seconds(page)
        return (READING_S if "consent" in names else CLICK_S) if names & set(self._acts()) else None

    def _seconds(self, page: Page) -> float | None:
        """Return when the answer to a pair comes, if it comes."""
        mood = self._whim()
        if mood == Whim.LEAVE:
            return None
        n_words = page.count_words(known=self._read)
        self._read.update(page.turns)
        seconds = answering.seconds(self.mind, n_words=n_words, turn=self.turn)
        return seconds + (LATE_S if mood == Whim.ANSWER_LATE else 0.0)

    def _whim(self) -> Whim:
        return whim(self.mind.draws("whim", self.turn))

    def _agree(self, form: Form, now: datetime) -> float | None:
        return self._look(self._browser.submit(form, {"choice": "agree"}, now=now))

    def _understand(self, form: Form, now: datetime) -> float | None:
        """Answer what the task is; who clicks at random does so once, and then reads."""
        self._n_tries += 1
        is_random = self.mind.rater.kind in RANDOM and self._n_tries == 1
        draws = self.mind.draws("comprehension")
        answers = [question["answer"] - 1 for question in self._study.content["comprehension"]]
        fields = {
            name: str(draws.choice(values) if is_random else values[right])
            for (name, values), right in zip(
                sorted(_questions_of(form).items()), answers, strict=True
            )
        }
        return self._look(self._browser.submit(form, fields, now=now))

    def _practise(self, _form: Form, now: datetime) -> float | None:
        """Leave the practice pair out: nothing of it is stored."""
        judge = reverse("annotation:judge", args=[self._study.slug])
        return self._look(self._browser.get(judge, now=now))

    def _answer(self, form: Form, now: datetime) -> float | None:
        mood = self._whim()
        if mood == Whim.SKIP:
            form, fields = self._form("skip"), {"reason": SKIP_REASON}
        else:
            fields = self._fields(form)
        page = self._browser.submit(form, fields, now=now)
        if mood == Whim.ANSWER_TWICE:
            page = self._browser.submit(form, fields, now=now)
        if page.status == TOO_LITTLE:
            msg = f"{form.action} refused {sorted(fields)}"
            raise LostError(msg)
        return self._look(page)

    def _finish(self, form: Form, now: datetime) -> float | None:
        """End, for no pair is left."""
        return self._look(self._browser.submit(form, {}, now=now))

    def _guess(self, form: Form, now: datetime) -> float | None:
        """Guess who wrote each message: anybody, for nothing is planted about that."""
        draws = self.mind.draws("guess")
        fields = {name: str(draws.choice(values)) for name, values in form.choices.items()}
        return self._look(self._browser.submit(form, fields, now=now))

    def _fields(self, form: Form) -> dict[str, str]:
        """Return the answer to the pair in hand as the form's fields."""
        if self._page is None:
            raise LostError
        texts, turn, mind = self._page.messages, self.turn, self.mind
        if self._study.protocol == "LIKERT":
            rated = _keys(form, RATED)
            points = answering.points(mind, texts[0], rated, turn=turn)
            given = {f"{RATED}{key}": str(value) for key, value in points.items()}
            return {"rationale": answering.reason(0, texts, turn=turn)} | given
        if self._study.protocol == "PREFERENCE":
            verdict = answering.five_points(mind, *texts, turn=turn)
            given = {"verdict": str(verdict)}
        else:
            verdict = answering.forced_choice(mind, *texts, turn=turn)
            marks = answering.marks(mind, verdict, _keys(form, MARKED), turn=turn)
            given = {"winner": "A" if verdict > 0 else "B", "strength": str(abs(verdict))}
            given |= {f"{MARKED}{key}": str(side) for key, side in marks.items()}
        return {"rationale": answering.reason(verdict, texts, turn=turn)} | given

    def _form(self, name: str) -> Form:
        for form in self._page.forms if self._page else ():
            if _name_of(form) == name:
                return form
        msg = f'no form "{name}" on {self._page}'
        raise LostError(msg)


def entry_of(study: Study, external_id: str) -> str:
    """Return the address at which the rater with that id of a platform comes in."""
    platform = study.content["crowd"]["platform"]
    parameter = PARAMETERS.get(platform, PARAMETERS["generic"])
    return f"{reverse('annotation:entry', args=[study.slug])}?{parameter}={external_id}"


PARAMETERS = {
    "prolific": "PROLIFIC_PID",
    "mturk": "workerId",
    "connect": "participantId",
    "generic": "pid",
}


def _name_of(form: Form) -> str:
    return resolve(urlsplit(form.action).path).url_name or "" if form.action else ""


def _keys(form: Form, prefix: str) -> list[str]:
    return [name.removeprefix(prefix) for name in form.choices if name.startswith(prefix)]


WITHOUT_SCRIPTS = 5
"""One in so many raters has a browser without scripts."""

Tell = Callable[[int, int], None]


@dataclass(frozen=True)
class Cast:
    """Who takes part, what is true, and the seed of their whims."""

    people: Sequence[SimulatedRater]
    truth: Truth
    seed: int
    crowd: Crowd = USUAL

    def external_id(self, person: SimulatedRater) -> str:
        """Return the id under which a platform would send this person."""
        return f"simulated-{self.seed}-{person.index:05d}"


def rehearse(*, study: Study, cast: Cast, tell: Tell) -> None:
    """Have everybody who has not ended go on to their end; ``tell`` is told how many have.

    Raises
    ------
    ValueError
        If the study is a real one.
    """
    if not study.is_simulated:
        msg = f'"{study.slug}" is a real study: simulated raters are never let into one'
        raise ValueError(msg)
    traces = _traces(study)
    clock = VirtualClock(max([study.created_at, *map(_last_at, traces.values())]))
    walks = dict(_walks(study, cast, traces))
    for person in cast.people:
        if person.index in walks:
            clock.wake(person.index, at=study.created_at + _seconds(person.arrives_after))
    _run_walks(clock, walks, lambda n_left: tell(len(cast.people) - n_left, len(cast.people)))
    ended = clock.now + dt.timedelta(minutes=study.lease_minutes)
    leasing.release_expired_leases(now=ended, is_simulated=True)


def _run_walks(clock: VirtualClock, walks: Mapping[int, Walk], tell: Callable[[int], None]) -> None:
    """Let each act when it is their turn, until all have come to their end."""
    n_left = len(walks)
    tell(n_left)
    for index in clock.turns():
        leasing.release_expired_leases(now=clock.now, is_simulated=True)
        wait = walks[index].act(clock.now)
        if wait is not None:
            clock.wake(index, at=clock.now + _seconds(wait))
            continue
        n_left -= 1
        tell(n_left)


def _walks(study: Study, cast: Cast, traces: Mapping[str, Any]) -> Iterator[tuple[int, Walk]]:
    """Yield a walk for everybody who has not ended or left."""
    handler = ClientHandler(enforce_csrf_checks=True)  # one for all, as a server has it
    for person in cast.people:
        name = cast.external_id(person)
        trace = traces.get(name)
        mind = Mind(person, cast.truth, cast.seed, cast.crowd)
        browser = Browser(handler, has_scripts=person.index % WITHOUT_SCRIPTS > 0)
        turn = trace.n_leases if trace else 0
        walk = Walk(mind, browser, study, entry=entry_of(study, name), turn=turn)
        if trace is not None and (trace.state != RaterState.ACTIVE or walk.has_left()):
            continue
        is_holding = trace is not None and trace.n_closed < trace.n_leases
        walk.turn -= is_holding  # the pair in hand is shown again
        yield person.index, walk


def _traces(study: Study) -> dict[str, Any]:
    """Return each rater with what is stored of them, by their platform's id."""
    raters = Rater.objects.filter(study=study).annotate(
        n_leases=Count("leases"),
        n_closed=Count("leases__closed_at"),
        issued=Max("leases__issued_at"),
        closed=Max("leases__closed_at"),
    )
    return {rater.external_id: rater for rater in raters}


def _last_at(rater: Any) -> dt.datetime:  # noqa: ANN401 (of `_traces`)
    """Return the last moment that is stored of a rater."""
    last: dt.datetime = max(at for at in (rater.entered_at, rater.issued, rater.closed) if at)
    return last


def _seconds(seconds: float) -> dt.timedelta:
    return dt.timedelta(seconds=seconds)
