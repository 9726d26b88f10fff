"""Addresses of the writers' pages, mounted under /w/."""

from django.urls import path

from completions.views import arriving, desk, writing

app_name = "completions"
urlpatterns = [
    path("", desk.desk, name="desk"),
    path("i/<str:link>/", arriving.invitation, name="invitation"),
    path("write/", writing.next_talk, name="next"),
    path("write/<uuid:token>/", writing.talk, name="talk"),
    path("write/<uuid:token>/draft/", writing.save_draft, name="draft"),
    path("write/<uuid:token>/skip/", writing.skip, name="skip"),
    path("help/", desk.help_lines, name="help"),
]
