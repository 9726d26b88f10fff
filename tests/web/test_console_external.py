"""The console's page of judgments made elsewhere: what is told, and leaving a batch out."""

import pytest
from django.urls import reverse

from access.choices import Role
from access.models import LogEntry
from annotation.external_selectors import batch_of
from tests.factories_of_external import make_batch, make_external
from tests.factories_written_once import make_member

pytestmark = pytest.mark.django_db


@pytest.fixture
def batch():
    batch = make_batch(source="Lab <b>Elm</b>", is_simulated=True)
    for _ in range(2):
        make_external(batch=batch)
    return batch


def page(client, batch):
    return client.get(reverse("console:external", args=[batch.study.slug]))


def decide(client, batch, **fields):
    address = reverse("console:decide_external", args=[batch.study.slug, batch.pk])
    return client.post(address, fields, follow=True)


def state(batch):
    return vars(batch_of(batch.study, batch.pk))["is_out"]


def test_an_analyst_reads_where_a_batch_comes_from(client, batch, django_assert_max_num_queries):
    client.force_login(make_member(role=Role.ANALYST))

    with django_assert_max_num_queries(15):
        shown = page(client, batch).content.decode()

    for told in ("Lab &lt;b&gt;Elm", batch.reference, "CC-BY-4.0", "Students of one", "simulated"):
        assert told in shown
    assert "2, by 2 of the lab" in shown
    assert "Leave out" not in shown


def test_a_manager_leaves_a_batch_out_with_a_reason_and_takes_it_back(client, batch):
    client.force_login(make_member(role=Role.MANAGER))

    without = decide(client, batch, is_excluded="yes", reason=" ").content.decode()
    is_out, shown = [state(batch)], b""
    for word in ("yes", "no"):
        shown = decide(client, batch, is_excluded=word, reason="Asked by the lab.").content
        is_out.append(state(batch))

    assert "Write in a few words why" in without
    assert is_out == [False, True, False]
    assert shown.decode().count("Asked by the lab.") == 2
    acts = LogEntry.objects.order_by("pk").values_list("action", flat=True)
    assert list(acts) == ["external.excluded", "external.reinstated"]


def test_a_batch_of_another_study_is_not_there(client, batch):
    client.force_login(make_member(role=Role.MANAGER))
    other = make_batch()
    address = reverse("console:decide_external", args=[other.study.slug, batch.pk])

    assert client.post(address, {"is_excluded": "yes", "reason": "x"}).status_code == 404
