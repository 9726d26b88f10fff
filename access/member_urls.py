"""Addresses of the console's pages on the team, mounted under /console/members/."""

from django.urls import path

from access import console_members

app_name = "members"
urlpatterns = [
    path("", console_members.members, name="all"),
    path("all.csv", console_members.members_csv, name="csv"),
    path("<int:pk>/", console_members.member, name="member"),
    path("<int:pk>/role/", console_members.role, name="role"),
    path("<int:pk>/link/", console_members.link, name="link"),
    path("<int:pk>/second-factor/", console_members.reset, name="reset"),
    path("<int:pk>/remove/", console_members.remove, name="remove"),
]
