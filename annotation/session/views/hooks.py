"""What crowd platforms send by themselves."""

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from annotation.raters import services, webhooks
from annotation.raters.visit_time import visit_time
from annotation.studies import http as study_http


@csrf_exempt  # the signature says who it comes from
@require_POST
def prolific(request: HttpRequest, study: str) -> HttpResponse:
    """Take in an event of Prolific: 403 if it is not signed, 400 if it is none, else 204."""
    secret = settings.HEART_PROLIFIC_SECRET
    if not secret:
        raise Http404
    found = study_http.study_or_404(study)
    now = visit_time(request)
    try:
        event = webhooks.read_event(request.body, request.headers, secret=secret, now=now)
    except webhooks.SignatureError:
        return HttpResponse("not signed", status=403, content_type="text/plain")
    except webhooks.WebhookError as error:
        return HttpResponse(str(error), status=400, content_type="text/plain")
    services.take_event(study=found, event=event, now=now)
    return HttpResponse(status=204)
