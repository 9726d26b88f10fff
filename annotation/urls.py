"""Addresses of the annotation app: a group for each place where they are mounted."""

from django.urls import path

from annotation import api
from annotation.external import console as external_console
from annotation.judges import console as judge_console
from annotation.overview import console
from annotation.quality import console as quality_console
from annotation.quick import console as quick_console
from annotation.rationales import console as rationales_console
from annotation.session.http import led_back
from annotation.session.views import ending, entering, judging
from annotation.studies.http import study_page
from annotation.study_form import console as making
from completions.strategies.desk import item_paths

RATERS = [
    path("", entering.entry, name="entry"),
    path("consent/", led_back(entering.consent, to="entry"), name="consent"),
    path("how/", entering.how, name="how"),
    path("questions/", entering.comprehension, name="comprehension"),
    path("rubric/", entering.rubric, name="rubric"),
    path("resume/<str:link>/", entering.resume, name="resume"),
    path("judge/", judging.judge, name="judge"),
    path("judge/<uuid:token>/", led_back(judging.submit, to="judge"), name="submit"),
    path("judge/<uuid:token>/next/", judging.foreseen, name="foreseen"),
    path("judge/<uuid:token>/skip/", led_back(judging.skip, to="judge"), name="skip"),
    path("judge/<uuid:token>/report/", led_back(judging.report, to="judge"), name="report"),
    path("last/", judging.last, name="last"),
    path("help/", ending.help_lines, name="help"),
    path("break/", ending.take_break, name="take_break"),
    path("stop/", ending.stop, name="stop"),
    path("finish/", led_back(ending.finish, to="judge"), name="finish"),
    path("withdraw/", ending.withdraw, name="withdraw"),
    path("guess/", ending.guess, name="guess"),
    path("done/", ending.done, name="done"),
]
"""Pages of raters, under /s/<study>/."""
WRITERS = [path("", ending.withdraw_writer, name="withdraw")]
"""What writers do that judgments rest on, under /w/withdraw/."""
CONSOLE = [
    path("", console.overview, name="overview"),
    path(
        "writing/<slug:dataset>/writers/<slug:code>/withdraw/",
        ending.withdraw_writer_for,
        name="withdraw_writer",
    ),
    path("judges/", judge_console.all_judges, name="all_judges"),
    path("judges.csv", judge_console.all_judges_csv, name="all_judges_csv"),
    path("judges/sync/", judge_console.sync, name="sync_judges"),
    path("search/", console.search, name="search"),
    path("new/", making.start, name="new"),
    path("new/file/", making.take_file, name="new_file"),
    path("new/texts/", quick_console.import_file, name="new_quick"),
    path("new/texts/make/", quick_console.make, name="make_quick"),
    path("new/from/<slug:template>/", making.fill, name="new_form"),
    path("<slug:study>/protocol/", making.protocol, name="protocol"),
    path("<slug:study>/protocol/edit/", making.edit, name="edit"),
    path("<slug:study>/protocol/version/", making.version, name="version"),
    path("<slug:study>/protocol.toml", making.toml, name="toml"),
    path("<slug:study>/open/", console.open_study, name="open"),
    path("<slug:study>/pause/", console.pause_study, name="pause"),
    path("<slug:study>/close/", console.close_study, name="close"),
    path("<slug:study>/", console.study_shown, name="study"),
    path("<slug:study>/live/", console.live, name="live"),
    path("<slug:study>/lock/", console.lock, name="lock"),
    path("<slug:study>/plan/", console.plan, name="plan"),
    path("<slug:study>/contexts/", console.contexts, name="contexts"),
    path("<slug:study>/extend/", console.extend, name="extend"),
    path("<slug:study>/checks/", quality_console.checks, name="checks"),
    path("<slug:study>/checks/mark/", quality_console.mark, name="mark_gold"),
    path("<slug:study>/checks/<int:pk>/switch/", quality_console.switch, name="switch_check"),
    path("<slug:study>/judges/", judge_console.judges, name="judges"),
    path("<slug:study>/judges/<slug:key>/", judge_console.judged, name="judged"),
    path("<slug:study>/judge-runs/", judge_console.runs, name="judge_runs"),
    path("<slug:study>/judge-runs.csv", judge_console.runs_csv, name="judge_runs_csv"),
    path("<slug:study>/judge-runs/new/", judge_console.choose, name="judge_choose"),
    path("<slug:study>/themes/", judge_console.find_themes, name="find_themes"),
    path("<slug:study>/theme-checks/", rationales_console.overview, name="theme_overview"),
    path("<slug:study>/theme-checks/draw/", rationales_console.draw, name="theme_draw"),
    *item_paths(
        "<slug:study>/theme-checks/<int:check>/<int:number>/",
        "theme_",
        study_page,
        rationales_console.desk_of,
    ),
    path("<slug:study>/judge-runs/plan/", judge_console.plan, name="judge_plan"),
    path("<slug:study>/judge-runs/start/", judge_console.start, name="judge_start"),
    path("<slug:study>/personal-data/", rationales_console.queue, name="personal_data"),
    path(
        "<slug:study>/personal-data.csv",
        rationales_console.queue_csv,
        name="personal_data_csv",
    ),
    path("<slug:study>/personal-data/<int:pk>/", rationales_console.text, name="personal_text"),
    path("<slug:study>/external/", external_console.external, name="external"),
    path("<slug:study>/external/store/", external_console.store, name="store_external"),
    path(
        "<slug:study>/external/<int:pk>/decide/",
        external_console.decide,
        name="decide_external",
    ),
    path("<slug:study>/reports/", quality_console.reports, name="reports"),
    path("<slug:study>/reports/<slug:key>/decide/", quality_console.decide, name="decide"),
]
API = [
    path("studies/", api.Studies.as_view(), name="studies"),
    path("studies/<slug:study>/", api.StudyView.as_view(), name="study"),
    path("studies/<slug:study>/comparisons/", api.Comparisons.as_view(), name="comparisons"),
    path(
        "studies/<slug:study>/external-judgments/",
        api.ExternalJudgments.as_view(),
        name="external_judgments",
    ),
]
"""Studies and what belongs to them, under /api/v1/."""
