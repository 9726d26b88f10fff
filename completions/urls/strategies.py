"""Addresses of the console's pages on strategies, mounted under /console/strategies/."""

from django.urls import path

from completions.strategies.console import labelling, overview

app_name = "strategies"
urlpatterns = [
    path("", overview.datasets, name="datasets"),
    path("<slug:dataset>/", overview.overview, name="overview"),
    path("<slug:dataset>/<int:check>/<int:number>/", labelling.label, name="label"),
    path("<slug:dataset>/<int:check>/<int:number>/store/", labelling.store_labels, name="store"),
    path("<slug:dataset>/<int:check>/<int:number>/settle/", labelling.settle, name="settle"),
    path(
        "<slug:dataset>/<int:check>/<int:number>/settle/store/",
        labelling.store_settled,
        name="store-settled",
    ),
]
