"""Addresses of the ranking app: a group for each place where they are mounted."""

from django.urls import path

from ranking import api, coverage, log, people
from ranking.exports import console as export_console
from ranking.fits import console as fits_console
from ranking.monitor import console, payments
from ranking.planner import console as planner_console
from ranking.releases import console as release_console
from ranking.results import views, weights

WHOLE_LOG = [
    path("log/", log.whole_log, name="all"),
    path("log.csv", log.whole_log_csv, name="all_csv"),
]
"""Mounted before the addresses of studies: no study has that name."""
PEOPLE = [
    path("", people.people, name="search"),
    path("retention/", people.retention, name="retention"),
    path("retention.csv", people.retention_csv, name="retention_csv"),
    path("<slug:code>/", people.person, name="person"),
    path("<slug:code>/unbind/", people.unbind, name="unbind"),
]
CONSOLE = [
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
"""Raters and ratings of studies, under /console/."""
RESULTS = "results/<slug:study>/"
FIT = "results/<slug:study>/fits/<slug:key>/"
ANALYSIS = "results/<slug:study>/fits/<slug:key>/<slug:kind>/"
STUDY = "console/studies/<slug:study>/"
OF_OLD = {"name": "judgments", "form": "csv"}
"""What the address means at which judgments always were."""
PUBLIC = [
    path(RESULTS, views.leaderboard, name="leaderboard"),
    path(f"{RESULTS}fits/", views.fits, name="fits"),
    path(f"{RESULTS}history/", views.history, name="history"),
    path(f"{RESULTS}history.csv", views.history_csv, name="history_csv"),
    path(f"{RESULTS}verdicts/", views.verdicts, name="verdicts"),
    path(f"{RESULTS}verdicts.csv", views.verdicts_csv, name="verdicts_csv"),
    path(f"{RESULTS}releases/<slug:key>.zip", views.release_zip, name="release_zip"),
    path(FIT, views.fit_page, name="fit"),
    path(f"{FIT}ratings.csv", views.ratings_csv, name="ratings_csv"),
    path(f"{FIT}ratings.json", views.ratings_json, name="ratings_json"),
    path(f"{FIT}ratings.<slug:form>", views.ratings_figure, name="ratings_figure"),
    path(f"{FIT}weights/", weights.weights, name="weights"),
    path(f"{FIT}weights/weighted.csv", weights.weighed_csv, name="weighed_csv"),
    path(f"{FIT}weights/weighted.json", weights.weighed_json, name="weighed_json"),
    path(ANALYSIS, views.analysis, name="analysis"),
    path(f"{ANALYSIS}findings.json", views.analysis_json, name="analysis_json"),
    path(f"{ANALYSIS}<slug:table>.csv", views.table_csv, name="table_csv"),
    path(f"{ANALYSIS}<slug:table>.<slug:form>", views.table_figure, name="table_figure"),
    path(f"{STUDY}judgments.csv", export_console.download, OF_OLD, name="judgments_csv"),
    path(f"{STUDY}ensemble.csv", views.ensemble_csv, name="ensemble_csv"),
]
"""Ratings: pages and downloads."""
RELEASE = "studies/<slug:study>/releases/<slug:release>/"
API = [
    path("studies/<slug:study>/ratings/", api.Ratings.as_view(), name="ratings"),
    path("studies/<slug:study>/judgments/", api.Judgments.as_view(), name="judgments"),
    path("studies/<slug:study>/fits/", api.Fits.as_view(), name="fits"),
    path("studies/<slug:study>/fits/<slug:key>/", api.FitRatings.as_view(), name="fit"),
    path(
        "studies/<slug:study>/fits/<slug:key>/analyses/",
        api.FitAnalyses.as_view(),
        name="analyses",
    ),
    path(
        "studies/<slug:study>/fits/<slug:key>/analyses/<slug:kind>/",
        api.AnalysisView.as_view(),
        name="analysis",
    ),
    path("studies/<slug:study>/releases/", api.Releases.as_view(), name="releases"),
    path(RELEASE, api.ReleaseView.as_view(), name="release"),
    path(f"{RELEASE}archive/", api.ReleaseArchive.as_view(), name="release_archive"),
    path(f"{RELEASE}files/<path:path>", api.ReleaseFile.as_view(), name="release_file"),
]
"""Ratings, fits, judgments and releases, under /api/v1/."""
