"""Addresses of the writers' pages, mounted under /w/."""

from django.urls import path

from completions.writers.views import desk, writing

app_name = "completions"
urlpatterns = [
    path("", desk.desk, name="desk"),
    path("sent/", desk.sent, name="sent"),
    path("i/<str:link>/", desk.invitation, name="invitation"),
    path("consent/", desk.consent, name="consent"),
    path("profile/", desk.profile, name="profile"),
    path("sign-out/", desk.sign_out, name="sign-out"),
    path("write/", writing.next_dialogue, name="next"),
    path("write/<uuid:token>/", writing.dialogue, name="dialogue"),
    path("write/<uuid:token>/draft/", writing.save_draft, name="draft"),
    path("write/<uuid:token>/change/", writing.change, name="change"),
    path("write/<uuid:token>/skip/", writing.skip, name="skip"),
    path("pause/", desk.pause, name="pause"),
    path("resume/", desk.resume, name="resume"),
    path("leave/", desk.leave, name="leave"),
    path("help/", desk.help_lines, name="help"),
]
