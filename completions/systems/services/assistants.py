"""Register the language models that help: with contexts, with strategies, with rationales."""

import hashlib

from django.utils.text import slugify

from completions.models import Assistant

OFFLINE = "offline"
"""The word that stands for the simulated assistant of a task."""
LONGEST = 120
"""Characters of a model's id."""
SIMULATED = {
    "rewriter": "Simulated rewriter",
    "hostility-rater": "Simulated hostility rater",
    "screener": "Simulated screener",
    "strategist": "Simulated strategist",
    "coder": "Simulated coder",
}


class ModelIdError(ValueError):
    """A text cannot be the id of a model."""


def assistant_for(task: str, model: str) -> Assistant:
    """Return the assistant for a task, adding it if need be; one that exists stays.

    ``task`` is a key of ``SIMULATED``; ``model`` is "offline" for the simulated assistant of the
    task, or a model's id as LiteLLM spells it.

    Raises
    ------
    ModelIdError
        If ``model`` is empty, too long, or holds spaces.
    """
    known: dict[str, object] = {"name": model, "model_id": model}
    if model == OFFLINE:
        known = {
            "name": SIMULATED[task],
            "model_id": f"hosted_vllm/offline-{task}",
            "is_simulated": True,
        }
    elif not model or len(model) > LONGEST or model.split() != [model]:
        msg = f'"{model}" is no id of a model: 1 to {LONGEST} characters without spaces are'
        raise ModelIdError(msg)
    slug = f"simulated-{task}" if model == OFFLINE else _slug(model)
    assistant, _ = Assistant.objects.get_or_create(slug=slug, defaults=known)
    return assistant


def _slug(model: str) -> str:
    """Return a slug that no other id has: gpt-4.1 and gpt-41 must stay two models."""
    digest = hashlib.sha256(model.encode()).hexdigest()
    return f"{slugify(model.replace('/', '-'))[:37]}-{digest[:12]}"
