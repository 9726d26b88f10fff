"""Reads about one person: who is meant by a code or an id, and what is held about them."""

import datetime as dt
from dataclasses import dataclass

from django.db.models import Count, Q
from django.utils.translation import gettext as _

from annotation.choices import Platform, RaterState
from annotation.models import Judgment, PlatformSubmission, Rater
from completions.choices import WriterState
from completions.models import Message, MessageRevision, Writer

MOST = 50


@dataclass(frozen=True)
class PersonFound:
    """Somebody who takes part in a study or writes for a dataset, by the pseudonym there."""

    code: str
    is_writer: bool
    where: str
    state_label: str
    since: dt.datetime
    is_simulated: bool


@dataclass(frozen=True)
class Held:
    """What is held about somebody: each kind with its number, and which links to them there are.

    ``links`` says of each link to the person whether there is one; what it is, is shown nowhere.
    ``submissions`` are those of a rater's platform, and ``is_bound`` says whether their browser is
    the only one that a platform's link lets in.
    """

    person: PersonFound
    is_withdrawn: bool
    is_erased: bool
    ended_at: dt.datetime | None
    consents: tuple[tuple[str, dt.datetime], ...]
    links: tuple[tuple[str, bool], ...]
    counts: tuple[tuple[str, int], ...]
    submissions: tuple[PlatformSubmission, ...] = ()
    is_bound: bool = False


def find_people(text: str) -> list[PersonFound]:
    """Return whom a code, a platform's id or an address means, in two queries."""
    text = text.strip()
    if not text:
        return []
    raters = Rater.objects.filter(Q(code__iexact=text) | Q(external_id__iexact=text))
    writers = Writer.objects.filter(
        Q(code__iexact=text) | Q(email__iexact=text) | Q(imported_as__iexact=text)
    )
    found = raters.select_related("study").order_by("-entered_at")[:MOST]
    authors = writers.select_related("dataset").order_by("-invited_at")[:MOST]
    return [*map(_rater_found, found), *map(_writer_found, authors)]


def rater_of(code: str) -> Rater | None:
    """Return the rater with a code, with the study, or None."""
    return Rater.objects.select_related("study").filter(code=code).first()


def writer_of(code: str) -> Writer | None:
    """Return the writer with a code, with the dataset, or None."""
    return Writer.objects.select_related("dataset").filter(code=code).first()


def held_of_rater(rater: Rater) -> Held:
    """Return what is held about a rater, in eight queries."""
    given = Judgment.objects.filter(rater=rater).aggregate(**counted("rationale"))
    reports = rater.reports.aggregate(**counted("text"))
    submissions = tuple(rater.submissions.order_by("number"))
    return Held(
        person=_rater_found(rater),
        is_withdrawn=rater.state == RaterState.WITHDRAWN,
        is_erased=not rater.data_kept,
        ended_at=rater.ended_at,
        consents=tuple(rater.consents.order_by("given_at").values_list("version", "given_at")),
        links=(
            (_("id of the platform"), bool(rater.external_id)),
            (_("session of the platform"), any(one.session_id for one in submissions)),
            (_("time zone"), rater.utc_offset_minutes is not None),
            (_("the same person as a writer"), rater.writer_id is not None),
            (_("messages of the platform"), rater.platform_events.exists()),
        ),
        counts=(
            (_("judgments"), given["n"]),
            (_("reasons"), given["worded"]),
            (_("pairs handed out"), rater.leases.count()),
            (_("reports"), reports["n"]),
            (_("words in reports"), reports["worded"]),
            (_("guesses who wrote"), rater.source_guesses.count()),
            (_("decisions to leave out or take back"), rater.exclusions.count()),
        ),
        submissions=submissions,
        is_bound=bool(rater.external_id and rater.bound_by),
    )


def counted(text: str) -> dict[str, Count]:
    """Return how to count rows, and those of them that have words."""
    return {"n": Count("pk"), "worded": Count("pk", filter=~Q(**{text: ""}))}


def held_of_writer(writer: Writer) -> Held:
    """Return what is held about a writer, in eight queries."""
    versions = MessageRevision.objects.filter(message__lease__writer=writer)
    return Held(
        person=_writer_found(writer),
        is_withdrawn=writer.state == WriterState.WITHDRAWN,
        is_erased=not writer.texts_kept,
        ended_at=None,
        consents=tuple(writer.consents.order_by("given_at").values_list("version", "given_at")),
        links=(
            (_("mail address"), bool(writer.email)),
            (_("background"), bool(writer.background)),
            (_("name in an imported file"), bool(writer.imported_as)),
        ),
        counts=(
            (_("messages"), Message.objects.filter(lease__writer=writer).count()),
            (_("versions of them with their text"), versions.filter(erased_at=None).count()),
            (
                _("texts that studies may compare"),
                writer.completions.filter(erased_at=None).count(),
            ),
            (_("conversations handed out"), writer.leases.count()),
            (_("drafts"), writer.leases.exclude(draft="").count()),
            (_("mails sent"), writer.mails.filter(sent_at__isnull=False).count()),
            (_("mails that wait"), writer.mails.filter(sent_at=None).count()),
        ),
    )


def _rater_found(rater: Rater) -> PersonFound:
    return PersonFound(
        code=rater.code,
        is_writer=False,
        where=f"{rater.study.title} ({Platform(rater.platform).label})",
        state_label=RaterState(rater.state).label,
        since=rater.entered_at,
        is_simulated=rater.is_simulated,
    )


def _writer_found(writer: Writer) -> PersonFound:
    return PersonFound(
        code=writer.code,
        is_writer=True,
        where=writer.dataset.name,
        state_label=str(WriterState(writer.state).label),
        since=writer.invited_at,
        is_simulated=writer.is_simulated,
    )
