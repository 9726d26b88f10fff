"""Freeze a study under its hash."""

from collections.abc import Mapping
from typing import Any

from django.utils import timezone

from annotation.studies import services
from heart_site.management.studies.act import Act, Say, add_study, the_study


def _lock(options: Mapping[str, Any], say: Say) -> None:
    study = services.lock_study(study=the_study(options), now=timezone.now())
    say(f"{study.slug}: locked, version {study.version}, protocol {study.protocol_hash}")


LOCK = Act(
    name="lock",
    help="freeze a study under the hash of its content; after that only its state changes",
    run=_lock,
    add_arguments=add_study,
    refusals=(services.StudyStateError,),
)
