"""Hold a candidate against a baseline by the newest fit of a study; nothing is written."""

from annotation.choices import Protocol
from annotation.models import Study
from ranking.analyses import AnalysisInputs
from ranking.choices import ContextSet, EvaluatorPool
from ranking.fits import queries
from ranking.fits.services.claiming import selection_of
from ranking.fits.services.inputs import check_stamp, judgments_of
from ranking.gate.report import GateReport
from ranking.gate.rules import GateRequest, run_gate
from ranking.judgments.frames.columns import read_columns_and_dimensions
from ranking.judgments.frames.sources import DatabaseSources
from ranking.judgments.method import Method


class NoFitError(Exception):
    """The study has no ratings to go by."""


def ask_gate(*, study: Study, request: GateRequest) -> GateReport:
    """Test whether the candidate dropped by more than is allowed, by the study's newest fit.

    The fit is that of people and LLM judges together on all contexts, or else the first that
    there is of those that a reader is shown first.

    Raises
    ------
    NoFitError
        If none is done, or the study is one in which nobody compared messages.
    JudgmentsChangedError
        If the judgments of the fit are no longer those that it was computed from.
    UnknownSystemError, AnalysisRefusedError
        As `ranking.gate.rules.run_gate`.
    """
    if study.protocol == Protocol.LIKERT:
        msg = f"In the study {study.slug} messages are rated alone: there are no preferences."
        raise NoFitError(msg)
    fit = next(iter(queries.newest_done(study)), None)
    if fit is None:
        msg = f"The study {study.slug} has no fit that is done."
        raise NoFitError(msg)
    judgments_of(fit)
    selection = selection_of(fit)
    columns, dimensions = read_columns_and_dimensions(selection)
    check_stamp(fit)
    inputs = AnalysisInputs(columns, Method.of(fit.method), dimensions)
    found = run_gate(inputs, request)
    systems = DatabaseSources(selection, columns).systems()
    return GateReport(
        gate=found,
        study=fit.study.slug,
        fit=fit.key,
        pool=EvaluatorPool(fit.pool).label,
        context_set=ContextSet(fit.context_set).label,
        as_of=fit.as_of,
        n_judgments=fit.n_judgments,
        n_units=fit.n_units,
        is_fit_simulated=fit.is_simulated or fit.study.is_simulated,
        candidate=systems[request.candidate],
        baseline=systems[request.baseline],
    )
