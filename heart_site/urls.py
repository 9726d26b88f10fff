"""Mount each app's URLs under its own prefix."""

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path

from annotation.views import hooks
from heart_site import health, views

admin.autodiscover()

urlpatterns: list[URLPattern | URLResolver] = [
    path("", views.home, name="home"),
    path("s/<slug:study>/", include("annotation.urls")),
    path("hooks/prolific/<slug:study>/", hooks.prolific, name="prolific-hook"),
    path("w/withdraw/", include("annotation.writer_urls")),
    path("w/", include("completions.urls")),
    path("console/contexts/", include("completions.console_urls")),
    path("console/writing/", include("completions.writing_urls")),
    path("console/strategies/", include("completions.strategy_urls")),
    path("console/models/", include("completions.models_urls")),
    path("console/", include("annotation.console_urls")),
    path("console/", include("ranking.console_urls")),
    path("", include("ranking.urls")),
    path("api/v1/", include("ranking.api_urls")),
    path("admin/", admin.site.urls),
    path("healthz", health.alive, name="alive"),
    path("readyz", health.ready, name="ready"),
]
