"""The questions that show whether the task is clear."""

from django.http import HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from annotation.choices import RaterStage, RaterState
from annotation.raters import services
from annotation.raters.visit import visit_time
from annotation.session import http
from annotation.session.entry_forms import Comprehension
from annotation.session.http import RaterRequest, rater_known


@require_http_methods(["GET", "HEAD", "POST"])
@rater_known
def comprehension(request: RaterRequest) -> HttpResponse:
    """Ask the study's questions; send somebody who is past them on to their pairs."""
    rater = request.rater
    onwards = reverse("annotation:judge", args=[request.page.slug])
    if rater.state != RaterState.ACTIVE or rater.stage != RaterStage.COMPREHENSION:
        return http.go(request, onwards)
    questions = services.comprehension_questions(rater.study)
    form = Comprehension(request.POST if request.method == "POST" else None, questions=questions)
    if not form.is_bound or not form.is_valid():
        return _ask(request, form, status=422 if form.is_bound else 200)
    try:
        outcome = services.answer_comprehension(
            rater=rater, answers=form.answers(), now=visit_time(request)
        )
    except services.NothingToAnswerError:
        return http.go(request, onwards)
    if outcome.is_passed or outcome.is_over:
        return http.go(request, onwards)
    form.mark_wrong(outcome.wrong)
    return _ask(request, form, status=422, heading=_("Not quite yet"))


def _ask(
    request: RaterRequest, form: Comprehension, *, status: int, heading: str = ""
) -> HttpResponse:
    context = {
        "study": request.page,
        "form": form,
        "is_second_try": request.rater.comprehension_tries > 0 or bool(heading),
        "heading": heading or _("Is it clear?"),
    }
    return http.render_fragment(request, "annotation/_comprehension.html", context, status=status)
