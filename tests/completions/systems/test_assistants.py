"""Which row stands for the model that a command names."""

import pytest

from completions.models import Assistant
from completions.systems.services.registering import SIMULATED, ModelIdError, assistant_for

pytestmark = pytest.mark.django_db


class TestAssistantFor:
    @pytest.mark.parametrize("task", SIMULATED)
    def test_offline_is_the_simulated_one_of_the_task(self, task):
        assistant = assistant_for(task, "offline")

        assert assistant.is_simulated
        assert assistant.name.startswith("Simulated")
        assert assistant.model_id == f"hosted_vllm/offline-{task}"

    def test_a_model_is_a_real_one_under_its_own_name(self):
        assistant = assistant_for("rewriter", "openai/some-model")

        assert (assistant.name, assistant.model_id) == ("openai/some-model",) * 2
        assert not assistant.is_simulated

    @pytest.mark.parametrize("model", ["offline", "openai/some-model"])
    def test_is_added_once(self, model):
        assert assistant_for("rewriter", model) == assistant_for("rewriter", model)
        assert Assistant.objects.count() == 1

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            pytest.param("openai/model-4.1", "openai/model-41", id="a dot"),
            pytest.param("openai/model", "openai-model", id="a slash"),
            pytest.param(f"router/{'m' * 60}-large", f"router/{'m' * 60}-small", id="a long name"),
            pytest.param("offline", "simulated/rewriter", id="a simulated one"),
        ],
    )
    def test_is_never_another_model(self, one, other):
        """A run that asks for one model and gets another would say so nowhere."""
        assert assistant_for("rewriter", one).model_id != assistant_for("rewriter", other).model_id

    @pytest.mark.parametrize("model", ["", " ", "two words", "openai/model ", "m" * 121])
    def test_refuses_what_is_no_model(self, model):
        with pytest.raises(ModelIdError, match="is no id of a model"):
            assistant_for("rewriter", model)
