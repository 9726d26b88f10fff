"""Addresses of the console, mounted under /console/."""

from django.urls import path

from annotation import (
    console,
    console_checks,
    console_judges,
    console_reports,
    console_study,
)
from annotation import console_judge_runs as runs
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
    path("<slug:study>/open/", console.open_study, name="open"),
    path("<slug:study>/pause/", console.pause_study, name="pause"),
    path("<slug:study>/close/", console.close_study, name="close"),
    path("<slug:study>/", console_study.study_shown, name="study"),
    path("<slug:study>/lock/", console_study.lock, name="lock"),
    path("<slug:study>/plan/", console_study.plan, name="plan"),
    path("<slug:study>/extend/", console_study.extend, name="extend"),
    path("<slug:study>/checks/", console_checks.checks, name="checks"),
    path("<slug:study>/checks/mark/", console_checks.mark, name="mark_gold"),
    path("<slug:study>/checks/<int:pk>/switch/", console_checks.switch, name="switch_check"),
    path("<slug:study>/judges/", console_judges.judges, name="judges"),
    path("<slug:study>/judges/<slug:key>/", console_judges.judged, name="judged"),
    path("<slug:study>/judge-runs/", runs.runs, name="judge_runs"),
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
    path("<slug:study>/reports/", console_reports.reports, name="reports"),
    path("<slug:study>/reports/<slug:key>/decide/", console_reports.decide, name="decide"),
]
