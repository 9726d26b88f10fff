"""Django's admin: every table is there, reads cheaply, and changes nothing behind the services."""

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import User
from django.core import checks
from django.db.models import QuerySet
from django.urls import reverse

from access.choices import Role
from access.console.admin_parts import clip
from access.models import LogEntry
from annotation.models import Comparison, JudgeCall, Judgment, Lease
from completions.choices import WriterState
from completions.models import (
    Completion,
    Dataset,
    HumanLabelling,
    MessageRevision,
    StrategyCall,
    StrategyLabel,
    Writer,
)
from completions.writers.credentials import invitation_link
from tests.conftest import rolled_back
from tests.helpers import factories
from tests.helpers.factories_of_calls import (
    KEYS,
    label,
    make_labelled_by_two,
    make_sampled,
    make_themed_by_two,
)
from tests.helpers.factories_of_people import make_revision
from tests.helpers.factories_written_once import make_imported_completion, make_member
from tests.helpers.judged import delete_text
from tests.helpers.rows import BUILDERS

pytestmark = pytest.mark.django_db

MODELS = [
    model
    for app in ("completions", "annotation")
    for model in apps.get_app_config(app).get_models()
]
OPEN_TO_CHANGE = {Dataset}
OPEN_TO_ADDING = {Writer}


def address(model, page, *args):
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}", args=args)


def found_by(rf, model, words):
    """Return the rows that the search of a table finds, without a page around them."""
    of_table = admin.site.get_model_admin(model)
    rows, asked = model._default_manager.all(), rf.get("/", {"q": words})
    return of_table.get_search_results(asked, rows, words)[0]


def make_rows():
    """Add a row to every table, with all that it hangs on."""
    for model in MODELS:
        BUILDERS[model.__name__]()
    factories.make_llm_judgment()
    factories.make_completion(writer=factories.make_writer())
    make_imported_completion()
    make_labelled_by_two()
    make_themed_by_two()


def test_the_admin_finds_no_fault_with_its_tables():
    assert reverse("admin:index")

    assert checks.run_checks(tags=["admin"]) == []


@pytest.fixture
def owner(client):
    """The client of an owner who is no superuser."""
    client.force_login(make_member(role=Role.OWNER))
    return client


def test_accounts_are_changed_on_the_sites_own_pages_alone_which_log_it(client):
    client.force_login(User.objects.create_superuser("root"))

    index = client.get(reverse("admin:index")).content.decode()
    answer = client.get(reverse("admin:password_change"))

    assert "/admin/auth/" not in index
    assert client.get("/admin/auth/user/add/").status_code == 404
    assert answer["Location"] == reverse("account_change_password")


def test_an_owner_sees_the_tables_of_the_other_apps(owner, subtests):
    assert reverse("admin:index")

    for model in admin.site._registry:
        if model._meta.app_label in {"access", "ranking"}:
            with subtests.test(model=model._meta.label):
                assert owner.get(address(model, "changelist")).status_code == 200


@pytest.fixture(scope="class")
def rows(module_rows):
    with rolled_back():
        make_rows()
        yield


@pytest.fixture
def tables_alone(monkeypatch):
    """Leave out the list of all tables beside each page, which is most of what a page costs."""
    monkeypatch.setattr(admin.site, "get_app_list", lambda *_: [])


