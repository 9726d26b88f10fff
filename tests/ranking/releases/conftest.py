"""A study to release, made once for a module, where building is quick."""

import pytest
from django.test import override_settings

from annotation.models import Study
from tests.helpers.released import make_study_to_release


@pytest.fixture(autouse=True)
def _quick(settings, tmp_path):
    settings.HEART_BOOTSTRAP_REPLICATES = 40
    settings.HEART_DATA_DIR = tmp_path / "kept"


@pytest.fixture(scope="module")
def key_to_release(module_rows):
    with override_settings(HEART_BOOTSTRAP_REPLICATES=40):
        return make_study_to_release().pk


@pytest.fixture
def study(key_to_release):
    return Study.objects.get(pk=key_to_release)
