"""How a writer comes in: the personal link, and what it asks first."""

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from completions import forms, guidelines, http, selectors, services
from completions.badges import writer_of_badge
from completions.choices import WriterState
from completions.http import writer_page
from completions.models import Writer


@require_http_methods(["GET", "HEAD", "POST"])
@writer_page
def invitation(request: HttpRequest, link: str) -> HttpResponse:
    """Ask an invited person for consent; let a writer who has agreed in again."""
    writer = writer_of_badge(link, use="link")
    if writer is None:
        return http.say_wrong_link(request)
    if selectors.is_writing(writer):
        return _let_in(request, writer)
    if writer.state != WriterState.INVITED:
        return http.say_not_writing(request, writer)
    if request.method == "POST":
        return _answer_invitation(request, writer)
    return http.render_fragment(request, "completions/_consent.html", {})


def _answer_invitation(request: HttpRequest, writer: Writer) -> HttpResponse:
    form = forms.Consent(request.POST)
    if not form.is_valid():
        return http.render_fragment(request, "completions/_consent.html", {}, status=422)
    if form.cleaned_data["choice"] == "decline":
        return http.say(
            request,
            heading=_("Thank you for reading"),
            text=_(
                "You declined, and nothing was stored. You can close this page. Should you "
                "change your mind, your link stays open."
            ),
            status=200,
        )
    services.accept_invitation(
        writer=writer,
        consent_version=guidelines.VERSION,
        consent_text=guidelines.consent_text(),
        now=timezone.now(),
    )
    return _let_in(request, writer)


def _let_in(request: HttpRequest, writer: Writer) -> HttpResponse:
    return http.remember(http.SeeOther(reverse("completions:desk")), request, writer)
