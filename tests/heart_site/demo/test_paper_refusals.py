"""What the simulated HEART study refuses."""

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Study

pytestmark = pytest.mark.django_db


class TestWhatIsRefused:
    def test_the_full_study_without_its_dialogues(self):
        with pytest.raises(CommandError, match="ESConv") as refused:
            call_command("paper")

        assert refused.value.returncode == 2

    def test_a_file_that_holds_no_dialogues(self, tmp_path):
        file = tmp_path / "dialogues.json"
        file.write_text("{}")

        with pytest.raises(CommandError) as refused:
            call_command("paper", "--dialogues", str(file), "--out", str(tmp_path))

        assert refused.value.returncode == 2
        assert not Study.objects.exists()
