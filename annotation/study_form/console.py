"""The console's pages that make a study by a form or a file, and change it until it is locked."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from access.roles import StaffRequest
from annotation.models import Study
from annotation.studies import queries as study_queries
from annotation.studies.http import managers_page, study_or_404, study_page
from annotation.studies.protocol.files import (
    ProtocolError,
    as_toml,
    check_values,
    parse_protocol,
    shipped_studies,
    shipped_study,
    values_of,
)
from annotation.studies.protocol.study import StudyProtocol
from annotation.studies.rubric import Rubric, RubricError, load_rubric
from annotation.studies.services import drafts, states
from annotation.study_form.forms import StudyFile, StudyForm
from completions.files.toml import content_hash
from completions.models import Dataset

REFUSALS = (
    drafts.DimensionUnknownError,
    drafts.NothingChangedError,
    drafts.RubricShownError,
    drafts.SeedTakenError,
    drafts.StudyExistsError,
    states.StudyStateError,
    RubricError,
)
BESIDE: Mapping[type[Exception], str] = {
    drafts.DimensionUnknownError: "analysis",
    drafts.SeedTakenError: "seed",
    drafts.StudyExistsError: "slug",
    RubricError: "rubric",
}
"""The field that each refusal is about; others are about the study as a whole."""
_CHANGED = gettext_lazy(
    "Somebody changed the draft after you opened it. Look at it in another tab, take over what is "
    "new, and store your change again."
)


@require_safe
@managers_page
def start(request: StaffRequest) -> HttpResponse:
    """Ask what a new study starts from: a template, or a file."""
    return _start(request, StudyFile())


@require_http_methods(["GET", "HEAD", "POST"])
@managers_page
def fill(request: StaffRequest, template: str) -> HttpResponse:
    """Show the form over a template, and store what comes back as a draft."""
    form = form_over_template(request, template)
    if study := _stored(form, partial(_create, request)):
        return _created(request, study)
    return _form(request, form, template=template)


@require_POST
@managers_page
def take_file(request: StaffRequest) -> HttpResponse:
    """Store a study file that was sent or pasted as a draft."""
    form = StudyFile(request.POST, request.FILES)
    if not form.is_valid():
        return _start(request, form)
    told = form.cleaned_data
    try:
        protocol = parse_protocol(told["text"], source=told["source"])
        study = _create(request, protocol, load_rubric(protocol.rubric), told["dataset"])
    except (ProtocolError, *REFUSALS) as error:
        for line in str(error).splitlines():
            form.add_error(None, line)
        return _start(request, form)
    return _created(request, study)


@require_http_methods(["GET", "HEAD", "POST"])
@managers_page
def edit(request: StaffRequest, study: str) -> HttpResponse:
    """Show the form over a draft, and store what comes back in its place."""
    draft = study_or_404(study)
    if draft.locked_at is not None:
        messages.error(request, _("The study is locked and can no longer change."))
        return redirect("console:protocol", draft.slug)
    form = form_over_study(request, draft)
    seen = content_hash({"dataset": draft.dataset.slug, **draft.content})
    told = request.POST.get("seen", seen)
    if told != seen and form.is_valid():
        form.blame("", str(_CHANGED))
        told = seen  # the next time whoever was told has looked
    if changed := _stored(form, partial(_change, request, draft)):
        return redirect("console:protocol", changed.slug)
    return _form(request, form, study=draft, seen=told)


@require_http_methods(["GET", "HEAD", "POST"])
@managers_page
def version(request: StaffRequest, study: str) -> HttpResponse:
    """Show the form over a locked study, and store what comes back as its next version."""
    locked = study_or_404(study)
    if locked.locked_at is None or locked.is_simulated:
        messages.error(request, _("A version is made of a study that is locked and of people."))
        return redirect("console:protocol", locked.slug)
    newest = study_queries.newest_version(locked)
    if newest.locked_at is None:
        messages.info(request, _("The next version is a draft already: this one."))
        return redirect("console:protocol", newest.slug)
    form = form_over_study(request, locked)
    if made := _stored(form, partial(_create_version, request)):
        return _created(request, made)
    return _form(request, form, study=locked, is_version=True)


def form_over_template(request: StaffRequest, template: str) -> StudyForm:
    """Return the form over a study that ships, with what was sent."""
    if template not in shipped_studies():
        raise Http404
    values = shipped_study(template).model_dump(mode="json", exclude_none=True)
    return StudyForm(request.POST or None, values=values)


def form_over_study(request: StaffRequest, study: Study) -> StudyForm:
    """Return the form over a draft, or over a locked study that a version is made of."""
    values = values_of(study.content)
    if study.locked_at is None:
        start = {"dataset": study.dataset.slug}
        return StudyForm(request.POST or None, values=values, initial=start)
    newest = study_queries.newest_version(study)
    slug = drafts.versioned_slug(newest.name, newest.version + 1)
    fixed = {"slug": slug, "dataset": newest.dataset.slug}
    values |= {"name": study.name}
    return StudyForm(request.POST or None, values=values, initial=fixed, fixed=fixed)


@require_safe
@study_page
def protocol(request: StaffRequest, study: Study) -> HttpResponse:
    """Show what the study asks, in which numbers and by which rules."""
    parts = {"study": study, "content": study.content, "file": _file(study)}
    return render(request, "console/study/protocol.html", parts)


@require_safe
@study_page
def toml(_request: StaffRequest, study: Study) -> HttpResponse:
    """Send the study's file, with the seed of a closed study alone."""
    answer = HttpResponse(_file(study), content_type="application/toml; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{study.slug}.toml"'
    return answer


def _create(
    request: StaffRequest, protocol: StudyProtocol, rubric: Rubric, dataset: Dataset
) -> Study:
    return drafts.create_study(
        protocol=protocol,
        rubric=rubric,
        dataset=dataset,
        now=timezone.now(),
        by=request.user,
        may_replace=False,
    )


def _create_version(
    request: StaffRequest, protocol: StudyProtocol, rubric: Rubric, _dataset: Dataset
) -> Study:
    return drafts.create_version(
        protocol=protocol, rubric=rubric, now=timezone.now(), by=request.user
    )


def _change(
    request: StaffRequest, draft: Study, protocol: StudyProtocol, rubric: Rubric, dataset: Dataset
) -> Study:
    changed, n_void = drafts.edit_study(
        study=draft,
        protocol=protocol,
        rubric=rubric,
        dataset=dataset,
        now=timezone.now(),
        by=request.user,
    )
    messages.success(request, _said(n_void))
    return changed


def _stored(
    form: StudyForm, store: Callable[[StudyProtocol, Rubric, Dataset], Study]
) -> Study | None:
    """Store what a valid form says; what a service refuses goes beside the field it is about."""
    protocol = form.protocol if form.is_valid() else None
    if protocol is None:
        return None
    try:
        return store(protocol, load_rubric(protocol.rubric), form.cleaned_data["dataset"])
    except REFUSALS as error:
        form.blame(BESIDE.get(type(error), ""), str(error))
    return None


def _said(n_void: int) -> str:
    if not n_void:
        return _("The draft is changed.")
    return ngettext(
        "The draft is changed. %(n)s comparison of its plan is void: plan it again.",
        "The draft is changed. %(n)s comparisons of its plan are void: plan them again.",
        n_void,
    ) % {"n": f"{n_void:,}"}


def _created(request: StaffRequest, study: Study) -> HttpResponse:
    messages.success(request, _("The draft is stored. This is what its plan would come to."))
    return redirect("console:plan", study.slug)


def _file(study: Study) -> str:
    """Return the study's file, with its seed once that is no secret any more."""
    file = check_values(values_of(study.content))
    if not study.disclosed_seed:
        return "# The seed is secret until the study is closed.\n" + as_toml(file)
    return as_toml(file.model_copy(update={"seed": study.disclosed_seed}))


def _start(request: StaffRequest, form: StudyFile) -> HttpResponse:
    templates = [(name, shipped_study(name)) for name in shipped_studies()]
    parts: dict[str, Any] = {"templates": templates, "form": form}
    return render(request, "console/new/start.html", parts, status=422 if form.errors else 200)


def _form(request: StaffRequest, form: StudyForm, **parts: object) -> HttpResponse:
    status = 422 if form.errors else 200
    return render(request, "console/new/form.html", {"form": form, **parts}, status=status)
