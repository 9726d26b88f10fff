"""Addresses of the console's pages on files of dialogues and jobs, mounted under /console/data/."""

from django.urls import path

from completions.jobs import console

app_name = "data"
urlpatterns = [
    path("import/", console.import_file, name="import"),
    path("jobs/", console.jobs, name="jobs"),
    path("jobs/<int:pk>/", console.job, name="job"),
    path("jobs/<int:pk>/progress/", console.progress, name="progress"),
    path("jobs/<int:pk>/confirm/", console.confirm, name="confirm"),
    path("jobs/<int:pk>/stop/", console.stop, name="stop"),
    path("jobs/<int:pk>/retry/", console.retry, name="retry"),
    path("check/<slug:table>/<slug:slug>/", console.check, name="check"),
    path("<slug:dataset>/<slug:kind>/", console.prepare, name="prepare"),
]
