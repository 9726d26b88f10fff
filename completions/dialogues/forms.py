"""Fields for typed texts, and files that admins send: taken, checked and carried by their page."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from django import forms
from django.core import signing
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from completions.dialogues.normaliser import typed

NOTE_LENGTH = 2_000


class TypedTextField(forms.CharField):
    """A text as it was typed, but with plain line ends and without what nobody can see."""

    widget = forms.Textarea({"rows": 4, "dir": "auto"})

    def to_python(self, value: object) -> str:
        """Return the text that the rules are about."""
        return super().to_python(typed(value) if isinstance(value, str) else value) or ""


ANY_FAULT = (
    *("required", "invalid", "invalid_choice"),
    *("min_value", "max_value", "max_digits", "max_whole_digits"),
)


def for_any_fault(said: Promise) -> dict[str, Any]:
    """Return the messages of a field that says the same whatever is wrong with what was given."""
    return dict.fromkeys(ANY_FAULT, said)


MOST_BYTES = 1_500_000
MOST_ROWS = 5_000
MOST_SEALED = 2_200_000  # below what Django takes in a form, which has other fields, too
DAY_S = 24 * 60 * 60
UNDECIDED = "surrogateescape"
"""How bytes that are no text are kept until the file is read."""


class TooLargeError(ValueError):
    """A file is too large to be carried by a page."""


class SealBrokenError(ValueError):
    """What was posted was not sealed here, for this admin and dataset, within a day."""


class ToldForm(forms.Form):
    """A form whose page tells what is wrong with it in one place."""

    def problems(self) -> list[str]:
        """Return what is wrong, a sentence for each control."""
        return [str(message) for messages in self.errors.values() for message in messages]


class PageForm(forms.Form):
    """A form whose page leads from each message to the control that it is about."""

    def problems(self) -> Iterator[tuple[str, str]]:
        """Yield each message with the id of the control that it is about."""
        for name, messages in self.errors.items():
            field = self[name]
            is_choice = isinstance(field.field.widget, forms.RadioSelect)
            for message in messages:
                yield f"{field.auto_id}_0" if is_choice else str(field.auto_id), str(message)


class FileUpload(ToldForm):
    """A file that a page can carry."""

    file_name = ""
    """As it was sent; known once the form was checked."""
    file = forms.FileField(
        label=_("File"),
        error_messages={
            "required": _("Choose a file: a table, or JSON."),
            "empty": _("The file is empty. Choose another one."),
        },
    )

    def clean_file(self) -> str:
        """Return the text of the file, if it fits a page.

        What is not UTF-8 in it is for its reader to tell.
        """
        file = self.cleaned_data["file"]
        self.file_name = file.name
        if file.size > MOST_BYTES:
            raise forms.ValidationError(self.too_large())
        return str(file.read().decode("utf-8", UNDECIDED))

    @staticmethod
    def too_large() -> str:
        """Say what to do with a large file."""
        return str(_("The file is too large for this page. Split it."))


class Upload(FileUpload):
    """A file, and whether people read its messages already."""

    are_accepted = forms.BooleanField(
        required=False, label=_("People read and accepted these messages elsewhere")
    )


class CompletionUpload(FileUpload):
    """A file of completions of models."""

    @staticmethod
    def too_large() -> str:
        """Say what to do with a large file."""
        return str(_("The file is too large for this page. Split it, or send it by the API."))


@dataclass(frozen=True)
class Checked:
    """A file that was checked, what the admin said of it, and the digest of what was shown."""

    text: str
    given: Mapping[str, Any] = field(default_factory=dict)
    digest: str = ""

    @property
    def content(self) -> bytes:
        """The file as it was sent."""
        return self.text.encode("utf-8", UNDECIDED)

    def seal(self, holder: str) -> str:
        """Return all of it, signed and compressed, for a hidden field of ``holder``'s page.

        The page carries the file, so that nothing is left on the server if nobody confirms.

        Raises
        ------
        TooLargeError
            If a form cannot carry it.
        """
        sealed = signing.dumps(asdict(self), salt=f"writing import {holder}", compress=True)
        if len(sealed) > MOST_SEALED:
            raise TooLargeError
        return sealed

    @classmethod
    def unseal(cls, sealed: str, holder: str) -> "Checked":
        """Return what was sealed.

        Raises
        ------
        SealBrokenError
            If it was sealed for another page, more than a day ago, or not at all.
        """
        try:
            return cls(**signing.loads(sealed, salt=f"writing import {holder}", max_age=DAY_S))
        except signing.BadSignature as error:
            raise SealBrokenError from error
