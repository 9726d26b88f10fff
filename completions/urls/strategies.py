"""Addresses of the console's pages on strategies, mounted under /console/strategies/."""

from django.urls import path

from completions.contexts.console_http import staff_page
from completions.strategies import console
from completions.strategies.desk import item_paths

app_name = "strategies"
urlpatterns = [
    path("", console.datasets, name="datasets"),
    path("<slug:dataset>/", console.overview, name="overview"),
    path("<slug:dataset>/start/", console.start, name="start"),
    path("<slug:dataset>/sample/", console.draw, name="draw"),
    *item_paths("<slug:dataset>/<int:check>/<int:number>/", "", staff_page, console.desk_of),
]
