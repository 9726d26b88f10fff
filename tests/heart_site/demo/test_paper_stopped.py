"""The simulated HEART study when it is stopped, and what it refuses."""

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Judgment, Study
from heart_site.demo.rehearsal.walking import Walk
from tests.heart_site.demo.test_paper import hold

pytestmark = pytest.mark.django_db


@pytest.mark.full
def test_goes_on_where_it_was_stopped(tmp_path, monkeypatch):
    act, acts = Walk.act, []

    def stop(walk, now):
        acts.append(now)
        if len(acts) == 100:
            raise KeyboardInterrupt
        return act(walk, now)

    monkeypatch.setattr(Walk, "act", stop)
    with pytest.raises(CommandError, match="running it again goes on") as stopped:
        hold(tmp_path)
    assert stopped.value.returncode == 130
    before = set(Judgment.objects.values_list("pk", flat=True))

    hold(tmp_path)

    assert before < set(Judgment.objects.values_list("pk", flat=True))
    assert (tmp_path / "numbers.json").exists()


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
