"""The console's page of a study's releases: what one would hold, building, publishing, download."""

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from access import background
from access.choices import Role
from access.roles import StaffRequest, may
from annotation.models import Study
from annotation.studies.http import figures_of, owners_study_page, study_page
from completions.dialogues.licences import allows_texts
from ranking.choices import ReleaseState
from ranking.models import Release
from ranking.released import queries as released_queries
from ranking.released.http import zip_answer
from ranking.releases import services as release_services
from ranking.releases.queries import RELEASE


@require_safe
@study_page
def releases(request: StaffRequest, study: Study) -> HttpResponse:
    """Show what a release would hold, what is in the way, and the releases that there are."""
    shown = figures_of(study, RELEASE, now=timezone.now())
    dataset, rows = study.dataset, released_queries.release_rows(study)
    parts = {
        "study": study,
        "shown": shown,
        "would": shown.figures,
        "licence": settings.HEART_RELEASE_LICENCE,
        "shares_text": allows_texts(dataset.licence, is_authored=dataset.is_authored),
        "releases": rows,
        "is_under_way": any(one.state == ReleaseState.BUILDING for one in rows),
        "may_build": may(request, Role.MANAGER),
        "may_publish": may(request, Role.OWNER),
    }
    return render(request, "console/releases/releases.html", parts)


@require_POST
@study_page
def build(request: StaffRequest, study: Study) -> HttpResponse:
    """Hand the building of a release to a worker, or say why there is none now."""
    try:
        release = release_services.claim_release(study=study, now=timezone.now(), by=request.user)
    except release_services.ReleaseRefusedError as error:
        messages.error(request, str(error))
        return redirect("raters:release", study.slug)
    if not released_queries.listed(release):
        background.hand_over("ranking.tasks.build_release", release_id=release.pk)
        messages.success(request, _("A worker builds it now. Look again soon."))
    else:
        text = _("Nothing changed since release %(version)d: it is that one.") % {
            "version": release.version
        }
        messages.info(request, text)
    return redirect("raters:release", study.slug)


@require_safe
@study_page
def download(_request: StaffRequest, study: Study, key: str) -> HttpResponseBase:
    """Hand out a release as a zip."""
    return zip_answer(_release_or_404(study, key))


@require_POST
@owners_study_page
def publish(request: StaffRequest, study: Study, key: str) -> HttpResponse:
    """Let everybody download a release."""
    release = _release_or_404(study, key)
    try:
        release_services.publish_release(release=release, now=timezone.now(), by=request.user)
    except release_services.ReleaseRefusedError as error:
        messages.error(request, str(error))
    else:
        text = _("Release %(version)d is published: the results lead to it.") % {
            "version": release.version
        }
        messages.success(request, text)
    return redirect("raters:release", study.slug)


@require_POST
@owners_study_page
def unpublish(request: StaffRequest, study: Study, key: str) -> HttpResponse:
    """Keep a published release to the team again."""
    release = _release_or_404(study, key)
    release_services.unpublish_release(release=release, now=timezone.now(), by=request.user)
    text = _("Release %(version)d is the team's alone again.") % {"version": release.version}
    messages.success(request, text)
    return redirect("raters:release", study.slug)


def _release_or_404(study: Study, key: str) -> Release:
    found = released_queries.release_by_key(study, key)
    if found is None:
        raise Http404
    return found
