"""What the address of a page of the log asks for."""

from dataclasses import dataclass
from urllib.parse import urlencode

from django import forms
from django.utils.translation import gettext_lazy as _

from ranking.log.queries import ORDERS, LogFilter

SORTS = [*ORDERS, *(f"-{name}" for name in ORDERS)]
HEADS = {"at": _("When (UTC)"), "by": _("Who"), "action": _("What"), "subject": _("On what")}


@dataclass(frozen=True)
class Head:
    """The head of a column: where it leads, and how the table is sorted by it now."""

    label: object
    query: str
    direction: str


class LogQuestion(forms.Form):
    """Which entries of the log, and in which order."""

    action = forms.CharField(required=False, max_length=60)
    by = forms.CharField(required=False, max_length=150)
    subject = forms.CharField(required=False, max_length=120)
    since = forms.DateField(required=False, error_messages={"invalid": _("A date is 2026-01-31.")})
    until = forms.DateField(required=False, error_messages={"invalid": _("A date is 2026-01-31.")})
    sort = forms.ChoiceField(required=False, choices=[(name, name) for name in SORTS])

    def asked(self) -> LogFilter:
        """Return what a valid form asks for."""
        given = {name: value for name, value in self.cleaned_data.items() if value}
        return LogFilter(**given)

    @property
    def query(self) -> str:
        """The address' query that means these entries, without its question mark."""
        return self._query()

    @property
    def heads(self) -> list[Head]:
        """Return the heads of the table."""
        now = self.data.get("sort") or "-at"
        return [
            Head(
                label,
                self._query(sort=f"-{name}" if now == name else name),
                {name: "ascending", f"-{name}": "descending"}.get(now, ""),
            )
            for name, label in HEADS.items()
        ]

    def _query(self, **changed: str) -> str:
        given = {name: str(self.data.get(name, "")) for name in self.fields} | changed
        return urlencode({name: value for name, value in given.items() if value})
