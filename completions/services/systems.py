"""Register what produces completions."""

from completions.choices import SystemKind
from completions.models import System


def register_simulated_system(*, slug: str, name: str, family: str, model_id: str) -> System:
    """Return the simulated system of that slug, adding it if need be; one that exists stays."""
    system, _ = System.objects.get_or_create(
        slug=slug,
        defaults={
            "name": name,
            "kind": SystemKind.MODEL,
            "family": family,
            "model_id": model_id,
            "is_simulated": True,
        },
    )
    return system
