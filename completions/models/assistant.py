"""Language models that help to prepare contexts."""

from completions.models.endpoint import Endpoint


class Assistant(Endpoint):
    """A language model that screens candidates, rewrites seekers or rates hostility.

    It neither competes nor judges: what it makes is checked by rules and by people.
    """
