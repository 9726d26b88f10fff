"""The audit of a study's blinding: what is searched and tested, what that says, and its run."""

import datetime as dt
import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field

import numpy as np

from access.background import why_ended
from annotation import audits
from annotation.choices import Side, Source
from annotation.models import BlindingAudit, Lease, SourceGuess, Study
from completions.models import System, Writer
from completions.runs.services.exclusive import AWAY
from heart_site.blinding import odds, replaying
from heart_site.blinding.replaying import PEOPLE, Replay, leases_of, replay

FEWEST = 8  # pairs of either kind; fewer test nothing


@dataclass(frozen=True)
class AuditReport:
    """What an audit saw.

    ``faults`` are what the platform gives away, by kind with what was found; ``texts`` tells what
    the texts themselves say, which no platform can hide; ``published`` names the results that an
    owner published while the study goes on.
    """

    n_pages: int
    n_leases: int
    faults: dict[str, list[str]] = field(default_factory=dict)
    tests: list[odds.Test] = field(default_factory=list)
    telling: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    published: list[str] = field(default_factory=list)
    guesses: odds.Test | None = None
    is_simulated: bool = False

    @property
    def holds(self) -> bool:
        """Whether the platform gave nothing away."""
        return not self.faults and not self.telling

    def as_json(self) -> dict[str, object]:
        """Return plain values, with what follows from them."""
        return asdict(self) | {"holds": self.holds}

    def summary(self) -> dict[str, object]:
        """Return what the log says of it."""
        return {
            "n_pages": self.n_pages,
            "faults": {kind: len(found) for kind, found in self.faults.items()},
            "telling": self.telling,
        }


def audit(
    study: Study,
    *,
    n_pages: int,
    seed: int,
    now: dt.datetime,
    tell: Callable[[int, int], None] | None = None,
) -> AuditReport:
    """Replay the newest pages of a study's raters, search them, and test what could tell.

    What the public may read of its results is replayed as well.

    Parameters
    ----------
    study : Study
        Whose leases are replayed; nothing of it changes.
    n_pages : int
        How many pages at most. The balance of sides is counted over all leases.
    seed : int
        Of the deals that guesses are held against.
    now : datetime.datetime
        Of the answer that is added to see whether results move, and taken back.
    tell : callable, optional
        Told how many pages are done, of how many.

    Returns
    -------
    AuditReport
    """
    leases = leases_of(study)
    n_leases = leases.count()
    chosen = leases[:n_pages]
    total = min(n_pages, n_leases)
    search = _Search(study)
    pages: list[_Page] = []
    for done, one in enumerate(replay(study, chosen), start=1):
        search.look_at(one)
        if one.person_is_a is not None:
            pages.append(_Page.of(one, is_person=one.person_is_a))
        if tell is not None:
            tell(done, total)
    moving = replaying.oracles(study, now=now)
    tests = [*_sides(study), *_orderings(pages), *_tags(pages), *search.tests]
    return AuditReport(
        n_pages=total,
        n_leases=n_leases,
        faults=search.faults | ({"oracle": moving} if moving else {}),
        tests=tests,
        telling=[one.what for one in odds.significant(tests)],
        texts=sorted(search.texts),
        published=replaying.publications(study),
        guesses=_guesses(study, seed=seed),
        is_simulated=study.is_simulated,
    )


@dataclass(frozen=True)
class _Page:
    """What is known of one page beside its texts, and whether a person wrote A or the one text."""

    is_person: bool
    is_pair: bool
    number: int
    token: float
    length: int
    seconds: float
    tags: Mapping[str, tuple[int, tuple[int, ...]]]

    @classmethod
    def of(cls, one: Replay, *, is_person: bool) -> "_Page":
        """Keep of a page what the tests look at; the time for a single text is that of a blank.

        How long a text alone takes goes with its length, which everybody sees.
        """
        return cls(
            is_person=is_person,
            is_pair=one.is_pair,
            number=one.lease.number,
            token=one.lease.token.int / 2.0**128,
            length=len(one.markup),
            seconds=one.seconds if one.is_pair else one.seconds_blank,
            tags=replaying.tags_of(one.markup) if one.is_pair else {},
        )


