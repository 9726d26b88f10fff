"""A writer withdraws, alone or with an admin's help, and says what is to become of the texts."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from access.roles import StaffRequest
from annotation.raters import services
from annotation.session.forms import WriterWithdrawal
from completions.choices import WriterState
from completions.contexts.console_http import or_404, owners_act
from completions.models import Dataset, Writer
from completions.writers import http as writers
from completions.writers import pool_queries
from completions.writers.http import writer_page


@require_http_methods(["GET", "HEAD", "POST"])
@writer_page
def withdraw(request: HttpRequest) -> HttpResponse:
    """Ask once, with what each choice means, then do as the writer says.

    Open to everybody whom the browser knows as a writer: also to who has left, was not admitted,
    or withdrew before and kept the texts.
    """
    writer = writers.recognised(request)
    if writer is None:
        return writers.say_who_are_you(request)
    if _is_erased(writer):
        return writers.say_not_writing(request, writer)
    form = WriterWithdrawal(request.POST if request.method == "POST" else None)
    if form.is_valid():
        keep_texts = form.cleaned_data["texts"] == "keep"
        services.withdraw_writer(writer=writer, keep_texts=keep_texts, now=timezone.now())
        writer.refresh_from_db()
        return writers.say_not_writing(request, writer, status=200)
    context = {
        "form": form,
        "has_withdrawn": writer.state == WriterState.WITHDRAWN,
        "has_desk": writer.state in writers.MAY_COME_IN,
    }
    status = 422 if form.is_bound else 200
    return writers.render_fragment(
        request, "annotation/_withdraw_writer.html", context, status=status
    )


@require_http_methods(["GET", "HEAD", "POST"])
@owners_act
def withdraw_for(request: StaffRequest, dataset: Dataset, code: str) -> HttpResponse:
    """Do the same for a writer who asked an admin for it: who lost the link, or never had one."""
    writer = or_404(pool_queries.writer_of(dataset, code))
    form = WriterWithdrawal(request.POST if request.method == "POST" else None)
    if form.is_valid():
        keep_texts = form.cleaned_data["texts"] == "keep"
        services.withdraw_writer(
            writer=writer,
            keep_texts=keep_texts,
            now=timezone.now(),
            request=services.WithdrawalRequest(request.user),
        )
        messages.success(request, _("%(code)s has withdrawn.") % {"code": code})
    elif not _is_erased(writer):
        context = {
            "dataset": dataset,
            "writer": writer,
            "form": form,
            "has_withdrawn": writer.state == WriterState.WITHDRAWN,
        }
        status = 422 if form.is_bound else 200
        return render(request, "console/writing/withdraw.html", context, status=status)
    return redirect("writing:writer", dataset.slug, code)


def _is_erased(writer: Writer) -> bool:
    """Say whether nothing is left to decide about."""
    return writer.state == WriterState.WITHDRAWN and not writer.texts_kept
