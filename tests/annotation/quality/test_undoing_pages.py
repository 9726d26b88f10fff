"""What can be undone is undone from the message that says it was done."""

import pytest
from django.test import Client
from django.urls import reverse

from annotation.choices import StudyState
from annotation.external.queries import batch_of
from annotation.models import Exclusion
from tests.helpers.factories import (
    NOW,
    make_comparison,
    make_judgment,
    make_quality_check,
    make_rater,
    make_study,
    make_system,
)
from tests.helpers.factories_of_site import make_batch, make_hook
from tests.helpers.factories_written_once import make_fit, make_member
from tests.helpers.visits import read_forms

pytestmark = pytest.mark.django_db


def make_open():
    study = make_study(state=StudyState.OPEN, locked_at=NOW)
    return reverse("console:pause", args=[study.slug]), {}, lambda: type(study).objects.get().state


def make_judging():
    rater = make_rater()
    make_judgment(rater=rater, comparison=make_comparison(study=rater.study))
    address = reverse("raters:exclude", args=[rater.study.slug, rater.code])
    newest = Exclusion.objects.order_by("-pk")
    return address, {"reason": "Too fast."}, lambda: newest.values_list("is_excluded").first()


def make_outside():
    batch = make_batch()
    address = reverse("console:decide_external", args=[batch.study.slug, batch.pk])
    fields = {"reason": "Odd.", "is_excluded": "yes"}
    return address, fields, lambda: vars(batch_of(batch.study, batch.pk))["is_out"]


def make_check():
    check = make_quality_check()
    address = reverse("console:switch_check", args=[check.comparison.study.slug, check.pk])

    def state():
        check.refresh_from_db()
        return check.is_active

    return address, {"reason": "Odd.", "is_active": "no"}, state


def make_model():
    system = make_system(kind="MODEL", model_id="openai/x")

    def state():
        system.refresh_from_db()
        return system.retired_at is None

    return reverse("models:retire", args=[system.slug]), {}, state


def make_fitted():
    fit = make_fit(ended_at=NOW, state="DONE")
    address = reverse("raters:publish_fit", args=[fit.study.slug, fit.key])
    return address, {}, lambda: type(fit).objects.get().published_at is None


def make_told():
    hook = make_hook()

    def state():
        hook.refresh_from_db()
        return hook.is_active

    return reverse("hooks:pause", args=[hook.pk]), {}, state


@pytest.mark.parametrize(
    "made", [make_open, make_judging, make_outside, make_check, make_model, make_fitted, make_told]
)
def test_an_act_is_undone_by_the_button_beside_what_it_said(made):
    client = Client(enforce_csrf_checks=False)
    client.force_login(make_member())
    address, fields, state = made()
    before = state()

    answer = client.post(address, fields, follow=True)

    after = state()
    assert after != before
    assert "Undo" in answer.content.decode()
    undo = next(
        form
        for form in read_forms(answer)
        if "reason" in form.fields and form.fields["reason"] == "Undone."
    )
    answer = client.post(undo.action, undo.fields, follow=True)
    assert answer.status_code == 200
    assert state() in (before, (False,))


def test_what_cannot_be_undone_offers_no_button(client):
    client.force_login(make_member())
    study = make_study(state=StudyState.PAUSED, locked_at=NOW)

    answer = client.post(reverse("console:close", args=[study.slug]), follow=True)

    assert "Every judgment is kept." in answer.content.decode()
    assert "Undo" not in answer.content.decode()
