"""Addresses of the completions app: a group for each place where they are mounted."""

from django.urls import path

from access.roles import members_only
from completions import api
from completions.contexts import console as contexts_console
from completions.contexts.console_http import staff_page
from completions.dialogues.import_page import import_paths
from completions.generation import console as generation_console
from completions.jobs import console as job_console
from completions.leaks import console as leak_console
from completions.runs import console as run_console
from completions.strategies import console as strategy_console
from completions.strategies.desk import item_paths
from completions.systems import console as system_console
from completions.writers.console import messages, people
from completions.writers.views import desk, writing

WRITERS = [
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
"""Pages of writers, under /w/."""
CONTEXTS = [
    path("", contexts_console.datasets, name="datasets"),
    path("<slug:dataset>/", contexts_console.funnel, name="funnel"),
    path("<slug:dataset>/list/", contexts_console.contexts, name="list"),
    path("<slug:dataset>/list/review/", contexts_console.review_many, name="review_many"),
    path("<slug:dataset>/candidates/", contexts_console.candidates, name="candidates"),
    path("<slug:dataset>/candidates/<int:pk>/", contexts_console.candidate, name="candidate"),
    path("<slug:dataset>/held/", leak_console.held, name="held"),
    path("<slug:dataset>/held/decide/", leak_console.decide_many, name="decide_many"),
    path("<slug:dataset>/held/<int:pk>/", leak_console.decide, name="decide"),
    path("<slug:dataset>/<slug:key>/", contexts_console.context, name="context"),
    path("<slug:dataset>/<slug:key>/review/", contexts_console.review, name="review"),
]
"""The console's pages on contexts, under /console/contexts/."""
DATA = [
    path("import/", job_console.import_file, name="import"),
    path("jobs/", job_console.jobs, name="jobs"),
    path("jobs/<int:pk>/", job_console.job, name="job"),
    path("jobs/<int:pk>/progress/", job_console.progress, name="progress"),
    path("jobs/<int:pk>/confirm/", job_console.confirm, name="confirm"),
    path("jobs/<int:pk>/stop/", job_console.stop, name="stop"),
    path("jobs/<int:pk>/retry/", job_console.retry, name="retry"),
    path("check/<slug:table>/<slug:slug>/", job_console.check, name="check"),
    path("<slug:dataset>/<slug:kind>/", job_console.prepare, name="prepare"),
]
"""The console's pages on files of dialogues and jobs, under /console/data/."""
WRITING = [
    path("", people.datasets, name="datasets"),
    path("<slug:dataset>/", people.pool, name="pool"),
    path("<slug:dataset>/invite/", people.invite, name="invite"),
    path("<slug:dataset>/link/", people.make_link, name="make-link"),
    path("<slug:dataset>/settings/", people.settings, name="settings"),
    path("<slug:dataset>/trial/", people.trial, name="trial"),
    path("<slug:dataset>/writers/<slug:code>/", people.writer, name="writer"),
    path("<slug:dataset>/writers/<slug:code>/act/", people.act, name="writer-act"),
    path("<slug:dataset>/messages/", messages.queue, name="messages"),
    path("<slug:dataset>/messages/accept/", messages.accept_many, name="accept_many"),
    path("<slug:dataset>/messages/<int:pk>/", messages.message, name="message"),
    path("<slug:dataset>/messages/<int:pk>/decide/", messages.decide, name="decide"),
    path("<slug:dataset>/messages/<int:pk>/author/", messages.author, name="author"),
    path("<slug:dataset>/freeze/", messages.freeze, name="freeze"),
    *import_paths("<slug:dataset>/import/", messages.MessageImport, staff_page),
]
"""The console's pages on writers and messages, under /console/writing/."""
STRATEGIES = [
    path("", strategy_console.datasets, name="datasets"),
    path("<slug:dataset>/", strategy_console.overview, name="overview"),
    path("<slug:dataset>/start/", strategy_console.start, name="start"),
    path("<slug:dataset>/sample/", strategy_console.draw, name="draw"),
    *item_paths(
        "<slug:dataset>/<int:check>/<int:number>/", "", staff_page, strategy_console.desk_of
    ),
]
"""The console's pages on strategies, under /console/strategies/."""
MODELS = [
    path("", system_console.systems, name="systems"),
    path("systems.csv", system_console.systems_csv, name="systems_csv"),
    path("sync/", system_console.sync, name="sync"),
    path("add/", system_console.add, name="add"),
    path("systems/<slug:slug>/", system_console.system, name="system"),
    path("systems/<slug:slug>/retire/", system_console.retire, name="retire"),
    *import_paths("import/", system_console.CompletionImport, members_only()),
    path("runs/", run_console.runs, name="runs"),
    path("runs.csv", run_console.runs_csv, name="runs_csv"),
    path("runs/new/", generation_console.choose, name="choose"),
    path("runs/plan/", generation_console.plan, name="plan"),
    path("runs/start/", generation_console.start, name="start"),
    path("runs/<slug:kind>/<int:pk>/", run_console.run, name="run"),
    path("runs/<slug:kind>/<int:pk>/progress/", run_console.progress, name="progress"),
    path("runs/<slug:kind>/<int:pk>/failed/", run_console.failed, name="failed"),
    *(
        path(f"runs/<slug:kind>/<int:pk>/{name}/", run_console.act, {"name": name}, name=name)
        for name in run_console.ACTS
    ),
]
"""The console's pages on models and runs, under /console/models/."""
API = [
    path("contexts/", api.Contexts.as_view(), name="contexts"),
    path("contexts/<slug:key>/", api.ContextView.as_view(), name="context"),
    path("systems/", api.Systems.as_view(), name="systems"),
    path("systems/<slug:slug>/", api.SystemView.as_view(), name="system"),
    path("completions/", api.Completions.as_view(), name="completions"),
]
"""Contexts, systems and completions, under /api/v1/."""
