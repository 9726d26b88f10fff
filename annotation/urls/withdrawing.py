"""Addresses of what writers do that judgments rest on, mounted under /w/withdraw/."""

from django.urls import path

from annotation.session.views import withdrawing_writer

app_name = "writers"
urlpatterns = [path("", withdrawing_writer.withdraw, name="withdraw")]
