"""A writer withdraws, and says what is to become of their texts."""

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from annotation import services
from annotation.entry_forms import WriterWithdrawal
from completions import http as writers
from completions.choices import WriterState
from completions.http import writer_page


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
    if writer.state == WriterState.WITHDRAWN and not writer.texts_kept:
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
