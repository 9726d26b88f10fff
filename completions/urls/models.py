"""Addresses of the console's pages on models and runs, mounted under /console/models/."""

from django.urls import path

from completions.generation import console
from completions.runs import console as runs
from completions.systems import console as system_console

app_name = "models"
urlpatterns = [
    path("", system_console.systems, name="systems"),
    path("systems.csv", system_console.systems_csv, name="systems_csv"),
    path("sync/", system_console.sync, name="sync"),
    path("add/", system_console.add, name="add"),
    path("systems/<slug:slug>/", system_console.system, name="system"),
    path("systems/<slug:slug>/retire/", system_console.retire, name="retire"),
    path("import/", system_console.import_file, name="import"),
    path("import/store/", system_console.store, name="import-store"),
    path("import/refused/", system_console.refused, name="import-refused"),
    path("runs/", runs.runs, name="runs"),
    path("runs.csv", runs.runs_csv, name="runs_csv"),
    path("runs/new/", console.choose, name="choose"),
    path("runs/plan/", console.plan, name="plan"),
    path("runs/start/", console.start, name="start"),
    path("runs/<slug:kind>/<int:pk>/", runs.run, name="run"),
    path("runs/<slug:kind>/<int:pk>/progress/", runs.progress, name="progress"),
    path("runs/<slug:kind>/<int:pk>/failed/", runs.failed, name="failed"),
    *(
        path(f"runs/<slug:kind>/<int:pk>/{name}/", runs.act, {"name": name}, name=name)
        for name in runs.ACTS
    ),
]
