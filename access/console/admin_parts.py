"""What the admin pages of all apps are made of: tables to look at, not to change."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from django.contrib import admin
from django.contrib.admin.utils import get_fields_from_path
from django.core.exceptions import FieldDoesNotExist
from django.db.models import Model, TextField
from django.http import HttpRequest

# Django's admin classes take no type arguments at run time.
if TYPE_CHECKING:
    AnyAdmin: TypeAlias = admin.ModelAdmin[Any]
    AnyInline: TypeAlias = admin.TabularInline[Any, Any]
else:
    AnyAdmin = admin.ModelAdmin
    AnyInline = admin.TabularInline


class ReadOnlyAdmin(AnyAdmin):
    """Rows that only services write: to be listed, searched and read."""

    list_per_page = 50
    show_full_result_count = False

    def has_module_permission(self, _request: HttpRequest) -> bool:
        """Let everybody look whom the site let in."""
        return True

    def has_view_permission(self, _request: HttpRequest, _row: Model | None = None) -> bool:
        """Let everybody look whom the site let in."""
        return True

    def has_add_permission(self, _request: HttpRequest) -> bool:
        """Refuse."""
        return False

    def has_change_permission(self, _request: HttpRequest, _row: Model | None = None) -> bool:
        """Refuse."""
        return False

    def has_delete_permission(self, _request: HttpRequest, _row: Model | None = None) -> bool:
        """Refuse."""
        return False


class Part(AnyInline):
    """Rows that belong to another, shown on its page."""

    extra = 0
    can_delete = False

    def has_view_permission(self, _request: HttpRequest, _row: Model | None = None) -> bool:
        """Let everybody look whom the site let in."""
        return True

    def has_add_permission(self, _request: HttpRequest, _row: Model | None = None) -> bool:
        """Refuse."""
        return False

    def has_change_permission(self, _request: HttpRequest, _row: Model | None = None) -> bool:
        """Refuse."""
        return False


def show(
    model: type[Model],
    columns: str,
    *cells: Callable[[Any], object],
    base: type[ReadOnlyAdmin] = ReadOnlyAdmin,
    filters: Sequence[Any] | str = (),
    search: str = "",
    order: str = "-pk",
    **options: object,
) -> None:
    """Show a model's rows in the admin; names of fields and lookups are parted by spaces.

    Parameters
    ----------
    model : type of Model
        Whose rows are listed, the newest first unless ``order`` says otherwise.
    columns : str
        Of the list. Of a text its beginning is shown.
    *cells : callable
        Further columns, made of a row.
    base : type of ReadOnlyAdmin, optional
        What else the pages do.
    filters, search, order : str, optional
        Of ``list_filter`` (or the sequence itself), ``search_fields`` and ``ordering``.
    **options
        Further attributes of Django's ``ModelAdmin``.
    """
    names = columns.split()
    attributes = {
        "list_display": [*(_column(model, one) for one in names), *cells],
        "list_select_related": [one for name in names if (one := _related(model, name))],
        "list_filter": filters.split() if isinstance(filters, str) else filters,
        "search_fields": search.split(),
        "ordering": order.split(),
        **options,
    }
    admin.site.register(model, type(f"{model.__name__}Admin", (base,), attributes))


def part(model: type[Model], fields: str, *, order: str = "pk") -> type[Part]:
    """Return a table of rows that belong to another, for the ``inlines`` of `show`."""
    attributes = {"model": model, "fields": fields.split(), "ordering": order.split()}
    return type(f"{model.__name__}Part", (Part,), attributes)


def _column(model: type[Model], column: str) -> str | Callable[[Model], str]:
    """Return a column, of a text its beginning; a lookup is called by its way."""
    fields = model._meta.fields  # noqa: SLF001 (documented API)
    texts = [one.name for one in fields if type(one) is TextField]
    if "__" not in column and column not in texts:
        return column
    name = column.rpartition("__")[0] or column

    order = column if _is_stored(model, column) else None

    @admin.display(description=name.replace("__", " ").replace("_", " "), ordering=order)
    def cell(row: Model) -> str:
        value: object = row
        for step in column.split("__"):
            value = getattr(value, step, "")  # no row there: nothing to show
        return clip(str(value))

    cell.__name__ = name  # Django styles a column by it
    return cell


def _related(model: type[Model], column: str) -> str:
    """Return the way to the row that a column is read from, or nothing if it is the row itself."""
    if "__" in column:
        return column.rpartition("__")[0]
    fields = model._meta.fields  # noqa: SLF001 (documented API)
    return column if any(one.name == column and one.is_relation for one in fields) else ""


def _is_stored(model: type[Model], column: str) -> bool:
    """Say whether a lookup ends at a field of a table, so that rows can be ordered by it."""
    try:
        get_fields_from_path(model, column)
    except FieldDoesNotExist:
        return False
    return True


def clip(text: str, length: int = 80) -> str:
    """Return the beginning of ``text``, for a cell of a list."""
    return text if len(text) <= length else f"{text[: length - 3].rstrip()}..."