class _Search:
    """Looks for names and ids on pages, and for pages that differ in more than their texts."""

    def __init__(self, study: Study) -> None:
        self.texts: set[str] = set()
        self._n_pages = 0
        self._found: dict[str, set[str]] = {}
        self._named: dict[str, list[int]] = {}
        self._placed: dict[str, list[tuple[float, bool]]] = {}
        self._headers: tuple[str, ...] | None = None
        self._names = _names(study)

    @property
    def faults(self) -> dict[str, list[str]]:
        """What was found, by kind; a name that stands on every page tells by its place alone."""
        named = [
            f"{name} on {len(leases)} pages, the first of lease {leases[0]}"
            for name, leases in sorted(self._named.items())
            if len(leases) < self._n_pages or self._n_pages == 1
        ]
        found = {kind: sorted(these) for kind, these in sorted(self._found.items())}
        return found | ({"names": named} if named else {})

    @property
    def tests(self) -> list[odds.Test]:
        """Tests whether a system's name, where every page has it, follows the system's side."""
        return [
            test
            for name, placed in sorted(self._placed.items())
            if len(self._named[name]) == self._n_pages
            for test in _tested(
                {f"where {name} stands on the page": [place for place, _ in placed]},
                [is_a for _, is_a in placed],
            )
        ]

    def look_at(self, one: Replay) -> None:
        """Search one page."""
        self._n_pages += 1
        lease, pair = one.lease.pk, one.lease.comparison
        ids = [pair.key, pair.context.key, *(each.content_hash for each in one.shown)]
        searched = "\n".join((one.markup, *one.headers))
        for name in replaying.names_in(searched, [*self._names, *ids]):
            self._named.setdefault(self._names.get(name, name), []).append(lease)
        if one.is_pair:
            self._place(one)
        if one.markup != one.blank:
            self._fault("markup", f"the page of lease {lease} differs in more than its texts")
        if self._headers not in (None, one.headers):
            self._fault("headers", f"those of lease {lease} differ from those before it")
        self._headers = one.headers
        for text, each in zip(one.texts, one.shown, strict=True):
            found = replaying.names_in(text, [each.system.name, each.system.model_id])
            self.texts |= {f"completion {each.content_hash[:12]} names {name}" for name in found}

    def _place(self, one: Replay) -> None:
        """Keep where the names of both systems stand, and whether the system is on side A."""
        for each in one.shown:
            row = each.system
            names = self._names.keys() & {row.slug, row.name, row.model_id, row.family}
            for name in replaying.names_in(one.markup, names):
                placed = self._placed.setdefault(self._names[name], [])
                placed.append((replaying.place_of(one.markup, name), each is one.shown[0]))

    def _fault(self, kind: str, what: str) -> None:
        self._found.setdefault(kind, set()).add(what)


def _names(study: Study) -> dict[str, str]:
    """Return what nobody may read on a page, and how a report names it.

    Systems' and writers' names in every spelling; a report does not repeat a writer's address.
    """
    systems = System.objects.filter(completions__context__dataset=study.dataset_id).distinct()
    rows = systems.values_list("slug", "name", "model_id", "family")
    names = {name: name for row in rows for name in row if name}
    for writer in Writer.objects.filter(dataset=study.dataset_id):
        names[writer.code] = writer.code
        names |= dict.fromkeys((writer.email, writer.imported_as), f"a name of {writer.code}")
    return {name: label for name, label in names.items() if name}


def _sides(study: Study) -> list[odds.Test]:
    """Test, over all leases, whether each system, and people, are drawn as A half the time."""
    kind, slug = "comparison__{}__system__kind", "comparison__{}__system__slug"
    names = [text.format(place) for place in ("first", "second") for text in (slug, kind)]
    rows = Lease.objects.filter(rater__study=study, comparison__second__isnull=False)
    as_a, as_b = Counter[str](), Counter[str]()
    for side, first, first_kind, second, second_kind in rows.values_list(
        "first_side", *names
    ).iterator():
        shown = [(first, first_kind in PEOPLE), (second, second_kind in PEOPLE)]
        (a, a_person), (b, b_person) = shown if side == Side.A else shown[::-1]
        as_a[a] += 1
        as_b[b] += 1
        if a_person != b_person:
            (as_a if a_person else as_b)["a person"] += 1
    return [
        odds.sides(f"side on which {name} stands", as_a=as_a[name], as_b=as_b[name])
        for name in sorted(as_a.keys() | as_b.keys())
    ]


