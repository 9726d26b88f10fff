"""Addresses of the rater-facing pages, mounted under /s/<study>/."""

from django.urls import path

from annotation.session.http import led_back
from annotation.session.views import ending, entering, judging

app_name = "annotation"
urlpatterns = [
    path("", entering.entry, name="entry"),
    path("consent/", led_back(entering.consent, to="entry"), name="consent"),
    path("how/", entering.how, name="how"),
    path("questions/", entering.comprehension, name="comprehension"),
    path("rubric/", entering.rubric, name="rubric"),
    path("resume/<str:link>/", entering.resume, name="resume"),
    path("judge/", judging.judge, name="judge"),
    path("judge/<uuid:token>/", led_back(judging.submit, to="judge"), name="submit"),
    path("judge/<uuid:token>/next/", judging.foreseen, name="foreseen"),
    path("judge/<uuid:token>/skip/", led_back(judging.skip, to="judge"), name="skip"),
    path("judge/<uuid:token>/report/", led_back(judging.report, to="judge"), name="report"),
    path("last/", judging.last, name="last"),
    path("help/", ending.help_lines, name="help"),
    path("break/", ending.take_break, name="take_break"),
    path("stop/", ending.stop, name="stop"),
    path("finish/", led_back(ending.finish, to="judge"), name="finish"),
    path("withdraw/", ending.withdraw, name="withdraw"),
    path("guess/", ending.guess, name="guess"),
    path("done/", ending.done, name="done"),
]
