"""Addresses of the console, mounted under /console/."""

from django.urls import path

from annotation import (
    console,
    console_checks,
    console_external,
    console_judges,
    console_rationales,
    console_reports,
    console_study,
)
from annotation import console_judge_runs as runs
from annotation import console_new_study as making
from annotation.views import withdrawing_writer

app_name = "console"
urlpatterns = [
    path("", console.overview, name="overview"),
    path(
        "writing/<slug:dataset>/writers/<slug:code>/withdraw/",
        withdrawing_writer.withdraw_for,
        name="withdraw_writer",
    ),
    path("judges/", runs.all_judges, name="all_judges"),
    path("judges.csv", runs.all_judges_csv, name="all_judges_csv"),
    path("new/", making.start, name="new"),
    path("new/file/", making.take_file, name="new_file"),
    path("new/from/<slug:template>/", making.fill, name="new_form"),
    path("<slug:study>/protocol/", making.protocol, name="protocol"),
    path("<slug:study>/protocol/edit/", making.edit, name="edit"),
    path("<slug:study>/protocol/version/", making.version, name="version"),
    path("<slug:study>/protocol.toml", making.toml, name="toml"),
    path("<slug:study>/open/", console.open_study, name="open"),
    path("<slug:study>/pause/", console.pause_study, name="pause"),
    path("<slug:study>/close/", console.close_study, name="close"),
    path("<slug:study>/", console_study.study_shown, name="study"),
    path("<slug:study>/live/", console_study.live, name="live"),
    path("<slug:study>/lock/", console_study.lock, name="lock"),
    path("<slug:study>/plan/", console_study.plan, name="plan"),
    path("<slug:study>/contexts/", console_study.contexts, name="contexts"),
    path("<slug:study>/extend/", console_study.extend, name="extend"),
    path("<slug:study>/checks/", console_checks.checks, name="checks"),
    path("<slug:study>/checks/mark/", console_checks.mark, name="mark_gold"),
    path("<slug:study>/checks/<int:pk>/switch/", console_checks.switch, name="switch_check"),
    path("<slug:study>/judges/", console_judges.judges, name="judges"),
    path("<slug:study>/judges/<slug:key>/", console_judges.judged, name="judged"),
    path("<slug:study>/judge-runs/", runs.runs, name="judge_runs"),
    path("<slug:study>/judge-runs.csv", runs.runs_csv, name="judge_runs_csv"),
    path("<slug:study>/judge-runs/new/", runs.choose, name="judge_choose"),
    path("<slug:study>/judge-runs/plan/", runs.plan, name="judge_plan"),
    path("<slug:study>/judge-runs/start/", runs.start, name="judge_start"),
    path("<slug:study>/judge-runs/<int:pk>/", runs.run, name="judge_run"),
    path("<slug:study>/judge-runs/<int:pk>/progress/", runs.progress, name="judge_progress"),
    path("<slug:study>/judge-runs/<int:pk>/failed/", runs.failed, name="judge_failed"),
    *(
        path(
            f"<slug:study>/judge-runs/<int:pk>/{name}/",
            runs.act,
            {"name": name},
            name=f"judge_{name}",
        )
        for name in ("pause", "resume", "cancel", "retry")
    ),
    path("<slug:study>/personal-data/", console_rationales.queue, name="personal_data"),
    path(
        "<slug:study>/personal-data.csv",
        console_rationales.queue_csv,
        name="personal_data_csv",
    ),
    path("<slug:study>/personal-data/<int:pk>/", console_rationales.text, name="personal_text"),
    path("<slug:study>/external/", console_external.external, name="external"),
    path("<slug:study>/external/store/", console_external.store, name="store_external"),
    path(
        "<slug:study>/external/<int:pk>/decide/",
        console_external.decide,
        name="decide_external",
    ),
    path("<slug:study>/reports/", console_reports.reports, name="reports"),
    path("<slug:study>/reports/<slug:key>/decide/", console_reports.decide, name="decide"),
]
