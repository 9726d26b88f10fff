"""What the admin pages of all apps are made of: tables to look at, not to change."""

from typing import TYPE_CHECKING, Any, TypeAlias

from django.contrib import admin
from django.db.models import Model
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


def clip(text: str, length: int = 80) -> str:
    """Return the beginning of ``text``, for a cell of a list."""
    return text if len(text) <= length else f"{text[: length - 3].rstrip()}..."
