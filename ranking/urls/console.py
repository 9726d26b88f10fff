"""Addresses of the console's pages: the whole log, people, and raters and ratings of studies."""

from django.urls import path

from ranking import coverage, log, people
from ranking.exports import console as export_console
from ranking.fits import console as fits_console
from ranking.monitor import console, payments
from ranking.planner import console as planner_console
from ranking.releases import console as release_console

app_name = "raters"
urlpatterns = [
    path("<slug:study>/raters/", console.raters, name="list"),
    path("<slug:study>/raters.csv", console.raters_csv, name="csv"),
    path("<slug:study>/measure-raters/", console.measure, name="measure"),
    path("<slug:study>/raters/<slug:code>/", console.rater, name="rater"),
    path("<slug:study>/raters/<slug:code>/answers/", console.answers, name="answers"),
    path(
        "<slug:study>/raters/<slug:code>/answers.csv",
        console.answers_csv,
        name="answers_csv",
    ),
    path("<slug:study>/raters/<slug:code>/exclude/", console.exclude, name="exclude"),
    path("<slug:study>/raters/<slug:code>/reinstate/", console.reinstate, name="reinstate"),
    path("<slug:study>/payments/", payments.payments, name="payments"),
    path("<slug:study>/payments.csv", payments.payments_csv, name="payments_csv"),
    path("<slug:study>/payments/mturk.csv", payments.mturk_csv, name="mturk_csv"),
    path("<slug:study>/payments/approve/", payments.approve, name="approve"),
    path("<slug:study>/payments/<int:pk>/reject/", payments.reject, name="reject"),
    path("<slug:study>/payments/draft/", payments.draft, name="draft"),
    path("<slug:study>/payments/places/", payments.places, name="places"),
    path("<slug:study>/payments/read/", payments.read, name="read_states"),
    path("<slug:study>/external/compare/", console.outside, name="outside"),
    path("<slug:study>/completions/", coverage.coverage, name="coverage"),
    path("<slug:study>/completions.csv", coverage.coverage_csv, name="coverage_csv"),
    path("<slug:study>/completions/retry/", coverage.retry, name="retry"),
    path(
        "<slug:study>/completions/<slug:context>/<slug:system>/",
        coverage.cell,
        name="cell",
    ),
    path("<slug:study>/comparisons/", coverage.comparisons, name="comparisons"),
    path("<slug:study>/comparisons.csv", coverage.comparisons_csv, name="comparisons_csv"),
    path("<slug:study>/judgments/", coverage.judgments, name="judgments"),
    path("<slug:study>/judgments.csv", coverage.judgments_csv, name="judgments_csv"),
    path("<slug:study>/ratings/", fits_console.fits, name="fits"),
    path("<slug:study>/ratings/refit/", fits_console.refit, name="refit"),
    path("<slug:study>/ratings/<slug:key>/publish/", fits_console.publish, name="publish_fit"),
    path(
        "<slug:study>/ratings/<slug:key>/unpublish/", fits_console.unpublish, name="unpublish_fit"
    ),
    path(
        "new/from/<slug:template>/beside/", planner_console.beside_template, name="beside_template"
    ),
    path("<slug:study>/protocol/beside/", planner_console.beside_study, name="beside_study"),
    path("<slug:study>/planner/", planner_console.planner, name="planner"),
    path("<slug:study>/planner.csv", planner_console.planner_csv, name="planner_csv"),
    path("<slug:study>/exports/", export_console.page, name="exports"),
    path(
        "<slug:study>/exports/dictionary.<slug:form>",
        export_console.dictionary,
        name="dictionary",
    ),
    path("<slug:study>/exports/<slug:name>.<slug:form>", export_console.download, name="export"),
    path("<slug:study>/log/", log.study_log, name="log"),
    path("<slug:study>/log.csv", log.study_log_csv, name="log_csv"),
    path("<slug:study>/release/", release_console.releases, name="release"),
    path("<slug:study>/release/build/", release_console.build, name="build_release"),
    path("<slug:study>/release/<slug:key>.zip", release_console.download, name="release_zip"),
    path(
        "<slug:study>/release/<slug:key>/publish/", release_console.publish, name="publish_release"
    ),
    path(
        "<slug:study>/release/<slug:key>/unpublish/",
        release_console.unpublish,
        name="unpublish_release",
    ),
    path("<slug:study>/review/", console.review, name="review"),
    path("<slug:study>/review/moves/", console.moves, name="moves"),
]
WHOLE_LOG = (
    [
        path("log/", log.whole_log, name="all"),
        path("log.csv", log.whole_log_csv, name="all_csv"),
    ],
    "log",
)
"""Mounted before the addresses of studies: no study has that name."""
PEOPLE = (
    [
        path("", people.people, name="search"),
        path("retention/", people.retention, name="retention"),
        path("retention.csv", people.retention_csv, name="retention_csv"),
        path("<slug:code>/", people.person, name="person"),
        path("<slug:code>/unbind/", people.unbind, name="unbind"),
    ],
    "people",
)
