"""Rows that are written once: see ADR-0008."""

from collections.abc import Collection, Iterable
from typing import NoReturn, TypeVar

from django.db import models

Row = TypeVar("Row", bound=models.Model)


class AppendOnlyError(Exception):
    """Somebody tried to change or delete a row of an append-only table."""


def _refuse(model: type[models.Model]) -> NoReturn:
    msg = f"{model.__name__} rows are append-only: add a new row instead"
    raise AppendOnlyError(msg)


class AppendOnlyQuerySet(models.QuerySet[Row]):
    """A queryset that can add and read, and nothing else."""

    def update(self, **_fields: object) -> int:
        """Refuse."""
        _refuse(self.model)

    def delete(self) -> tuple[int, dict[str, int]]:
        """Refuse."""
        _refuse(self.model)

    def bulk_update(self, *_args: object, **_options: object) -> int:
        """Refuse."""
        _refuse(self.model)

    def bulk_create(
        self,
        objs: Iterable[Row],
        batch_size: int | None = None,
        ignore_conflicts: bool = False,  # noqa: FBT001, FBT002 (Django's signature)
        update_conflicts: bool = False,  # noqa: FBT001, FBT002 (Django's signature)
        update_fields: Collection[str] | None = None,
        unique_fields: Collection[str] | None = None,
    ) -> list[Row]:
        """Add rows; refuse to overwrite stored ones that they collide with."""
        if update_conflicts or update_fields or unique_fields:
            _refuse(self.model)
        return super().bulk_create(objs, batch_size, ignore_conflicts)


AppendOnlyManager = models.Manager.from_queryset(AppendOnlyQuerySet)


class AppendOnlyModel(models.Model):
    """A model whose rows are never edited or deleted through any interface.

    The one exception, a person's withdrawal, will use a plain ``models.QuerySet`` and say so.
    """

    objects = AppendOnlyManager()

    class Meta:
        abstract = True
        base_manager_name = "objects"  # related managers move rows through the base manager

    def save(
        self,
        *,
        force_insert: bool | tuple[models.base.ModelBase, ...] = False,
        force_update: bool = False,
        using: str | None = None,
        update_fields: Iterable[str] | None = None,
    ) -> None:
        """Insert a new row; refuse to change a stored one."""
        if not self._state.adding or force_update or update_fields is not None:
            _refuse(type(self))
        # Forced, because a new object that carries a stored row's key would overwrite that row.
        super().save(force_insert=force_insert or True, using=using)

    def delete(
        self,
        using: str | None = None,  # noqa: ARG002 (Django's signature)
        keep_parents: bool = False,  # noqa: ARG002, FBT001, FBT002 (Django's signature)
    ) -> tuple[int, dict[str, int]]:
        """Refuse."""
        _refuse(type(self))
