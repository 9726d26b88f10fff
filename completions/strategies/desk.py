"""Where two people label a sample and settle what differs: the same for every kind of samples."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST, require_safe

from access.roles import StaffRequest
from completions.dialogues.forms import NOTE_LENGTH, TypedTextField
from completions.strategies import spot_check_queries
from completions.strategies.services import spot_checking
from completions.strategies.services.spot_checking import SampleItem
from completions.strategies.spot_check_queries import Sample, kind_of, names_of_people

KEYS = "1234567890qwrty"
"""The keys that tick the boxes, in their order; E is for the note."""


class LabelsForm(forms.Form):
    """Which of the labels on the page are present; none is an answer, too."""

    found = forms.MultipleChoiceField(
        required=False,
        error_messages={
            "invalid_choice": gettext_lazy("That is no label of this page. Tick them again.")
        },
    )
    note = TypedTextField(required=False, max_length=NOTE_LENGTH)

    def __init__(self, data: QueryDict, *, keys: tuple[str, ...]) -> None:
        super().__init__(data)
        self.fields["found"].choices = [(key, key) for key in keys]  # type: ignore[attr-defined]

    def problem(self) -> str:
        """Return what is wrong with all but the note, in one sentence; empty if nothing is."""
        return str(self.errors["found"][0]) if "found" in self.errors else ""


REFUSALS: dict[type[Exception], Promise] = {
    spot_checking.LabellingClosedError: gettext_lazy(
        "Both people are through, so labels stay as they are. What differs can be settled."
    ),
    spot_checking.TwoLabellersError: gettext_lazy(
        "Two people label this sample already. You can settle what differs when they are through."
    ),
    spot_checking.LabellingOpenError: gettext_lazy(
        "Nothing can be settled yet: nobody sees the labels of others before both people are "
        "through."
    ),
    spot_checking.NothingToSettleError: gettext_lazy("Both people agree on this text."),
}


@dataclass(frozen=True)
class SampleDesk:
    """The pages of the samples of one dataset or study.

    ``samples`` are the newest first, each with its assistant. ``space`` begins the names of the
    addresses; ``crumbs`` is the template of the bar above the pages, which takes ``parts``.
    """

    owner: Any
    samples: QuerySet[Any]
    space: str
    crumbs: str
    parts: Mapping[str, object]

    def item(self, check: int, number: int) -> SampleItem:
        """Return an item of a sample, the first of which has the number 1.

        Raises
        ------
        Http404
            If there is none, or its text is deleted.
        """
        found = self.samples.filter(pk=check).first()
        item = found and spot_check_queries.item_at(found, number - 1)
        if item is None:
            raise Http404
        return item

    def address_of(self, page: str, check: int, position: int | None) -> str:
        """Return the address of a page of an item; empty where there is no item."""
        if position is None:
            return ""
        return reverse(f"{self.space}{page}", args=[self.owner.slug, check, position + 1])

    def overview_of(self, check: Sample, person: User) -> dict[str, object]:
        """Return what the overview shows this person of a sample: where it stands, and goes on."""
        ledger = spot_check_queries.ledger_of(check)
        scores = spot_check_queries.scores_of(check, ledger)
        people = names_of_people(ledger)
        names = {one.key: one.name for one in kind_of(check).meanings(check.codebook)}
        return {
            "check": check,
            "ledger": ledger,
            "labellers": [(people[pk], ledger.n_labelled(pk)) for pk in ledger.people],
            "may_label": ledger.may_label(person.pk),
            "to_label": self.address_of("label", check.pk, ledger.next_to_label(person.pk)),
            "to_settle": self.address_of("settle", check.pk, ledger.next_to_settle()),
            "scores": scores,
            "rows": [(names[one.strategy], one) for one in scores.labels] if scores else [],
        }

    def show_to_label(
        self, request: StaffRequest, item: SampleItem, form: LabelsForm | None = None
    ) -> HttpResponse:
        """Show one text to label, with what this person found before."""
        ledger = spot_check_queries.ledger_of(item.spot_check)
        if ledger.is_labelled:
            return self._refuse(request, spot_checking.LabellingClosedError())
        if not ledger.may_label(request.user.pk):
            return self._refuse(request, spot_checking.TwoLabellersError())
        said = ledger.people.get(request.user.pk, {}).get(item.pk)
        parts = {
            "places": list(ledger.positions.values()),
            "n_done": ledger.n_labelled(request.user.pk),
            "boxes": _boxes(item),
            "ticked": said.found if said else (),
            "note": said.note if said else "",
            "is_done": said is not None,
        }
        return self._render(request, ("label", "store"), item, form, parts)

    def store_labels(self, request: StaffRequest, item: SampleItem) -> HttpResponse:
        """Store what was found, and go on to the next text that this person has not labelled."""
        form = LabelsForm(request.POST, keys=spot_check_queries.keys_of(item.spot_check))
        if not form.is_valid():
            return self.show_to_label(request, item, form)
        try:
            spot_checking.label_item(
                item=item, labeller=request.user, now=timezone.now(), **form.cleaned_data
            )
        except (spot_checking.LabellingClosedError, spot_checking.TwoLabellersError) as error:
            return self._refuse(request, error)
        ledger = spot_check_queries.ledger_of(item.spot_check)
        following = ledger.next_to_label(request.user.pk, after=item.position)
        if following is None or ledger.is_labelled:
            messages.success(request, _("That was the last one. Thank you!"))
            return self._overview()
        return redirect(self.address_of("label", item.spot_check_id, following))

    def show_to_settle(
        self, request: StaffRequest, item: SampleItem, form: LabelsForm | None = None
    ) -> HttpResponse:
        """Show one text on which the two people differ."""
        ledger = spot_check_queries.ledger_of(item.spot_check)
        if not ledger.is_labelled:
            return self._refuse(request, spot_checking.LabellingOpenError())
        if item.pk not in ledger.differing:
            raise Http404
        one, other = (said[item.pk] for said in ledger.people.values())
        settled, boxes = ledger.settled.get(item.pk), _boxes(item)
        parts = {
            "places": [ledger.positions[pk] for pk in ledger.differing],
            "n_done": ledger.n_settled,
            "boxes": [box for box in boxes if box[0].key in ledger.open(item.pk)],
            "by_first": one.found,
            "agreed": [label.name for label, _ in boxes if label.key in ledger.agreed(item.pk)],
            "notes": (one.note, other.note),
            "ticked": settled.found if settled else (),
            "note": settled.note if settled else "",
            "is_done": settled is not None,
        }
        return self._render(request, ("settle", "store-settled"), item, form, parts)

    def store_settled(self, request: StaffRequest, item: SampleItem) -> HttpResponse:
        """Store what holds, and go on to the next text on which the two differ."""
        form = LabelsForm(request.POST, keys=spot_check_queries.keys_of(item.spot_check))
        if not form.is_valid():
            return self.show_to_settle(request, item, form)
        try:
            spot_checking.adjudicate(
                item=item, by=request.user, now=timezone.now(), **form.cleaned_data
            )
        except spot_checking.UnknownStrategyError:
            form.add_error("found", _("Both people agree on that one: it stands as it is."))
            return self.show_to_settle(request, item, form)
        except (spot_checking.LabellingOpenError, spot_checking.NothingToSettleError) as error:
            return self._refuse(request, error)
        ledger = spot_check_queries.ledger_of(item.spot_check)
        following = ledger.next_to_settle(after=item.position)
        if following is None:
            messages.success(request, _("Everything is settled. The scores are below."))
            return self._overview()
        return redirect(self.address_of("settle", item.spot_check_id, following))

    def _render(
        self,
        request: StaffRequest,
        pages: tuple[str, str],
        item: SampleItem,
        form: LabelsForm | None,
        parts: dict[str, Any],
    ) -> HttpResponse:
        """Show an item on the first of ``pages``; what is found is sent to the second."""
        (page, store), check, kind = pages, item.spot_check_id, kind_of(item.spot_check)
        before, after = _around(parts["places"], item.position)
        own = {
            "name": getattr(self.owner, "name", "") or self.owner.slug,
            "crumbs": self.crumbs,
            "number": item.position + 1,
            "dialogue": kind.dialogue(item),
            "text": kind.text(item),
            "form": form,
            "previous": self.address_of(page, check, before),
            "next": self.address_of(page, check, after),
            "store": self.address_of(store, check, item.position),
        }
        if form:
            own["ticked"] = request.POST.getlist("found")
        template = f"console/strategies/{page}.html"
        status = 422 if form else 200
        return render(request, template, {**self.parts, **parts, **own}, status=status)

    def _refuse(self, request: StaffRequest, error: Exception) -> HttpResponse:
        """Say why, on the overview, where it can be seen what is to be done instead."""
        messages.error(request, str(REFUSALS[type(error)]))
        return self._overview()

    def _overview(self) -> HttpResponse:
        return redirect(f"{self.space}overview", self.owner.slug)


def _around(places: list[int], here: int) -> tuple[int | None, int | None]:
    """Return the places before and after one, or None where there is none."""
    before, after = [at for at in places if at < here], [at for at in places if at > here]
    return before[-1] if before else None, after[0] if after else None


def _boxes(item: SampleItem) -> list[tuple[Any, str]]:
    """Return the labels to tick with their keys; whatever comes after the last key has none."""
    listed = kind_of(item.spot_check).meanings(item.spot_check.codebook)
    return [(label, KEYS[place : place + 1]) for place, label in enumerate(listed)]


def item_paths(
    start: str,
    name: str,
    page: Callable[..., Callable[..., Any]],
    desk_of: Callable[[Any], SampleDesk],
) -> list[URLPattern]:
    """Return the addresses where an item is labelled and settled, under ``start``.

    Their names begin with ``name``; ``page`` makes views that are given the dataset or study.
    """

    def shown(answer: Callable[..., HttpResponse]) -> Callable[..., Any]:
        def view(request: StaffRequest, owner: object, check: int, number: int) -> HttpResponse:
            desk = desk_of(owner)
            return answer(desk, request, desk.item(check, number))

        return page(view)

    label, store = shown(SampleDesk.show_to_label), shown(SampleDesk.store_labels)
    settle, store_settled = shown(SampleDesk.show_to_settle), shown(SampleDesk.store_settled)
    return [
        path(start, require_safe(label), name=f"{name}label"),
        path(f"{start}store/", require_POST(store), name=f"{name}store"),
        path(f"{start}settle/", require_safe(settle), name=f"{name}settle"),
        path(f"{start}settle/store/", require_POST(store_settled), name=f"{name}store-settled"),
    ]
