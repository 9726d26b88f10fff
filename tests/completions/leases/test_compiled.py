"""Statements that are compiled once do what Django does when it makes them anew."""

import datetime as dt
import uuid

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.models import F
from django.test.utils import CaptureQueriesContext

from annotation.models import Lease, PlatformSubmission, Rater
from completions.leases.compiled import Compiled, CompiledUpdate, insert
from tests.helpers.factories import HOUR, NOW, make_comparison, make_lease, make_rater, make_study

pytestmark = pytest.mark.django_db


def leases_of(*, token, number):
    rows = Lease.objects.select_related("rater__study", "comparison__second")
    rows = rows.defer("rater__study__content").annotate(twice=F("number") * 2)
    if number is not None:
        rows = rows.filter(number=number)
    return rows.filter(token=token).order_by("pk")


class TestCompiled:
    LEASES = Compiled(leases_of, token=uuid.UUID, number=int)

    def test_finds_the_row_with_all_that_it_is_joined_to(self):
        other, lease = make_lease(), make_lease()

        found = [
            self.LEASES.first(token=one.token, number=one.number) for one in (lease, other, lease)
        ]

        assert found == [lease, other, lease]
        with CaptureQueriesContext(connection) as captured:
            assert found[0].rater.study.slug == lease.comparison.study.slug
            assert found[0].comparison.second.text == lease.comparison.second.text
            assert found[0].twice == 2 * lease.number
        assert not captured
        assert (found[0].issued_at, found[0].token) == (lease.issued_at, lease.token)
        assert "content" in found[0].rater.study.get_deferred_fields()

    def test_a_value_that_is_none_makes_another_query(self):
        lease = make_lease()

        assert self.LEASES.first(token=lease.token, number=None) == lease
        assert self.LEASES.first(token=lease.token, number=lease.number + 1) is None

    def test_a_value_that_the_query_does_not_ask_for_is_a_mistake(self):
        odd = Compiled(lambda *, code: Rater.objects.order_by("pk"), code=str)

        with pytest.raises(ValueError, match="does not ask for code"):
            odd.first(code="R1")

    @pytest.mark.parametrize("word", ["MAIN", "it's 9 % \\ %s", ""])
    def test_a_constant_is_part_of_the_text_whatever_it_says(self, word):
        """A plan for any values cannot use a partial index whose condition is a value."""
        rater = make_rater(code=word)
        raters = Compiled(
            lambda *, study: Rater.objects.filter(study=study, code=word, link_version=1), study=int
        )

        with CaptureQueriesContext(connection) as captured:
            assert raters.all(study=rater.study_id) == [rater]
            assert raters.first(study=0) is None
        ((statement, _reader),) = raters.known.values()
        assert [name for name, _value in statement.parts] == ["study"]
        assert '"link_version" = 1' in captured[0]["sql"]


class TestCompiledUpdate:
    CHANGE = CompiledUpdate(
        lambda *, lease, now, word: (
            Lease.objects.filter(pk=lease),
            {"closed_at": now, "outcome": word, "number": F("number") + 1},
        ),
        lease=int,
        now=dt.datetime,
        word=str,
    )

    def test_changes_the_rows_that_it_finds_and_counts_them(self):
        other, lease = make_lease(), make_lease()

        assert self.CHANGE.change(lease=lease.pk, now=NOW + HOUR, word="SUBMITTED").make() == 1
        assert self.CHANGE.change(lease=0, now=NOW, word="EXPIRED").make() == 0

        number = lease.number
        lease.refresh_from_db()
        other.refresh_from_db()
        assert (lease.closed_at, lease.outcome) == (NOW + HOUR, "SUBMITTED")
        assert (lease.number, other.closed_at) == (number + 1, None)


class TestInsert:
    def test_stores_what_save_stores_and_sets_the_key(self):
        rater, pair = make_rater(), make_comparison()
        fields = {"comparison": pair, "rater": rater, "number": 1, "first_side": "A"}
        lease = Lease(**fields, issued_at=NOW, expires_at=NOW + HOUR, paused_ms=2**40)

        insert(lease)

        stored = Lease.objects.get(pk=lease.pk)
        assert not lease._state.adding
        for field in Lease._meta.concrete_fields:
            assert getattr(stored, field.attname) == getattr(lease, field.attname)

    def test_keeps_json_and_missing_values(self):
        ids = {"a": ["ö"]}
        times = {"opened_at": NOW, "changed_at": NOW}
        row = PlatformSubmission(rater=make_rater(), number=1, ids=ids, **times)
        rater = Rater(study=make_study(), code="R1", entered_at=NOW)

        insert(row)
        insert(rater)

        assert PlatformSubmission.objects.get(pk=row.pk).ids == ids
        stored = Rater.objects.get(pk=rater.pk)
        assert (stored.writer_id, stored.ended_at) == (None, None)

    def test_makes_a_change_along_with_the_row_or_neither(self):
        lease, change = make_lease(), TestCompiledUpdate.CHANGE
        closing = change.change(lease=lease.pk, now=NOW + HOUR, word="SUBMITTED")
        row = Rater(study=make_study(), code="R1", entered_at=NOW)
        twice = Rater(study=row.study, code="R1", entered_at=NOW)

        with CaptureQueriesContext(connection) as captured:
            insert(row, closing)

        lease.refresh_from_db()
        assert (lease.closed_at, lease.outcome) == (NOW + HOUR, "SUBMITTED")
        assert Rater.objects.get(pk=row.pk).code == "R1"
        assert len(captured) == (1 if connection.vendor == "postgresql" else 2)
        with pytest.raises(IntegrityError), transaction.atomic():
            insert(twice, change.change(lease=lease.pk, now=NOW, word="EXPIRED"))
        lease.refresh_from_db()
        assert lease.outcome == "SUBMITTED"

    def test_breaks_no_rule_of_the_table(self):
        rater = make_rater()

        with pytest.raises(IntegrityError), transaction.atomic():
            insert(Rater(study=rater.study, code=rater.code, entered_at=NOW))
