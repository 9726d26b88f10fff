"""The console's pages on long work with datasets: files of dialogues, and what is made of them."""

from collections.abc import Mapping

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import HttpResponseClientRefresh

from access.console.tables import PER_PAGE, read_text
from access.roles import StaffRequest, members_only
from completions.choices import JobKind, JobState
from completions.contexts.console_http import staff_page
from completions.dialogues import queries as dialogue_queries
from completions.dialogues.forms import for_any_fault
from completions.dialogues.importing import LONGEST_NAME, ImportReport
from completions.dialogues.ingest.dialogue import language_tag
from completions.jobs import services
from completions.jobs.services import REFUSALS
from completions.models import Dataset, Job
from completions.runs import queries as run_queries
from completions.systems.forms import ModelField, suggested_models

MOST_BYTES = 30_000_000
"""How large a file of dialogues may be; ESConv, as published, has 11 MB."""
LISTED = 20
"""Records at fault that the page shows one by one."""


class DialogueFile(forms.Form):
    """A file of dialogues, and what a dataset of them is called."""

    file = forms.FileField(
        label=gettext_lazy("File of dialogues"),
        error_messages={
            "required": gettext_lazy("Choose a file of dialogues."),
            "empty": gettext_lazy("The file is empty. Choose another one."),
        },
    )
    dataset = forms.CharField(
        max_length=LONGEST_NAME,
        label=gettext_lazy("Name of the dataset"),
        error_messages={"required": gettext_lazy("Name the dataset, such as ESConv.")},
    )
    language = forms.CharField(
        required=False, max_length=35, label=gettext_lazy("Language, where a dialogue states none")
    )
    licence = forms.CharField(required=False, max_length=120, label=gettext_lazy("Licence"))
    is_authored = forms.BooleanField(
        required=False,
        label=gettext_lazy("Written for this product: no real person speaks in it"),
    )
    is_adversarial = forms.BooleanField(
        required=False, label=gettext_lazy("The file fixes its contexts, and they are adversarial")
    )

    def clean_language(self) -> str:
        """Return a tag in its usual spelling."""
        typed: str = self.cleaned_data["language"]
        try:
            return language_tag(typed) if typed else ""
        except ValueError as error:
            raise forms.ValidationError(
                _("Give a language as he or zh-Hans, or leave it empty.")
            ) from error


class Amount(forms.Form):
    """How many contexts the dataset is to have, and the seed of the choice."""

    n = forms.IntegerField(
        min_value=1,
        max_value=100_000,
        initial=280,
        label=gettext_lazy("Regular contexts in all"),
        error_messages=for_any_fault(gettext_lazy("Give a whole number from 1 to 100,000.")),
    )
    seed = forms.IntegerField(
        initial=7,
        min_value=0,
        max_value=2**31 - 1,
        label=gettext_lazy("Seed: the same gives the same choice"),
        error_messages=for_any_fault(gettext_lazy("Give a whole number, such as 7.")),
    )


class SecondOpinion(forms.Form):
    """Which model says of each suitable candidate whether it suits."""

    model = ModelField(gettext_lazy("Who gives the opinions"))


class RewritingForm(Amount):
    """How many adversarial contexts there are to be, and which models write and rate them."""

    field_order = ("n", "rewriter", "hostility_rater", "seed")
    rewriter = ModelField(gettext_lazy("Who rewrites the seeker’s turns"))
    hostility_rater = ModelField(gettext_lazy("Who rates how hostile they came out"))

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self.fields["n"].initial = 20
        self.fields["n"].label = _("Adversarial contexts in all")


FORMS: Mapping[str, type[forms.Form]] = {
    JobKind.BUILD: Amount,
    JobKind.SCREEN: SecondOpinion,
    JobKind.REWRITE: RewritingForm,
}
"""What each kind of job asks for; an import asks for its file."""


@require_http_methods(["GET", "HEAD", "POST"])
@members_only()
def import_file(request: StaffRequest) -> HttpResponse:
    """Take a file of dialogues, and show what importing it would do; nothing is stored of it."""
    if request.method != "POST":
        dataset = dialogue_queries.dataset_by_slug(read_text(request.GET, "dataset"))
        form = DialogueFile(initial={"dataset": dataset.name if dataset else ""})
        return render(request, "console/data/import.html", {"form": form})
    form = DialogueFile(request.POST, request.FILES)
    if form.is_valid() and (tried := _tried(request, form)):
        job, report = tried
        return _show(request, job, report=report)
    return render(request, "console/data/import.html", {"form": form}, status=422)


