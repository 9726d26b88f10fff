"""Mount each app's URLs under its own prefix."""

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path

from annotation import urls as annotation
from annotation.session.views import ending
from completions import urls as completions
from heart_site import admin_site, views
from heart_site.monitoring import health, metrics
from ranking import urls as ranking

admin.autodiscover()
admin_site.leave_out_keys(admin.site)

handler400 = views.bad_request
handler403 = views.forbidden
handler404 = views.not_found
handler429 = "heart_site.views.too_many"  # the sign-in library's, which takes a name
handler500 = views.server_error

urlpatterns: list[URLPattern | URLResolver] = [
    path("", views.home, name="home"),
    path("results/", views.home, name="results"),
    path("s/<slug:study>/", include((annotation.RATERS, "annotation"))),
    path("hooks/prolific/<slug:study>/", ending.prolific, name="prolific-hook"),
    path("w/withdraw/", include((annotation.WRITERS, "writers"))),
    path("w/", include((completions.WRITERS, "completions"))),
    path("console/webhooks/", include("access.webhooks.urls")),
    path("console/tokens/", include("access.tokens.urls")),
    path("console/members/", include("access.members.urls")),
    path("console/backups/", include("heart_site.backups.urls")),
    path("console/contexts/", include((completions.CONTEXTS, "contexts"))),
    path("console/data/", include((completions.DATA, "data"))),
    path("console/writing/", include((completions.WRITING, "writing"))),
    path("console/strategies/", include((completions.STRATEGIES, "strategies"))),
    path("console/models/", include((completions.MODELS, "models"))),
    path("console/", include((ranking.WHOLE_LOG, "log"))),
    path("console/people/", include((ranking.PEOPLE, "people"))),
    path("console/", include((annotation.CONSOLE, "console"))),
    path("console/", include((ranking.CONSOLE, "raters"))),
    path("console/", include("heart_site.blinding.urls")),
    path("", include((ranking.PUBLIC, "ranking"))),
    path("api/v1/", include("access.api.urls")),
    path("api/v1/", include((completions.API, "api_texts"))),
    path("api/v1/", include((annotation.API, "api_studies"))),
    path("api/v1/", include((ranking.API, "api"))),
    path("accounts/", include("access.sign_in.urls")),
    path("admin/", admin.site.urls),
    path("healthz", health.alive, name="alive"),
    path("readyz", health.ready, name="ready"),
    path("metrics", metrics.metrics, name="metrics"),
]
