"""Who asks for a dataset's page of the console, and what a reviewer of contexts posts."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from django import forms
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.translation import gettext_lazy as _

from access.choices import Role
from access.roles import Needs, StaffRequest, members_only
from completions.choices import Review
from completions.dialogues import queries
from completions.dialogues.forms import NOTE_LENGTH, TypedTextField
from completions.models import Dataset

P = ParamSpec("P")
Found = TypeVar("Found")


def _dataset_page(
    view: Callable[Concatenate[StaffRequest, Dataset, P], HttpResponse], needs: Needs
) -> Callable[..., HttpResponseBase]:
    @wraps(view)
    def wrapper(
        request: StaffRequest, /, dataset: str, *args: P.args, **kwargs: P.kwargs
    ) -> HttpResponse:
        found = queries.dataset_by_slug(dataset)
        if found is None:
            raise Http404
        return view(request, found, *args, **kwargs)

    return members_only(needs)(wrapper)


def staff_page(
    view: Callable[Concatenate[StaffRequest, Dataset, P], HttpResponse],
) -> Callable[..., HttpResponseBase]:
    """Let members in, find the dataset of the address, and answer what does not exist with 404."""
    return _dataset_page(view, Needs())


def owners_act(
    view: Callable[Concatenate[StaffRequest, Dataset, P], HttpResponse],
) -> Callable[..., HttpResponseBase]:
    """Do the same where acting is for owners, since it is about a person's data."""
    return _dataset_page(view, Needs(acts=Role.OWNER))


def or_404(found: Found | None) -> Found:
    """Return what was found, or answer that it does not exist."""
    if found is None:
        raise Http404
    return found


class ManyReviewed(forms.Form):
    """What is decided about several contexts at once; taking a decision back is one, too."""

    decision = forms.TypedChoiceField(choices=Review.choices, coerce=Review)


class ReviewForm(forms.Form):
    """What a reviewer decided about a context; without a decision, the note alone."""

    decision = forms.TypedChoiceField(
        choices=[("", _("Note only")), *Review.choices],
        coerce=Review,
        empty_value=None,
        required=False,
    )
    note = TypedTextField(required=False, max_length=NOTE_LENGTH)
