"""Addresses of the console's pages on contexts, mounted under /console/contexts/."""

from django.urls import path

from completions.contexts import console
from completions.leaks import console as leak_console

app_name = "contexts"
urlpatterns = [
    path("", console.datasets, name="datasets"),
    path("<slug:dataset>/", console.funnel, name="funnel"),
    path("<slug:dataset>/list/", console.contexts, name="list"),
    path("<slug:dataset>/list/review/", console.review_many, name="review_many"),
    path("<slug:dataset>/candidates/", console.candidates, name="candidates"),
    path("<slug:dataset>/candidates/<int:pk>/", console.candidate, name="candidate"),
    path("<slug:dataset>/held/", leak_console.held, name="held"),
    path("<slug:dataset>/held/decide/", leak_console.decide_many, name="decide_many"),
    path("<slug:dataset>/held/<int:pk>/", leak_console.decide, name="decide"),
    path("<slug:dataset>/<slug:key>/", console.context, name="context"),
    path("<slug:dataset>/<slug:key>/review/", console.review, name="review"),
]
