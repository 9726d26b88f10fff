"""Addresses of the console's pages on models and runs, mounted under /console/models/."""

from django.urls import path

from completions.generation import console
from completions.systems import console as system_console
from completions.systems import importing_console

app_name = "models"
urlpatterns = [
    path("", system_console.systems, name="systems"),
    path("systems.csv", system_console.systems_csv, name="systems_csv"),
    path("sync/", system_console.sync, name="sync"),
    path("add/", system_console.add, name="add"),
    path("import/", importing_console.bring, name="import"),
    path("import/store/", importing_console.store, name="import-store"),
    path("import/refused/", importing_console.refused, name="import-refused"),
    path("runs/", console.runs, name="runs"),
    path("runs.csv", console.runs_csv, name="runs_csv"),
    path("runs/new/", console.choose, name="choose"),
    path("runs/plan/", console.plan, name="plan"),
    path("runs/start/", console.start, name="start"),
    path("runs/<int:pk>/", console.run, name="run"),
    path("runs/<int:pk>/progress/", console.progress, name="progress"),
    path("runs/<int:pk>/failed/", console.failed, name="failed"),
    path("runs/<int:pk>/pause/", console.act, {"name": "pause"}, name="pause"),
    path("runs/<int:pk>/resume/", console.act, {"name": "resume"}, name="resume"),
    path("runs/<int:pk>/cancel/", console.act, {"name": "cancel"}, name="cancel"),
    path("runs/<int:pk>/retry/", console.act, {"name": "retry"}, name="retry"),
]