@pytest.mark.usefixtures("rows", "tables_alone")
class TestEveryTable:
    def test_neither_shows_nor_finds_what_would_confirm_a_guess_at_a_deleted_text(
        self, owner, rf, subtests
    ):
        pair = factories.make_llm_judgment().comparison
        revision = make_revision()
        delete_text(pair.first_id)
        QuerySet(MessageRevision).update(text="", erased_at=factories.NOW)
        hashes = (pair.key, pair.first.content_hash, revision.content_hash)

        for model in MODELS:
            newest = model._default_manager.order_by("-pk")[:3]  # the two of it, and one of another
            pages = [address(model, "change", row.pk) for row in newest]
            with subtests.test(model=model._meta.model_name):
                for page in (address(model, "changelist"), *pages):
                    shown = owner.get(page).content.decode()
                    assert [one for one in hashes if one in shown] == []
                for one in hashes:
                    assert [*found_by(rf, model, one)] == []

    @pytest.mark.parametrize("model", [Comparison, Judgment, JudgeCall])
    def test_finds_a_comparison_by_its_public_key(self, model, owner):
        pair = factories.make_llm_judgment().comparison
        asked = {"q": pair.key}
        n_found = [owner.get(address(model, "changelist"), asked).context["cl"].result_count]
        delete_text(pair.first_id)
        for key in (pair.key, f"deleted-{pair.pk}"):
            page = owner.get(address(model, "changelist"), {"q": key})
            n_found.append(page.context["cl"].result_count)

        assert n_found == [1, 0, 1]

    def test_is_registered(self):
        assert reverse("admin:index")  # tables are found when addresses are read
        assert [model for model in MODELS if not admin.site.is_registered(model)] == []

    def test_lists_more_rows_to_an_owner_with_no_more_queries(
        self, owner, subtests, django_assert_max_num_queries
    ):
        def ask(model):
            # Session, user, count, rows, and one for each related filter at most.
            with django_assert_max_num_queries(12) as asked:
                page = owner.get(address(model, "changelist"))
            return page.context["cl"].result_count, len(asked)

        few = {model: ask(model) for model in MODELS}
        make_rows()

        for model, (n_few, cost) in few.items():
            with subtests.test(model=model._meta.model_name):
                n_more, cost_of_more = ask(model)
                assert n_few < n_more
                assert cost == cost_of_more

    def test_can_be_searched(self, admin_client, rf, subtests):
        assert admin_client.get(address(Writer, "changelist"), {"q": "W"}).status_code == 200
        for model in MODELS:
            with subtests.test(model=model._meta.model_name):
                assert len(found_by(rf, model, "W")) <= model._default_manager.count()

    def test_shows_a_row(self, admin_client, subtests, django_assert_max_num_queries):
        for model in MODELS:
            row = model._default_manager.latest("pk")
            with subtests.test(model=model._meta.model_name), django_assert_max_num_queries(15):
                assert admin_client.get(address(model, "change", row.pk)).status_code == 200

    def test_is_closed_to_changes_behind_the_services(self, admin_client, subtests):
        for model in MODELS:
            row = model._default_manager.latest("pk")
            with subtests.test(model=model._meta.model_name):
                adding = admin_client.get(address(model, "add")).status_code
                changing = admin_client.post(address(model, "change", row.pk), {}).status_code
                deleting = admin_client.post(address(model, "delete", row.pk), {"post": "yes"})

                assert adding == (200 if model in OPEN_TO_ADDING else 403)
                assert changing == (200 if model in OPEN_TO_CHANGE else 403)
                assert deleting.status_code == 403
                assert model._default_manager.filter(pk=row.pk).exists()


class TestInviting:
    def test_adds_a_writer_by_the_service_and_asks_for_no_more_than_it_needs(
        self, admin_client, admin_user
    ):
        dataset, _frozen = factories.make_dataset(), factories.make_dataset(frozen_at=factories.NOW)
        page = admin_client.get(address(Writer, "add"))

        answer = admin_client.post(
            address(Writer, "add"), {"dataset": dataset.pk, "email": "Kim@Example.org"}, follow=True
        )

        writer = Writer.objects.get()
        fields = page.context["adminform"].form.fields
        assert [*fields] == ["dataset", "email"]
        assert [*fields["dataset"].queryset] == [dataset]
        assert answer.status_code == 200
        assert (writer.state, writer.dataset) == (WriterState.INVITED, dataset)
        assert LogEntry.objects.get(action="writer.invited").by == admin_user

    def test_shows_the_personal_link(self, admin_client):
        writer = factories.make_writer()

        page = admin_client.get(address(Writer, "change", writer.pk))

        assert invitation_link(writer) in page.content.decode()


class TestDatasets:
    def test_can_be_described_anew_and_the_log_says_who_did(self, admin_client, admin_user):
        dataset = factories.make_dataset(name="Old name")

        admin_client.post(
            address(Dataset, "change", dataset.pk), {"name": "New name", "licence": ""}
        )

        dataset.refresh_from_db()
        assert dataset.name == "New name"
        entry = LogEntry.objects.get(action="dataset.described")
        assert (entry.by, entry.subject) == (admin_user, f"dataset {dataset.slug}")
        assert (entry.before, entry.after) == ({"name": "Old name"}, {"name": "New name"})


@pytest.mark.parametrize(
    ("text", "clipped"),
    [("", ""), ("short", "short"), ("a" * 80, "a" * 80), ("a" * 81, "a" * 77 + "...")],
    ids=len,
)
def test_a_cell_shows_the_beginning_of_a_text(text, clipped):
    assert clip(text) == clipped


class TestStrategies:
    def test_are_hidden_while_people_label_them(self, admin_client, admin_user):
        check = make_sampled(1)
        label(check, admin_user, [KEYS[0]])

        for model in (StrategyCall, StrategyLabel, HumanLabelling):
            row = model._default_manager.get()
            page = admin_client.get(address(model, "changelist"))
            assert page.context["cl"].result_count == 0
            assert admin_client.get(address(model, "change", row.pk)).status_code == 302

    def test_are_shown_when_both_are_through(self, admin_client):
        make_labelled_by_two()

        for model, n in ((StrategyCall, 1), (StrategyLabel, 1), (HumanLabelling, 2)):
            page = admin_client.get(address(model, "changelist"))
            assert page.context["cl"].result_count == n


def test_a_list_shows_the_beginning_of_a_text_and_what_a_row_belongs_to(admin_client):
    lease = factories.make_judgment().lease
    factories.make_completion(text="a" * 81)

    texts = admin_client.get(address(Completion, "changelist")).content.decode()
    leases = admin_client.get(address(Lease, "changelist")).content.decode()

    assert f'class="field-text">{"a" * 77}...<' in texts
    assert f'class="field-comparison">{lease.comparison.key}<' in leases
