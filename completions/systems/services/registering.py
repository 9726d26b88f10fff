"""Register what produces completions."""

from completions.choices import SystemKind
from completions.models import System, Writer

HUMAN = "human"
HUMAN_SYSTEM = {"name": "Human supporters", "kind": SystemKind.HUMAN}


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


def system_of_writer(writer: Writer) -> System:
    """Return the system to which a writer's completions belong, adding it if need be.

    It is the writer's own, under the pseudonym, if the writer agreed to that while the dataset
    offered it, also when it offers it no more: nobody is split over two. Else it is that of all
    supporters together.
    """
    if writer.has_own_system:
        return _own_system(writer)
    return System.objects.get_or_create(slug=HUMAN, defaults=HUMAN_SYSTEM)[0]


def _own_system(writer: Writer) -> System:
    kind = "Simulated supporter" if writer.is_simulated else "Supporter"
    system, _ = System.objects.get_or_create(
        slug=f"supporter-{writer.code.lower()}",
        defaults={
            "name": f"{kind} {writer.code}",
            "kind": SystemKind.HUMAN,
            "writer": writer,
            "is_simulated": writer.is_simulated,
        },
    )
    return system
