"""Register LLM judges."""

from annotation.models import Judge


def register_simulated_judge(*, slug: str, name: str, family: str, model_id: str) -> Judge:
    """Return the simulated judge of that slug, adding it if need be; one that exists stays."""
    judge, _ = Judge.objects.get_or_create(
        slug=slug,
        defaults={"name": name, "family": family, "model_id": model_id, "is_simulated": True},
    )
    return judge
