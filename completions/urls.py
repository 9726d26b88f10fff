"""Addresses of the writers' pages, mounted under /w/."""

from django.urls import path

from completions import views

app_name = "completions"
urlpatterns = [
    path("", views.desk, name="desk"),
    path("i/<str:link>/", views.invitation, name="invitation"),
    path("write/", views.next_talk, name="next"),
    path("write/<uuid:token>/", views.talk, name="talk"),
    path("write/<uuid:token>/draft/", views.save_draft, name="draft"),
    path("write/<uuid:token>/skip/", views.skip, name="skip"),
    path("help/", views.help_lines, name="help"),
]
