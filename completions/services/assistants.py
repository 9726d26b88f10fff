"""Register the language models that help to prepare contexts."""

from django.utils.text import slugify

from completions.models import Assistant

OFFLINE = "offline"
"""The word that stands for the simulated assistant of a task."""
SIMULATED = {
    "rewriter": "Simulated rewriter",
    "hostility-rater": "Simulated hostility rater",
    "screener": "Simulated screener",
}


def assistant_for(task: str, model: str) -> Assistant:
    """Return the assistant for a task, adding it if need be; one that exists stays.

    ``task`` is a key of ``SIMULATED``; ``model`` is "offline" for the simulated assistant of the
    task, or a model's id as LiteLLM spells it.
    """
    if model == OFFLINE:
        slug = f"simulated-{task}"
        known = {
            "name": SIMULATED[task],
            "model_id": f"hosted_vllm/offline-{task}",
            "is_simulated": True,
        }
    else:
        slug, known = slugify(model.replace("/", "-"))[:50], {"name": model, "model_id": model}
    assistant, _ = Assistant.objects.get_or_create(slug=slug, defaults=known)
    return assistant
