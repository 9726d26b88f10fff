"""Mount each app's URLs under its own prefix."""

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path

from access import urls as access
from annotation import urls as annotation
from annotation.session.views import ending
from completions import urls as completions
from heart_site import admin_site, middleware, views
from heart_site.backups import console as backups
from heart_site.blinding import console as blinding
from heart_site.monitoring import metrics
from ranking import urls as ranking

admin.autodiscover()
admin_site.leave_out_accounts(admin.site)

handler400 = views.bad_request
handler403 = views.forbidden
handler404 = views.not_found
handler429 = "heart_site.views.too_many"  # the sign-in library's, which takes a name
handler500 = views.server_error

BACKUPS = [
    path("", backups.backups, name="all"),
    path("make/", backups.make, name="make"),
    path("<str:name>/try/", backups.try_restore, name="try"),
]
BLINDING = [
    path("<slug:study>/blinding/", blinding.audits, name="audits"),
    path("<slug:study>/blinding/<int:pk>/", blinding.audits, name="audit"),
    path("<slug:study>/blinding/progress/", blinding.progress, name="progress"),
    path("<slug:study>/blinding/start/", blinding.start, name="start"),
]

urlpatterns: list[URLPattern | URLResolver] = [
    path("", views.home, name="home"),
    path("results/", views.home, name="results"),
    path("s/<slug:study>/", include((annotation.RATERS, "annotation"))),
    path("hooks/prolific/<slug:study>/", ending.prolific, name="prolific-hook"),
    path("w/withdraw/", include((annotation.WRITERS, "writers"))),
    path("w/", include((completions.WRITERS, "completions"))),
    path("console/webhooks/", include((access.HOOKS, "hooks"))),
    path("console/tokens/", include((access.TOKENS, "tokens"))),
    path("console/members/", include((access.MEMBERS, "members"))),
    path("console/backups/", include((BACKUPS, "backups"))),
    path("console/contexts/", include((completions.CONTEXTS, "contexts"))),
    path("console/data/", include((completions.DATA, "data"))),
    path("console/writing/", include((completions.WRITING, "writing"))),
    path("console/strategies/", include((completions.STRATEGIES, "strategies"))),
    path("console/models/", include((completions.MODELS, "models"))),
    path("console/", include((ranking.WHOLE_LOG, "log"))),
    path("console/people/", include((ranking.PEOPLE, "people"))),
    path("console/", include((annotation.CONSOLE, "console"))),
    path("console/", include((ranking.CONSOLE, "raters"))),
    path("console/", include((BLINDING, "blinding"))),
    path("", include((ranking.PUBLIC, "ranking"))),
    path("api/v1/", include((access.API, "api_frame"))),
    path("api/v1/", include((completions.API, "api_texts"))),
    path("api/v1/", include((annotation.API, "api_studies"))),
    path("api/v1/", include((ranking.API, "api"))),
    path("accounts/", include("access.sign_in.urls")),
    path("admin/", admin.site.urls),
    path("healthz", middleware.alive, name="alive"),
    path("readyz", middleware.ready, name="ready"),
    path("metrics", metrics.metrics, name="metrics"),
]
