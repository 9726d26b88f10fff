"""Addresses of the console's pages on raters and ratings, mounted under /console/."""

from django.urls import path

from ranking import (
    console,
    console_answers,
    console_coverage,
    console_exports,
    console_fits,
    console_log,
    console_planner,
    console_release,
)
from ranking import console_rows as rows

app_name = "raters"
urlpatterns = [
    path("<slug:study>/raters/", console.raters, name="list"),
    path("<slug:study>/raters.csv", console.raters_csv, name="csv"),
    path("<slug:study>/measure-raters/", console.measure, name="measure"),
    path("<slug:study>/raters/<slug:code>/", console.rater, name="rater"),
    path("<slug:study>/raters/<slug:code>/answers/", console_answers.answers, name="answers"),
    path(
        "<slug:study>/raters/<slug:code>/answers.csv",
        console_answers.answers_csv,
        name="answers_csv",
    ),
    path("<slug:study>/raters/<slug:code>/exclude/", console.exclude, name="exclude"),
    path("<slug:study>/raters/<slug:code>/reinstate/", console.reinstate, name="reinstate"),
    path("<slug:study>/completions/", console_coverage.coverage, name="coverage"),
    path("<slug:study>/completions.csv", console_coverage.coverage_csv, name="coverage_csv"),
    path("<slug:study>/completions/retry/", console_coverage.retry, name="retry"),
    path(
        "<slug:study>/completions/<slug:context>/<slug:system>/",
        console_coverage.cell,
        name="cell",
    ),
    path("<slug:study>/comparisons/", rows.comparisons, name="comparisons"),
    path("<slug:study>/comparisons.csv", rows.comparisons_csv, name="comparisons_csv"),
    path("<slug:study>/judgments/", rows.judgments, name="judgments"),
    path("<slug:study>/judgments.csv", rows.judgments_csv, name="judgments_csv"),
    path("<slug:study>/ratings/", console_fits.fits, name="fits"),
    path("<slug:study>/ratings/refit/", console_fits.refit, name="refit"),
    path("<slug:study>/ratings/<slug:key>/publish/", console_fits.publish, name="publish_fit"),
    path(
        "<slug:study>/ratings/<slug:key>/unpublish/", console_fits.unpublish, name="unpublish_fit"
    ),
    path("<slug:study>/planner/", console_planner.planner, name="planner"),
    path("<slug:study>/planner.csv", console_planner.planner_csv, name="planner_csv"),
    path("<slug:study>/exports/", console_exports.page, name="exports"),
    path(
        "<slug:study>/exports/dictionary.<slug:form>",
        console_exports.dictionary,
        name="dictionary",
    ),
    path("<slug:study>/exports/<slug:name>.<slug:form>", console_exports.download, name="export"),
    path("<slug:study>/log/", console_log.study_log, name="log"),
    path("<slug:study>/log.csv", console_log.study_log_csv, name="log_csv"),
    path("<slug:study>/release/", console_release.releases, name="release"),
    path("<slug:study>/release/build/", console_release.build, name="build_release"),
    path("<slug:study>/release/<slug:key>.zip", console_release.download, name="release_zip"),
    path(
        "<slug:study>/release/<slug:key>/publish/", console_release.publish, name="publish_release"
    ),
    path(
        "<slug:study>/release/<slug:key>/unpublish/",
        console_release.unpublish,
        name="unpublish_release",
    ),
    path("<slug:study>/review/", console.review, name="review"),
    path("<slug:study>/review/moves/", console.moves, name="moves"),
]
