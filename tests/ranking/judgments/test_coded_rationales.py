"""What models find in rationales enters analyses as of their fit, and asks for the next fit."""

import datetime as dt

import pytest

from annotation.models import Judgment, RationaleRun
from completions.choices import CallState, Presence, RunState
from ranking.analyses import analyse
from ranking.choices import AnalysisKind, ContextSet, EvaluatorPool, FitState
from ranking.fits.services.inputs import inputs_of
from ranking.judgments import frames
from ranking.judgments.frames.sources import DatabaseSources
from ranking.models import Fit
from tests.helpers.factories import make_assistant
from tests.helpers.factories_of_calls import (
    BOOK,
    code_all,
    make_coded,
    make_labelling_run,
    make_rationale_call,
    make_rationale_run,
    make_theme_label,
)
from tests.helpers.judged import fit_one, make_judged_study

pytestmark = pytest.mark.django_db
MINUTE = dt.timedelta(minutes=1)


@pytest.fixture(autouse=True)
def quick(settings):
    settings.HEART_BOOTSTRAP_REPLICATES = 20


@pytest.fixture
def study():
    return make_judged_study(with_llm=True)


@pytest.fixture
def coder():
    return make_assistant(name="Simulated coder", is_simulated=True)


def themes_of(study, as_of):
    selection = frames.Selection(study, EvaluatorPool.COMBINED, ContextSet.ALL, as_of)
    return DatabaseSources(selection, frames.read_columns(selection)).themes()


class TestTheSource:
    def test_is_none_where_nothing_was_read(self, study, now):
        assert themes_of(study, now) is None

    def test_has_a_row_for_each_judgment(self, study, coder, now):
        judgments = Judgment.objects.order_by("submitted_at", "pk")
        call = make_rationale_call(
            judgment=judgments[3],
            assistant=coder,
            state=CallState.DONE,
            ended_at=now,
            raw_answer="{}",
        )
        for key, presence in zip(BOOK.keys, Presence, strict=False):
            quote = "names" if presence == Presence.PRESENT else ""
            make_theme_label(call=call, theme=key, presence=presence, quote=quote)

        labels = themes_of(study, now)

        assert labels.coders == ("Simulated coder",)
        assert labels.presence.shape == (1, judgments.count(), len(BOOK.keys))
        assert labels.presence[0, 3, :3].tolist() == [1.0, 0.0, 0.5]
        assert (labels.presence[0, :3] != labels.presence[0, :3]).all()  # not a number

    def test_knows_nothing_of_what_came_later_or_goes_by_another_book(self, study, coder, now):
        first, second = Judgment.objects.order_by("pk")[:2]
        make_coded(first, coder, ended_at=now + MINUTE)
        make_coded(second, coder, ended_at=now, codebook="heart-0")

        assert themes_of(study, now) is None
        assert themes_of(study, now + MINUTE).presence.shape[0] == 1

    def test_leaves_out_other_studies(self, study, coder, now):
        code_all(make_judged_study(), coder, at=now)

        assert themes_of(study, now) is None


class TestAnAnalysis:
    def analyse(self, fit):
        return analyse(AnalysisKind.RATIONALES, inputs_of(fit, AnalysisKind.RATIONALES))

    def test_of_a_fit_stays_the_same_whatever_is_read_later(self, study, coder, now):
        fit = fit_one(study, now)
        before = self.analyse(fit)

        code_all(study, coder, at=now + MINUTE)

        assert self.analyse(fit) == before
        assert "coders" not in [one.key for one in before.tables]

    def test_of_the_next_fit_knows_it(self, study, coder, now):
        fit_one(study, now)
        code_all(study, coder, at=now + MINUTE)

        fit = fit_one(study, now + 2 * MINUTE)

        keys = [one.key for one in self.analyse(fit).tables]
        assert keys[-2:] == ["coders", "coder-agreement"]


class TestTheNextFit:
    def fits_after(self, study, now, **run):
        fit_one(study, now)
        n = Fit.objects.count()
        make_rationale_run(study=study, **run)
        fit_one(study, now + 2 * MINUTE)
        return Fit.objects.filter(state=FitState.DONE).count() - n

    def test_is_asked_for_by_a_run_that_has_ended(self, study, now):
        assert self.fits_after(study, now, state=RunState.ENDED, ended_at=now) > 0

    def test_is_not_asked_for_while_a_run_goes_on(self, study, now):
        assert self.fits_after(study, now) == 0

    def test_is_asked_for_by_labels_of_strategies_too(self, study, now):
        before = frames.n_decisions(study)

        make_labelling_run(dataset=study.dataset, state=RunState.ENDED, ended_at=now)
        make_labelling_run(state=RunState.ENDED, ended_at=now)

        assert frames.n_decisions(study) == before + 1

    def test_is_asked_for_in_no_other_study(self, study, now):
        other = make_judged_study()
        before = frames.n_decisions(other)

        make_rationale_run(study=study, state=RunState.ENDED, ended_at=now)

        assert frames.n_decisions(other) == before
        assert RationaleRun.objects.count() == 1
