"""Addresses of the console's pages on raters and ratings, mounted under /console/."""

from django.urls import path

from ranking import console, console_fits

app_name = "raters"
urlpatterns = [
    path("<slug:study>/raters/", console.raters, name="list"),
    path("<slug:study>/raters.csv", console.raters_csv, name="csv"),
    path("<slug:study>/raters/<slug:code>/", console.rater, name="rater"),
    path("<slug:study>/raters/<slug:code>/exclude/", console.exclude, name="exclude"),
    path("<slug:study>/raters/<slug:code>/reinstate/", console.reinstate, name="reinstate"),
    path("<slug:study>/ratings/", console_fits.fits, name="fits"),
    path("<slug:study>/ratings/refit/", console_fits.refit, name="refit"),
    path("<slug:study>/review/", console.review, name="review"),
]
