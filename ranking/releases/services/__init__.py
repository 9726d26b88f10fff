"""Writes of releases; everything a caller may import is named here."""

from typing import TYPE_CHECKING

from access.later import names_of

if TYPE_CHECKING:
    from ranking.releases.services.releasing import (
        ReleaseRefusedError,
        build_release,
        claim_release,
        keep_release,
        publish_release,
        reclaim_lost_releases,
        run_release,
        unpublish_release,
    )
else:
    __getattr__ = names_of(__name__)

__all__ = [
    "ReleaseRefusedError",
    "build_release",
    "claim_release",
    "keep_release",
    "publish_release",
    "reclaim_lost_releases",
    "run_release",
    "unpublish_release",
]
