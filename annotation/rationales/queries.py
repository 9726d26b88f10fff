"""Reads about rationales before a release: what waits, what was found, what may be released."""

import datetime as dt
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from annotation.choices import TextState
from annotation.models import Judgment, RationaleDecision, RationaleScan, Study
from annotation.rationales import passages
from annotation.rationales.passages import Passage
from annotation.studies.counts import has_few_judgments, newest_keys
from annotation.studies.stored_figures import FiguresKind

CHUNK = 2000
MOST_LIVE = 2_000
"""Judgments of which a page counts the rationales itself."""
MAY_GO = (TextState.CLEAN, TextState.RELEASED, TextState.MASKED)
"""States in which a text, or what is left of it, is released."""


@dataclass(frozen=True)
class TextCounts:
    """How many rationales of a study are released, and why others are not.

    ``clean`` are those in which nothing was found; ``released`` those that a person released as
    they are. ``unscanned`` are those that the rules of now have not read.
    """

    clean: int
    released: int
    masked: int
    withheld: int
    waiting: int
    unscanned: int

    @property
    def n_going(self) -> int:
        """How many texts are released, with or without passages removed."""
        return self.clean + self.released + self.masked

    @property
    def total(self) -> int:
        """How many rationales there are."""
        return self.n_going + self.withheld + self.waiting + self.unscanned


@dataclass(frozen=True)
class ReleaseTexts:
    """The texts of a study's rationales as they may be released; nothing is read before asked for.

    Iterating reads a few thousand at a time, by the judgment's key, whatever their number. With
    ``as_of`` they are those of judgments until then.
    """

    study: Study
    rules: str
    as_of: dt.datetime | None = None

    def __iter__(self) -> Iterator[tuple[int, str]]:
        """Yield the key of each judgment with the text that may be released."""
        rows = self._rows().order_by("judgment").iterator(chunk_size=CHUNK)
        return filter(None, map(_text, rows))

    def of(self, judgments: Collection[int]) -> dict[int, str]:
        """Return the texts of some judgments, a few thousand at most, in one query."""
        return dict(filter(None, map(_text, self._rows().filter(judgment__in=judgments))))

    @property
    def counts(self) -> TextCounts:
        """How many are released and how many are not, in two queries."""
        return counts(self.study, rules=self.rules, as_of=self.as_of)

    def _rows(self) -> QuerySet[RationaleScan]:
        scans = _scans(self.study, self.as_of).filter(rules=self.rules, state__in=MAY_GO)
        return scans.select_related("judgment").only(*COLUMNS)


COLUMNS = ("state", "passages", "text_hash", "judgment__rationale")


def texts_for_release(study: Study, *, as_of: dt.datetime | None = None) -> ReleaseTexts:
    """Return the rationales of a study which may be released, read as they are asked for.

    A text may be released if the rules of now found nothing in it, or a person decided so. What
    waits, is withheld or has not been scanned is left out.
    """
    return ReleaseTexts(study, passages.version(), as_of)


def counts(
    study: Study, *, rules: str | None = None, as_of: dt.datetime | None = None
) -> TextCounts:
    """Count the rationales of a study by how they stand, in two queries."""
    rules = rules or passages.version()
    by_state = _scans(study, as_of).filter(rules=rules).values_list("state")
    found: Mapping[str, int] = dict(by_state.annotate(n=Count("pk")).order_by())
    total = _given(study, as_of).count()
    return TextCounts(
        clean=found.get(TextState.CLEAN, 0),
        released=found.get(TextState.RELEASED, 0),
        masked=found.get(TextState.MASKED, 0),
        withheld=found.get(TextState.WITHHELD, 0),
        waiting=found.get(TextState.WAITING, 0),
        unscanned=max(0, total - sum(found.values())),
    )


def _basis(_study: Study) -> object:
    """Return what changes with every answer, reading and decision, of whichever study."""
    return newest_keys(Judgment, RationaleScan, RationaleDecision)


TEXTS = FiguresKind(
    "texts",
    lambda study: has_few_judgments(study, most=MOST_LIVE),
    _basis,
    lambda study, _now: counts(study),
)


def unscanned(*, rules: str, study: Study | None = None, after: int = 0) -> QuerySet[Judgment]:
    """Return the judgments whose rationale the rules have not read, above a key, by their key."""
    read = RationaleScan.objects.filter(judgment=OuterRef("pk"), rules=rules)
    given = Judgment.objects.exclude(rationale="") if study is None else _given(study)
    return given.filter(~Exists(read), pk__gt=after).order_by("pk")


def passages_of(scan: RationaleScan) -> tuple[Passage, ...]:
    """Return what was found, or marked by a person, in a rationale."""
    return tuple(Passage(*one) for one in scan.passages)


def queue(study: Study, *, state: str) -> QuerySet[RationaleScan]:
    """Return the rationales in one state; of texts, none is read."""
    shown = _scans(study).filter(state=state).select_related("judgment__rater", "judgment__judge")
    return shown.defer("judgment__rationale")


def neighbours(study: Study, judgment: int) -> tuple[int | None, int | None]:
    """Return the judgments before and after one whose rationales wait, or None, in two queries."""
    keys = waiting(study).values_list("judgment", flat=True)
    before = keys.filter(judgment__lt=judgment).order_by("-judgment").first()
    return before, keys.filter(judgment__gt=judgment).order_by("judgment").first()


def first_waiting(study: Study) -> int | None:
    """Return the first judgment whose rationale waits, or None."""
    return waiting(study).values_list("judgment", flat=True).first()


def waiting(study: Study) -> QuerySet[RationaleScan]:
    """Return the rationales that wait for a person, the oldest first."""
    return _scans(study).filter(state=TextState.WAITING).order_by("judgment")


def scan_of(study: Study, judgment: int) -> RationaleScan | None:
    """Return what was found in one rationale, with who gave it, or None if it has no scan."""
    shown = _scans(study).select_related("judgment__rater", "judgment__judge")
    return shown.filter(judgment=judgment).first()


def decisions(study: Study) -> QuerySet[RationaleDecision]:
    """Return the decisions about a study's rationales, the newest first."""
    decided = RationaleDecision.objects.filter(judgment__comparison__study=study)
    return decided.select_related("decided_by").order_by("-decided_at", "-pk")


def _given(study: Study, as_of: dt.datetime | None = None) -> QuerySet[Judgment]:
    until = {} if as_of is None else {"submitted_at__lte": as_of}
    return Judgment.objects.filter(comparison__study=study, **until).exclude(rationale="")


def _scans(study: Study, as_of: dt.datetime | None = None) -> QuerySet[RationaleScan]:
    until = {} if as_of is None else {"judgment__submitted_at__lte": as_of}
    return RationaleScan.objects.filter(
        ~Q(judgment__rationale=""), judgment__comparison__study=study, **until
    )


def _text(scan: RationaleScan) -> tuple[int, str] | None:
    """Return a text as it may be released; none if it is not the text that was read."""
    text = scan.judgment.rationale
    if passages.digest(text) != scan.text_hash:
        return None
    if scan.state == TextState.MASKED:
        text = passages.masked(text, passages_of(scan))
    return scan.judgment_id, text
