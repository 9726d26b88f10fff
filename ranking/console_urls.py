"""Addresses of the console's pages on raters, mounted under /console/."""

from django.urls import path

from ranking import console

app_name = "raters"
urlpatterns = [
    path("<slug:study>/raters/", console.raters, name="list"),
    path("<slug:study>/raters.csv", console.raters_csv, name="csv"),
    path("<slug:study>/raters/<slug:code>/", console.rater, name="rater"),
    path("<slug:study>/raters/<slug:code>/exclude/", console.exclude, name="exclude"),
    path("<slug:study>/raters/<slug:code>/reinstate/", console.reinstate, name="reinstate"),
    path("<slug:study>/review/", console.review, name="review"),
]
