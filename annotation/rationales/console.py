"""The console's pages on a study's rationales: personal data in them, and checks of themes."""

from collections.abc import Sequence

from django import forms
from django.contrib import messages
from django.db.models import QuerySet
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from access.console.tables import Table, TableQuery, csv_of
from access.roles import StaffRequest
from annotation.choices import TextOutcome, TextState
from annotation.models import RationaleScan, Study
from annotation.rationales import passages, queries
from annotation.rationales.queries import TEXTS
from annotation.rationales.services import labelling, scanning
from annotation.rationales.services.scanning import TextWords
from annotation.studies.http import figures_of, study_page
from annotation.studies.queries import study_file_name
from completions.dialogues.forms import TypedTextField
from completions.models import Assistant
from completions.strategies.console import SampleForm
from completions.strategies.desk import SampleDesk

NEWEST = 20
QUEUES = (TextState.WAITING, TextState.RELEASED, TextState.MASKED, TextState.WITHHELD)
"""States that have a list; what nothing was found in has none."""
COLUMNS = ("judgment", "by", "found", "state", "read_at")
LISTING = Table(
    orders={
        "judgment": (gettext_lazy("Judgment"), ("judgment",)),
        "by": (gettext_lazy("By"), ("judgment__rater__code", "judgment__judge__slug")),
        "found": (gettext_lazy("Found"), ("n_passages",)),
        "read": (gettext_lazy("Read"), ("scanned_at",)),
    },
    usual="judgment",
    searched=("judgment__rater__code", "judgment__judge__slug"),
)


@require_safe
@study_page
def queue(request: StaffRequest, study: Study) -> HttpResponse:
    """Show how the study's rationales stand, and those of one state."""
    state, filters = _asked(request)
    shown = figures_of(study, TEXTS, now=timezone.now())
    counts = shown.figures
    rows = queries.queue(study, state=state)
    found = filters.page(rows, request.GET.get("page", ""))
    context = {
        "study": study,
        "counts": counts,
        "state": state,
        "shown": shown,
        "states": [(one.value, one.label, getattr(counts, one.lower(), None)) for one in QUEUES],
        "page": found,
        "filters": filters,
        "decisions": queries.decisions(study)[:NEWEST],
    }
    return render(request, "console/study/personal_data.html", context)


@require_safe
@study_page
def queue_csv(request: StaffRequest, study: Study) -> StreamingHttpResponse:
    """Download the same list, without a text."""
    state, filters = _asked(request)
    rows = filters.apply(queries.queue(study, state=state)).iterator(chunk_size=1000)
    cells = (
        (one.judgment_id, _who(one), " ".join(one.kinds), state, one.scanned_at) for one in rows
    )
    return csv_of(request, study_file_name(study, "personal-data"), COLUMNS, cells)


def _who(scan: RationaleScan) -> str:
    rater = scan.judgment.rater
    return rater.code if rater else str(scan.judgment.judge)


def _asked(request: StaffRequest) -> tuple[str, TableQuery]:
    state = request.GET.get("state", TextState.WAITING)
    if state not in QUEUES:
        raise Http404
    return state, LISTING.asked(request, state=state)


@require_http_methods(["GET", "HEAD", "POST"])
@study_page
def text(request: StaffRequest, study: Study, pk: int) -> HttpResponse:
    """Show one rationale with its passages marked, and store what is decided about it."""
    form = TextDecision(request.POST if request.method == "POST" else None)
    faults = (form.errors.get(name) for name in ("outcome", "reason", "also"))
    error: Sequence[object] | None = next(filter(None, faults), None)
    if form.is_valid():
        try:
            scanning.decide_rationale(
                study=study, judgment=pk, words=form.words(), by=request.user, now=timezone.now()
            )
        except RationaleScan.DoesNotExist as missing:
            raise Http404 from missing
        except scanning.NothingToMaskError as refusal:
            error = [refusal]
        else:
            messages.success(request, form.cleaned_data["outcome"].label)
            return _next_page(study, pk)
    scan = queries.scan_of(study, pk)
    if scan is None:
        raise Http404
    written, found = scan.judgment.rationale, queries.passages_of(scan)
    before, after = queries.neighbours(study, pk)
    context = {
        "study": study,
        "scan": scan,
        "pieces": list(passages.pieces(written, found)),
        "masked": passages.masked(written, found),
        "decisions": queries.decisions(study).filter(judgment=pk),
        "form": form,
        "error": error[0] if error else "",
        "previous": before,
        "next": after,
    }
    status = 422 if error else 200
    return render(request, "console/study/personal_text.html", context, status=status)


def _next_page(study: Study, pk: int) -> HttpResponse:
    """Lead to the next that waits, from the start again, or to the queue."""
    _before, after = queries.neighbours(study, pk)
    following = after or queries.first_waiting(study)
    if following is None:
        return redirect("console:personal_data", study.slug)
    return redirect("console:personal_text", study.slug, following)


MAX_REASON = 1000
MAX_ALSO = 2000
LONG_REASON = gettext_lazy("The reason is longer than 1000 characters. Say it more briefly.")
NO_OUTCOME = gettext_lazy("Choose what becomes of the text.")


class TextDecision(forms.Form):
    """Release a text, with or without the passages, or not at all."""

    outcome = forms.TypedChoiceField(
        choices=TextOutcome.choices,
        coerce=TextOutcome,
        error_messages={"required": NO_OUTCOME, "invalid_choice": NO_OUTCOME},
    )
    reason = TypedTextField(
        required=False, max_length=MAX_REASON, error_messages={"max_length": LONG_REASON}
    )
    also = TypedTextField(required=False, max_length=MAX_ALSO)

    def words(self) -> TextWords:
        """Return what was decided; each line of ``also`` is words to remove, too."""
        cleaned = self.cleaned_data
        lines = tuple(line.strip() for line in cleaned["also"].splitlines() if line.strip())
        return TextWords(cleaned["outcome"], cleaned["reason"], lines)


@require_safe
@study_page
def overview(request: StaffRequest, study: Study) -> HttpResponse:
    """Show every sample, with what people and the model agree on."""
    return _overview(request, study)


@require_POST
@study_page
def draw(request: StaffRequest, study: Study) -> HttpResponse:
    """Draw the reasons that two people label."""
    form = SampleForm(_assistants(study), request.POST)
    if not form.draw(labelling.draw_theme_sample, by=request.user, study=study):
        return _overview(request, study, form)
    messages.success(request, _("The sample is drawn. Two people can label it now."))
    return redirect("console:theme_overview", study.slug)


def _overview(request: StaffRequest, study: Study, form: SampleForm | None = None) -> HttpResponse:
    desk, asked = desk_of(study), _assistants(study)
    parts = {
        "study": study,
        "checks": [desk.overview_of(one, request.user) for one in desk.samples],
        "is_asked": asked.exists(),
        "sample": form or SampleForm(asked),
    }
    status = 422 if form else 200
    return render(request, "console/study/themes.html", parts, status=status)


def _assistants(study: Study) -> QuerySet[Assistant]:
    return Assistant.objects.filter(rationale_calls__judgment__comparison__study=study)


def desk_of(study: Study) -> SampleDesk:
    """Return where the study's samples are labelled."""
    samples = study.theme_checks.select_related("assistant").order_by("-pk")
    parts = {"study": study, "here": "themes", "below": True}
    return SampleDesk(study, samples, "console:theme_", "console/study/_tabs.html", parts)
