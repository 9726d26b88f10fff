"""What can be undone is undone from the message that says it was done."""

import pytest
from django.urls import reverse

from annotation.choices import StudyState
from annotation.external.queries import batch_of
from annotation.quality.services.excluding import newest_decision
from tests.helpers.factories import (
    NOW,
    make_comparison,
    make_judgment,
    make_quality_check,
    make_study,
    make_system,
)
from tests.helpers.factories_of_site import make_batch, make_hook
from tests.helpers.factories_written_once import make_fit
from tests.helpers.visits import read_forms

pytestmark = pytest.mark.django_db


def stored(row, field):
    """Return what reads the field of the row as it is stored now."""
    return lambda: type(row).objects.values_list(field, flat=True).get(pk=row.pk)


def pause():
    study = make_study()
    return reverse("console:pause", args=[study.slug]), {}, stored(study, "state")


def exclude_rater():
    rater = make_judgment(comparison=make_comparison()).rater
    address = reverse("raters:exclude", args=[rater.study.slug, rater.code])

    def is_excluded():
        decision = newest_decision(rater)
        return decision is not None and decision.is_excluded

    return address, {"reason": "Too fast."}, is_excluded


def exclude_batch():
    batch = make_batch()
    address = reverse("console:decide_external", args=[batch.study.slug, batch.pk])
    fields = {"reason": "Odd.", "is_excluded": "yes"}
    return address, fields, lambda: vars(batch_of(batch.study, batch.pk))["is_out"]


def switch_check():
    check = make_quality_check()
    address = reverse("console:switch_check", args=[check.comparison.study.slug, check.pk])
    return address, {"reason": "Odd.", "is_active": "no"}, stored(check, "is_active")


def retire_model():
    system = make_system()
    return reverse("models:retire", args=[system.slug]), {}, stored(system, "retired_at")


def publish_fit():
    fit = make_fit(ended_at=NOW, state="DONE")
    address = reverse("raters:publish_fit", args=[fit.study.slug, fit.key])
    return address, {}, stored(fit, "published_at")


def pause_hook():
    hook = make_hook()
    return reverse("hooks:pause", args=[hook.pk]), {}, stored(hook, "is_active")


ACTS = (pause, exclude_rater, exclude_batch, switch_check, retire_model, publish_fit, pause_hook)


@pytest.mark.parametrize("act", ACTS)
def test_an_act_is_undone_by_the_button_beside_what_it_said(staff, act):
    address, fields, state = act()
    before = state()

    done = staff.post(address, fields, follow=True)

    assert state() != before
    assert "Undo" in done.content.decode()
    (undo,) = (form for form in read_forms(done) if form.fields.get("reason") == "Undone.")
    assert staff.post(undo.action, undo.fields, follow=True).status_code == 200
    assert state() == before


def test_what_cannot_be_undone_offers_no_button(staff):
    study = make_study(state=StudyState.PAUSED)

    answer = staff.post(reverse("console:close", args=[study.slug]), follow=True)

    assert "Every judgment is kept." in answer.content.decode()
    assert "Undo" not in answer.content.decode()
