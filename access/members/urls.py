"""Addresses of the console's pages on the team, mounted under /console/members/."""

from django.urls import path

from access.members import console as member_console

app_name = "members"
urlpatterns = [
    path("", member_console.members, name="all"),
    path("all.csv", member_console.members_csv, name="csv"),
    path("<int:pk>/", member_console.member, name="member"),
    path("<int:pk>/role/", member_console.role, name="role"),
    path("<int:pk>/link/", member_console.link, name="link"),
    path("<int:pk>/second-factor/", member_console.reset, name="reset"),
    path("<int:pk>/remove/", member_console.remove, name="remove"),
]
