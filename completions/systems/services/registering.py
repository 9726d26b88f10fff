"""Register what produces completions, by hand too, and the models that help."""

import datetime as dt
import hashlib
from collections.abc import Mapping

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils.text import slugify

from access.log import record
from completions.choices import SystemKind
from completions.models import Assistant, Dataset, System, Writer
from completions.systems.catalogue import SimulatedEntry, SystemEntry
from completions.systems.importing import LONGEST_SLUG
from completions.systems.services.syncing import columns_of

HUMAN = "human"
HUMAN_SYSTEM = {"name": "Human supporters", "kind": SystemKind.HUMAN}
SIMULATED_HUMAN = "simulated-human"
SIMULATED_HUMAN_SYSTEM = {
    "name": "Simulated human supporters",
    "kind": SystemKind.HUMAN,
    "is_simulated": True,
}


def register_simulated_system(
    *, slug: str, name: str, family: str, model_id: str, facts: Mapping[str, object] | None = None
) -> System:
    """Return the simulated system of that slug, adding it if need be; one that exists stays."""
    system, _ = System.objects.get_or_create(
        slug=slug,
        defaults={
            "name": name,
            "kind": SystemKind.MODEL,
            "family": family,
            "model_id": model_id,
            "facts": dict(facts or {}),
            "is_simulated": True,
        },
    )
    return system


def register_imported_system(*, dataset: Dataset, name: str) -> System:
    """Return the dataset's system of that name, whose texts are brought in, adding it if need be.

    Two files may use one name for two things, so that the dataset is part of the slug and, where
    another system has the name already, of the name. Capitals make no other name. A name that says
    "simulated" is believed.
    """
    told = slugify(name.replace("_", " "))
    slug, qualified = f"{dataset.slug}-{told}", f"{name} ({dataset.slug})"
    known = System.objects.filter(slug=slug).first()
    same = {name.casefold(), qualified.casefold()}
    is_another = known is not None and known.name.casefold() not in same
    if not told or len(slug) > LONGEST_SLUG or is_another:
        slug = _hashed_slug(dataset.slug, told, name)
        known = System.objects.filter(slug=slug).first()
    if known is not None:
        return known
    is_taken = System.objects.filter(name__iexact=name).exists()
    return System.objects.create(
        slug=slug,
        name=qualified if is_taken else name,
        kind=SystemKind.MODEL,
        family=slug,
        is_simulated="simulated" in name.lower(),
    )


def _hashed_slug(dataset: str, told: str, name: str) -> str:
    """Return a slug for a name that letters and digits do not tell from all others."""
    digest = hashlib.sha256(f"{dataset}/{name.casefold()}".encode()).hexdigest()[:8]
    parts = (dataset[:24].rstrip("-"), told[:16].rstrip("-"), digest)
    return "-".join(part for part in parts if part)


def system_of_writer(writer: Writer) -> System:
    """Return the system to which a writer's completions belong, adding it if need be.

    It is the writer's own, under the pseudonym, if the writer agreed to that while the dataset
    offered it, also when it offers it no more: nobody is split over two. Else it is that of all
    supporters together, the simulated ones apart.
    """
    if writer.has_own_system:
        return _own_system(writer)
    if writer.is_simulated:
        return _common_system(SIMULATED_HUMAN, SIMULATED_HUMAN_SYSTEM)
    return _common_system(HUMAN, HUMAN_SYSTEM)


def _common_system(slug: str, known: Mapping[str, object]) -> System:
    return System.objects.get_or_create(slug=slug, defaults=known)[0]


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


class SystemTakenError(ValueError):
    """Another system has that slug or that name already; ``field`` says which."""

    def __init__(self, field: str, *, other: str) -> None:
        super().__init__(f'The system "{other}" has it already: choose another one.')
        self.field = field


@transaction.atomic
def add_system(*, entry: SystemEntry, by: User, now: dt.datetime) -> System:
    """Register what a person says of a system; nothing that is registered changes.

    Raises
    ------
    SystemTakenError
        If its slug or its name belongs to another system.
    """
    _refuse_taken(entry)
    columns = columns_of(entry) | {"is_simulated": isinstance(entry, SimulatedEntry)}
    try:
        with transaction.atomic():
            system = System.objects.create(slug=entry.slug, **columns)
    except IntegrityError:
        _refuse_taken(entry)  # somebody else was quicker by a moment
        raise
    subject = f"system {entry.slug}"
    record(action="system.added", subject=subject, now=now, by=by, after=columns)
    return system


def _refuse_taken(entry: SystemEntry) -> None:
    for field in ("slug", "name"):
        # As the name is read on pages: two systems that differ in capitals alone look like one.
        other = System.objects.filter(**{f"{field}__iexact": getattr(entry, field)}).first()
        if other is not None:
            raise SystemTakenError(field, other=other.slug)


@transaction.atomic
def retire_system(*, system: System, is_back: bool, by: User, now: dt.datetime) -> None:
    """Have nothing new asked of a system, or let it be asked again; its completions stay.

    One that is so already stays as it is.
    """
    other = System.objects.filter(pk=system.pk, retired_at__isnull=not is_back)
    if other.update(retired_at=None if is_back else now):
        action = "system.back" if is_back else "system.retired"
        record(action=action, subject=f"system {system.slug}", now=now, by=by)


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
        If ``model`` is empty, too long, or holds spaces or an address.
    """
    known: dict[str, object] = {"name": model, "model_id": model}
    if model == OFFLINE:
        known = {
            "name": SIMULATED[task],
            "model_id": f"hosted_vllm/offline-{task}",
            "is_simulated": True,
        }
    elif not is_model_id(model):
        msg = f'"{model}" is no id of a model: 1 to {LONGEST} characters without spaces are'
        raise ModelIdError(msg)
    slug = f"simulated-{task}" if model == OFFLINE else _slug(model)
    assistant, _ = Assistant.objects.get_or_create(slug=slug, defaults=known)
    return assistant


def is_model_id(text: str) -> bool:
    """Say whether a text can name a model; an address in it would be followed by LiteLLM."""
    return len(text) <= LONGEST and text.split() == [text] and "://" not in text


def _slug(model: str) -> str:
    """Return a slug that no other id has: gpt-4.1 and gpt-41 must stay two models."""
    digest = hashlib.sha256(model.encode()).hexdigest()
    return f"{slugify(model.replace('/', '-'))[:37]}-{digest[:12]}"
