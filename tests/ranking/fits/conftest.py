"""A study whose ratings are computed, made once for a module, and analyses that take no time."""

import pytest
from django.test import override_settings

from annotation.models import Study
from ranking.choices import AnalysisKind
from ranking.fits import services
from tests.helpers.factories import HOUR, NOW
from tests.helpers.judged import make_judged_study, newest_fit
from tests.helpers.rated import know_kinds


@pytest.fixture
def _two_kinds(monkeypatch, settings):
    know_kinds(monkeypatch, (AnalysisKind.PAIRS, AnalysisKind.CHECKS))
    settings.HEART_BOOTSTRAP_REPLICATES = 40


@pytest.fixture(scope="module")
def key_of_rated(module_rows):
    """A study with judgments of one person, and its fits: two pools, two sets of contexts."""
    with override_settings(HEART_BOOTSTRAP_REPLICATES=40):
        study = make_judged_study(n_dialogues=3)
        services.refit_study(study=study, clock=lambda: NOW + HOUR)
    return study.pk


@pytest.fixture
def study(key_of_rated):
    return Study.objects.get(pk=key_of_rated)


@pytest.fixture
def fit(study):
    return newest_fit(study)
