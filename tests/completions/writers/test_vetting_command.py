"""``manage.py writers vetting``."""

import pytest
from django.core.management import CommandError, call_command

from completions.models import Dataset
from tests.helpers.factories import make_dataset

pytestmark = pytest.mark.django_db


def vetting(switch, capsys):
    call_command("writers", "vetting", switch, "--dataset", "esconv")
    return capsys.readouterr().out


class TestVettingCommand:
    def test_switches_the_trial_on_and_off(self, capsys):
        dataset = make_dataset(slug="esconv")

        assert "esconv: newcomers write for 3 trial conversations first" in vetting("on", capsys)
        assert Dataset.objects.filter(pk=dataset.pk, vetting__slug="vetting-heart-1").exists()
        assert "esconv: newcomers are let in at once" in vetting("off", capsys)
        assert Dataset.objects.get(pk=dataset.pk).vetting is None

    def test_names_a_dataset_that_is_not_there(self, capsys):
        with pytest.raises(CommandError, match='no dataset "esconv"') as refused:
            vetting("on", capsys)

        assert refused.value.returncode == 2

    def test_tells_of_a_dataset_that_has_the_dialogues_slug(self, capsys):
        make_dataset(slug="esconv")
        make_dataset(slug="vetting-heart-1")

        with pytest.raises(CommandError, match='"vetting-heart-1" is a dataset of its own'):
            vetting("on", capsys)
