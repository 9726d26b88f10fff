"""What a release is made of, and the names that things have in it."""

import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from django.db.models import QuerySet

from annotation.choices import StudyState
from annotation.external.queries import batches_of
from annotation.models import Comparison, Judgment, Rater, Study
from annotation.rationales.passages import RATER_ID
from annotation.rationales.queries import TextCounts, texts_for_release
from completions.dialogues.licences import allows_texts, may_share
from completions.models import Completion, Context
from ranking.models import Fit, Release
from ranking.released.identities import (
    JUDGMENT,
    OTHER,
    PAIR,
    RATER,
    K,
    coarsened,
    identity,
    renamed,
)


@dataclass(frozen=True)
class Contents:
    """A release that is to be written, and the fits whose ratings it holds.

    ``rationales`` are the texts that may be released, by the keys of judgments; ``attributes``
    what may be told of raters, by their keys.
    """

    release: Release
    fits: tuple[Fit, ...]
    rationales: Mapping[int, str]
    attributes: Mapping[int, Mapping[str, str]]
    notes: tuple[str, ...] = ()

    @property
    def study(self) -> Study:
        """The study that is released."""
        return self.release.study

    @property
    def as_of(self) -> dt.datetime:
        """As of when."""
        return self.release.as_of

    @cached_property
    def shares_text(self) -> bool:
        """Whether the dialogues may be handed on."""
        dataset = self.study.dataset
        return allows_texts(dataset.licence, is_authored=dataset.is_authored)

    @cached_property
    def raters(self) -> dict[int, str]:
        """The ids of raters by their keys: of all but those whose answers were deleted."""
        rows = Rater.objects.filter(study=self.study).exclude(data_kept=False)
        return {
            pk: identity(self.release.secret, RATER, code)
            for pk, code in rows.values_list("pk", "code")
        }

    @cached_property
    def codes(self) -> dict[str, str]:
        """The ids of all raters by their pseudonyms."""
        rows = Rater.objects.filter(study=self.study).values_list("code", flat=True)
        return {code: identity(self.release.secret, RATER, code) for code in rows}

    @cached_property
    def comparisons(self) -> dict[int, str]:
        """The names of the study's comparisons by their keys, in the order of these."""
        keys = Comparison.objects.filter(study=self.study).order_by("pk")
        return _numbered("p", list(keys.values_list("pk", flat=True)))

    @cached_property
    def completions(self) -> dict[int, str]:
        """The names of all completions that are compared, by their keys, in order."""
        pairs = Comparison.objects.filter(study=self.study).values_list("first", "second")
        keys: set[int | None] = {pk for pair in pairs.iterator() for pk in pair}
        return _numbered("c", sorted(pk for pk in keys if pk is not None))

    @cached_property
    def contexts(self) -> list[int]:
        """The keys of the contexts that completions answer, in order."""
        rows = Completion.objects.filter(context__comparisons__study=self.study)
        return sorted(set(rows.values_list("context", flat=True).distinct()))

    @cached_property
    def languages(self) -> list[str]:
        """The languages of the contexts, sorted."""
        rows = Context.objects.filter(pk__in=self.contexts).exclude(dialogue__language="")
        return sorted(set(rows.values_list("dialogue__language", flat=True)))

    def judgment(self, pk: int) -> str:
        """Return the id of a judgment."""
        return identity(self.release.secret, JUDGMENT, str(pk))

    def rationale(self, judgment: int) -> str | None:
        """Return a reason in words, if it may be released, without the pseudonyms in it.

        No rule finds those that have no digit, and nobody need be asked what becomes of them.
        """
        text: str | None = renamed(self.rationales.get(judgment), self._removed)
        return text or None

    @cached_property
    def _removed(self) -> dict[str, str]:
        return dict.fromkeys(self.codes, f"[{RATER_ID} removed]")

    def pair(self, key: str) -> str:
        """Return the key of a pair of which a text was deleted.

        The pair's own is made of both contents: it would confirm a guess at the deleted one.
        """
        return identity(self.release.secret, PAIR, key)


def judgments_of(release: Release) -> QuerySet[Judgment]:
    """Return the judgments that are released, whether or not they count."""
    given = Judgment.objects.filter(
        comparison__study=release.study, submitted_at__lte=release.as_of
    )
    return given.exclude(rater__data_kept=False)


def _numbered(letter: str, keys: list[int]) -> dict[int, str]:
    return {pk: f"{letter}{number:06d}" for number, pk in enumerate(keys, start=1)}


def contents_of(release: Release) -> Contents:
    """Return what a claimed release is made of, and what is said of what is left out."""
    fits = {fit.key: fit for fit in Fit.objects.filter(key__in=release.fits)}
    texts = texts_for_release(release.study, as_of=release.as_of)
    attributes, notes = _attributes(release)
    told = set(judgments_of(release).exclude(rationale="").values_list("pk", flat=True))
    return Contents(
        release=release,
        fits=tuple(fits[key] for key in release.fits),
        rationales={pk: text for pk, text in texts if pk in told},
        attributes=attributes,
        notes=(*_notes(release, texts.counts), *notes),
    )


def _attributes(release: Release) -> tuple[dict[int, dict[str, str]], list[str]]:
    """Return what may be told of raters by their keys, and what is said of what may not.

    That is the platform that they came by, where enough came by it (k-anonymity).
    """
    judged = Rater.objects.filter(pk__in=judgments_of(release).values("rater"))
    found = list(judged.order_by("pk").values_list("pk", "platform"))
    values = tuple(platform for _, platform in found)
    coarse = coarsened(values)
    if coarse is None:
        notes = [f"The platform of raters, of which fewer than {K} share one."]
        return {pk: {} for pk, _ in found}, notes
    merged = (
        f"Values of the platform of raters that fewer than {K} raters share: they are {OTHER!r}."
    )
    rows = {pk: {"platform": one} for (pk, _), one in zip(found, coarse, strict=True)}
    return rows, [merged] if coarse != values else []


def _notes(release: Release, texts: TextCounts) -> Iterator[str]:
    if texts.masked:
        yield f"Passages of {texts.masked} rationales, which a person had removed."
    if texts.withheld:
        yield f"{texts.withheld} rationales, which a person withheld."
    if texts.waiting or texts.unscanned:
        n = texts.waiting + texts.unscanned
        yield f"{n} rationales, which were not cleared of personal data."
    kept = [
        one
        for one in batches_of(release.study, as_of=release.claimed_at)
        if vars(one)["is_out"] or not may_share(one.licence)
    ]
    if kept:
        yield (
            f"The rows of {len(kept)} batches of judgments made elsewhere, which were left out or "
            "whose licence is not known to let them be passed on."
        )
    withdrawn = Rater.objects.filter(study=release.study, data_kept=False)
    gone = withdrawn.filter(judgments__submitted_at__lte=release.as_of).distinct().count()
    if gone:
        yield f"Everything by {gone} people who withdrew and had their answers deleted."
    if release.study.state != StudyState.CLOSED:
        yield "The expected answers of checks, which may still be asked."
        yield "The seed of the draws, which would tell what raters get next."