def _orderings(pages: Sequence[_Page]) -> list[odds.Test]:
    """Test whether what is known of each page orders pages by who wrote A, or the one message."""
    measured: dict[str, Sequence[float]] = {
        "place in the rater's session": [one.number for one in pages],
        "token of the lease": [one.token for one in pages],
        "length of the markup": [one.length for one in pages],
        "time to make the page": [one.seconds for one in pages],
    }
    return _tested(measured, [one.is_person for one in pages])


def _tags(pages: Sequence[_Page]) -> list[odds.Test]:
    """Test the same of each kind of tag: how often it stands there, and the numbers in it.

    Of pairs alone: their sides are drawn whatever the context, and a single message goes with its.
    """
    pairs = [one for one in pages if one.is_pair]
    measured: dict[str, Sequence[float]] = {}
    for shape in sorted({shape for page in pairs for shape in page.tags}):
        found = [page.tags.get(shape) for page in pairs]
        measured[f"how often {shape} stands there"] = [one[0] if one else 0 for one in found]
        known = [one[1] for one in found if one is not None]
        if len(known) == len(pairs):
            for place, values in enumerate(zip(*known, strict=True), start=1):
                measured[f"number {place} of {shape}"] = [float(value) for value in values]
    return _tested(measured, [one.is_person for one in pairs])


def _tested(measured: Mapping[str, Sequence[float]], kinds: Sequence[bool]) -> list[odds.Test]:
    """Test what differs between pages at all, if there are enough of either kind."""
    is_first = np.array(kinds, dtype=bool)
    if min(int(is_first.sum()), int((~is_first).sum())) < FEWEST:
        return []
    return [
        odds.ordering(what, np.array(values, dtype=np.float64), is_first)
        for what, values in measured.items()
        if min(values) < max(values)
    ]


def _guesses(study: Study, *, seed: int) -> odds.Test | None:
    """Hold what raters guessed against chance; None if too few said anything."""
    rows = list(
        SourceGuess.objects.filter(rater__study=study)
        .exclude(guess=Source.UNSURE)
        .order_by("pk")
        .values_list("rater_id", "completion__system__kind", "guess")
    )
    is_person = np.array([kind in PEOPLE for _rater, kind, _guess in rows], dtype=bool)
    if min(int(is_person.sum()), int((~is_person).sum())) < FEWEST:
        return None
    return odds.guessing(
        np.array([rater for rater, _kind, _guess in rows], dtype=np.int64),
        is_person,
        np.array([guess == Source.PERSON for _rater, _kind, guess in rows], dtype=bool),
        rng=np.random.default_rng(seed),
    )


Clock = Callable[[], dt.datetime]
Tell = Callable[[int, int], None]
logger = logging.getLogger(__name__)

EVERY = 25  # pages between two signs of life
BROKEN = "It ended with an error of the software, which is in the log of the site."


def run_audit(*, audit_id: int, clock: Clock, tell: Tell = lambda _done, _all: None) -> bool:
    """Run a claimed audit and keep its report; say whether this call ended it.

    Safe to run twice: one that has ended is left alone, and of two that run at once, the later
    one's is kept. An error of the code is logged and kept as a failure.
    """
    claimed = audits.begin_audit(audit_id=audit_id, now=clock())
    if claimed is None:
        return False
    try:
        report = _report(claimed, clock, tell)
    except audits.AuditLostError:
        return False
    except AWAY:  # says nothing of the audit, which is begun again
        raise
    except Exception as error:
        logger.exception("audit %d failed", audit_id)
        audits.fail_audit(claimed, error=why_ended(error, BROKEN), now=clock())
        return True
    return audits.end_audit(
        claimed,
        holds=report.holds,
        report=report.as_json(),
        summary=report.summary(),
        now=clock(),
    )


def _report(claimed: BlindingAudit, clock: Clock, tell: Tell) -> AuditReport:
    def told(n_done: int, n_total: int) -> None:
        tell(n_done, n_total)
        if n_done % EVERY == 1 or n_done == n_total:
            audits.note_progress(claimed, n_done=n_done, n_total=n_total, now=clock())

    return audit(claimed.study, n_pages=claimed.n_pages, seed=claimed.seed, now=clock(), tell=told)
