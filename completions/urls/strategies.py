"""Addresses of the console's pages on strategies, mounted under /console/strategies/."""

from django.urls import path

from completions.strategies import console as strategy_console

app_name = "strategies"
urlpatterns = [
    path("", strategy_console.datasets, name="datasets"),
    path("<slug:dataset>/", strategy_console.overview, name="overview"),
    path("<slug:dataset>/start/", strategy_console.start, name="start"),
    path("<slug:dataset>/sample/", strategy_console.draw, name="draw"),
    path("<slug:dataset>/<int:check>/<int:number>/", strategy_console.label, name="label"),
    path(
        "<slug:dataset>/<int:check>/<int:number>/store/",
        strategy_console.store_labels,
        name="store",
    ),
    path("<slug:dataset>/<int:check>/<int:number>/settle/", strategy_console.settle, name="settle"),
    path(
        "<slug:dataset>/<int:check>/<int:number>/settle/store/",
        strategy_console.store_settled,
        name="store-settled",
    ),
]
