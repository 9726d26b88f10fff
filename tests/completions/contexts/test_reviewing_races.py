"""Reviewers who decide at the same moment, in real threads."""

from functools import partial

import pytest

from access.models import LogEntry
from completions.choices import Review
from completions.contexts.services import building
from completions.models import Context
from tests.helpers.factories import NOW, make_context
from tests.helpers.threads import together

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("shared_database"),
]


def decide(context, decision):
    return partial(
        building.review_context, context=context, decision=decision, note="", by=None, now=NOW
    )


class TestReviewers:
    def test_who_agree_are_logged_once(self, crowd):
        for _ in range(crowd.rounds):
            context = make_context()

            together([decide(context, Review.KEPT)] * 3)

            assert LogEntry.objects.filter(subject=f"context {context.key}").count() == 1

    def test_who_differ_leave_a_log_without_gaps(self, crowd):
        for _ in range(crowd.rounds):
            context = make_context()

            together([decide(context, Review.KEPT), decide(context, Review.DROPPED)])

            entries = LogEntry.objects.filter(subject=f"context {context.key}").order_by("pk")
            first, second = entries
            assert first.before["review"] == Review.PENDING
            assert first.after == second.before
            assert second.after["review"] == Context.objects.get(pk=context.pk).review
