"""Writes of systems; everything a caller may import is named here."""

from typing import TYPE_CHECKING

from access.later import names_of

if TYPE_CHECKING:
    from completions.systems.services.importing import (
        IntakeReport,
        Kept,
        RowsRefusedError,
        import_completions,
        try_completions,
    )
    from completions.systems.services.registering import (
        OFFLINE,
        SystemTakenError,
        add_system,
        assistant_for,
        register_simulated_system,
        retire_system,
    )
    from completions.systems.services.syncing import SyncReport, sync_systems
else:
    __getattr__ = names_of(__name__)

__all__ = [
    "OFFLINE",
    "IntakeReport",
    "Kept",
    "RowsRefusedError",
    "SyncReport",
    "SystemTakenError",
    "add_system",
    "assistant_for",
    "import_completions",
    "register_simulated_system",
    "retire_system",
    "sync_systems",
    "try_completions",
]
