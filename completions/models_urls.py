"""Addresses of the console's pages on models and runs, mounted under /console/models/."""

from django.urls import path

from completions.console_models import bringing, runs, systems

app_name = "models"
urlpatterns = [
    path("", systems.systems, name="systems"),
    path("systems.csv", systems.systems_csv, name="systems_csv"),
    path("sync/", systems.sync, name="sync"),
    path("add/", systems.add, name="add"),
    path("import/", bringing.bring, name="import"),
    path("import/store/", bringing.store, name="import-store"),
    path("import/refused/", bringing.refused, name="import-refused"),
    path("runs/", runs.runs, name="runs"),
    path("runs.csv", runs.runs_csv, name="runs_csv"),
    path("runs/new/", runs.choose, name="choose"),
    path("runs/plan/", runs.plan, name="plan"),
    path("runs/start/", runs.start, name="start"),
    path("runs/<int:pk>/", runs.run, name="run"),
    path("runs/<int:pk>/progress/", runs.progress, name="progress"),
    path("runs/<int:pk>/failed/", runs.failed, name="failed"),
    path("runs/<int:pk>/pause/", runs.act, {"name": "pause"}, name="pause"),
    path("runs/<int:pk>/resume/", runs.act, {"name": "resume"}, name="resume"),
    path("runs/<int:pk>/cancel/", runs.act, {"name": "cancel"}, name="cancel"),
    path("runs/<int:pk>/retry/", runs.act, {"name": "retry"}, name="retry"),
]