@require_safe
@members_only()
def jobs(request: HttpRequest) -> HttpResponse:
    """List the jobs, the newest first."""
    page = Paginator(_rows().order_by("-pk"), PER_PAGE).get_page(request.GET.get("page", ""))
    return render(request, "console/data/jobs.html", {"page": page})


@require_safe
@members_only()
def job(request: HttpRequest, pk: int) -> HttpResponse:
    """Show how far a job is, or what came of it."""
    return _show(request, _job_or_404(pk))


@require_safe
@members_only(is_part=True)
def progress(request: HttpRequest, pk: int) -> HttpResponse:
    """Answer with how far a job is; once it is over, have the page load again."""
    found = _job_or_404(pk)
    if not found.is_live:
        return HttpResponseClientRefresh()
    return render(request, "console/data/_progress.html", {"job": found})


@require_POST
@members_only()
def confirm(request: StaffRequest, pk: int) -> HttpResponse:
    """Have a checked file imported."""
    if not services.confirm_job(_job_or_404(pk), by=request.user, now=timezone.now()):
        messages.info(request, _("It was started or dropped before."))
    return redirect("data:job", pk)


@require_POST
@members_only()
def stop(request: StaffRequest, pk: int) -> HttpResponse:
    """Stop a job; what it has done is kept."""
    services.stop_job(_job_or_404(pk), by=request.user, now=timezone.now())
    return redirect("data:job", pk)


@require_POST
@members_only()
def retry(request: StaffRequest, pk: int) -> HttpResponse:
    """Begin a job again that failed or was stopped."""
    found = _job_or_404(pk)
    if not found.can_retry:
        messages.info(request, _("This job cannot be begun again."))
        return redirect("data:job", pk)
    again = services.retry_job(found, by=request.user, now=timezone.now())
    return redirect("data:job", again.pk)


@require_POST
@members_only()
def check(request: StaffRequest, table: str, slug: str) -> HttpResponse:
    """Put one cheap question to a system or a judge."""
    model = run_queries.endpoint_models().get(table)
    if model is None or not model.objects.filter(slug=slug).exclude(model_id="").exists():
        raise Http404
    parameters = {"table": table, "slug": slug}
    started = services.start_job(
        dataset=None, kind=JobKind.CHECK, options=parameters, by=request.user, now=timezone.now()
    )
    return redirect("data:job", started.pk)


@require_http_methods(["GET", "HEAD", "POST"])
@staff_page
def prepare(request: StaffRequest, dataset: Dataset, kind: str) -> HttpResponse:
    """Ask what a job of that kind needs to know, and leave it to workers."""
    kind = kind.upper()
    if kind not in FORMS:
        raise Http404
    form = FORMS[kind](request.POST or None)
    if form.is_valid():
        started = services.start_job(
            dataset=dataset,
            kind=kind,
            options=form.cleaned_data,
            by=request.user,
            now=timezone.now(),
        )
        return redirect("data:job", started.pk)
    parts = {
        "dataset": dataset,
        "form": form,
        "kind": JobKind(kind),
        "models": suggested_models(),
    }
    return render(request, "console/data/prepare.html", parts, status=422 if form.is_bound else 200)


def _tried(request: StaffRequest, form: DialogueFile) -> tuple[Job, ImportReport] | None:
    """Return the file as a job to be confirmed, or put to the form why it is none."""
    options = dict(form.cleaned_data)
    file = options.pop("file")
    if file.size > MOST_BYTES:
        form.add_error("file", _("The file is larger than 30 MB. Split it, or pack it by gzip."))
        return None
    try:
        return services.check_file(
            name=file.name,
            content=file.read(),
            options=options,
            by=request.user,
            now=timezone.now(),
        )
    except REFUSALS as error:
        form.add_error(None, str(error))
        return None


def _show(request: HttpRequest, job: Job, *, report: ImportReport | None = None) -> HttpResponse:
    parts: dict[str, object] = {"job": job, "states": JobState}
    if report is not None:
        notes = [*report.repeated, *map(str, report.bad)]
        parts |= {"report": report, "notes": notes[:LISTED], "n_more": len(notes[LISTED:])}
    return render(request, "console/data/job.html", parts)


def _job_or_404(pk: int) -> Job:
    return get_object_or_404(_rows(), pk=pk)


def _rows() -> QuerySet[Job]:
    """Return the jobs without their files."""
    return Job.objects.select_related("dataset", "created_by").defer("content")
