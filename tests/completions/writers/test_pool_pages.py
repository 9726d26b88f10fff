"""The console's page on a pool: who is in it, inviting people, and how it works."""

import pytest
from django.urls import reverse

from access.models import LogEntry
from annotation.raters.services.withdrawing import withdraw_writer
from completions.choices import LeaseOutcome, MessageState, Review, WriterState
from completions.models import Dataset, Writer, WriterMail
from completions.writers import emails as writer_emails
from tests.completions.writers.desk import SENT, shown
from tests.helpers.factories import (
    HOUR,
    NOW,
    make_context,
    make_dataset,
    make_writer,
    make_writing_lease,
)
from tests.helpers.factories_of_people import (
    make_accepted,
    make_message,
    make_revision,
    make_vetting,
)
from tests.helpers.pages import own_addresses

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("dataset")]

DAY = 24 * HOUR
SETTINGS = {"completions_per_context": "3", "most_adversarial": "25"}
SKIPPED = {"closed_at": NOW, "outcome": LeaseOutcome.SKIPPED}
GIVEN_BACK = {"closed_at": NOW, "outcome": LeaseOutcome.RELEASED}  # by leaving; it never comes back
DATASETS = reverse("writing:datasets")


def url(name, *args):
    return reverse(f"writing:{name}", args=["talks", *args])


def codes(page):
    return [row.code for row in page.context["rows"]]


def row(page, code="Wada"):
    (found,) = (row for row in page.context["rows"] if row.code == code)
    return found


class TestPeople:
    def test_are_listed_with_state_and_counts_and_without_address_or_text(self, staff, dataset):
        ada = make_writer(dataset=dataset, code="Wada", background="PEER", email="ada@example.org")
        make_accepted("Nobody may see this.", lease=make_writing_lease(writer=ada, **SENT))
        for state in (MessageState.RETURNED, MessageState.WAITING, MessageState.TRIAL):
            make_message(lease=make_writing_lease(writer=ada, **SENT), state=state)

        page = staff.get(url("pool"))

        found = row(page)
        assert (found.state, found.get_background_display()) == ("ACTIVE", "Peer supporter")
        counts = (found.n_sent, found.n_accepted, found.n_returned, found.n_waiting, found.n_trial)
        assert counts == (3, 1, 1, 1, 1)
        assert "ada@example.org" not in shown(page)
        assert "Nobody may see" not in shown(page)

    def test_were_last_active_when_they_took_a_dialogue_or_sent_a_message(self, staff, dataset):
        ada, kim, nobody = (
            make_writer(dataset=dataset, code=f"W{n}") for n in ("ada", "kim", "no")
        )
        lease = make_writing_lease(writer=ada, **SENT)
        make_revision(message=make_message(lease=lease), written_at=NOW + DAY)
        make_writing_lease(writer=kim, issued_at=NOW, expires_at=NOW + HOUR)

        page = staff.get(url("pool"))

        assert row(page, "Wada").last_active == (NOW + DAY).date()
        assert row(page, "Wkim").last_active == NOW.date()
        assert row(page, nobody.code).last_active is None

    def test_are_filtered_by_state_and_code(self, staff, dataset):
        make_writer(dataset=dataset, code="Wada")
        make_writer(dataset=dataset, code="Wkim", state=WriterState.PAUSED)

        assert codes(staff.get(url("pool"), {"state": "PAUSED"})) == ["Wkim"]
        assert codes(staff.get(url("pool"), {"q": "ADA"})) == ["Wada"]
        assert "No writer matches" in shown(staff.get(url("pool"), {"q": "nobody"}))

    @pytest.mark.parametrize(("sort", "order"), [("sent", ["Wb", "Wa"]), ("-sent", ["Wa", "Wb"])])
    def test_are_sorted_as_the_heads_of_the_table_say(self, staff, dataset, sort, order):
        first, _second = (make_writer(dataset=dataset, code=code) for code in ("Wa", "Wb"))
        make_message(lease=make_writing_lease(writer=first, **SENT))

        assert codes(staff.get(url("pool"), {"sort": sort})) == order

    @pytest.mark.parametrize("query", [{"state": "KING"}, {"sort": "email"}])
    def test_are_not_there_by_an_order_or_state_that_does_not_exist(self, staff, query):
        assert staff.get(url("pool"), query).status_code == 404

    def test_whose_texts_were_deleted_have_none_in_use(self, staff, dataset):
        ada = make_writer(dataset=dataset, code="Wada")
        make_accepted(lease=make_writing_lease(writer=ada, **SENT))

        withdraw_writer(writer=ada, keep_texts=False, now=NOW)

        found = row(staff.get(url("pool")))
        assert (found.n_sent, found.n_accepted) == (1, 0)

    def test_of_another_dataset_are_not_here(self, staff):
        make_writer(dataset=make_dataset())

        assert "Nobody writes for this dataset yet" in shown(staff.get(url("pool")))

    @pytest.mark.parametrize(
        ("second", "is_to_decide"),
        [(SENT, True), (SKIPPED, True), (GIVEN_BACK, True), ({}, False), (None, False)],
    )
    def test_who_are_through_the_trial_are_marked(self, staff, dataset, second, is_to_decide):
        vetting = make_vetting(2)
        Dataset.objects.filter(pk=dataset.pk).update(vetting=vetting)
        dialogues = list(vetting.contexts.order_by("pk"))
        ada = make_writer(dataset=dataset, code="Wada", state=WriterState.VETTING)
        make_message(
            lease=make_writing_lease(writer=ada, context=dialogues[0], is_trial=True, **SENT),
            state=MessageState.TRIAL,
        )
        if second is not None:
            make_writing_lease(writer=ada, context=dialogues[1], is_trial=True, **second)

        page = staff.get(url("pool"))

        assert row(page).is_to_decide is is_to_decide
        assert ("waits to hear from you" in shown(page)) is is_to_decide


class TestInviting:
    def invite(self, staff, emails, **more):
        return staff.post(url("invite"), {"emails": emails, **more}, follow=True)

    def test_takes_one_address_a_line_and_tells_of_those_there_and_those_that_are_none(
        self, staff, admin, dataset
    ):
        make_writer(dataset=dataset, email="ada@example.org")

        page = self.invite(staff, "ada@example.org\n<b>kim@nowhere\n\nBo@Example.org\na@b.org")

        assert "2 people are invited. In the pool already, and left as they are: 1." in shown(page)
        assert "Not an e-mail address, and not invited: &lt;b&gt;kim@nowhere" in shown(page)
        emails = Writer.objects.order_by("email").values_list("email", flat=True)
        assert list(emails) == ["a@b.org", "ada@example.org", "bo@example.org"]
        assert WriterMail.objects.count() == 2
        assert set(LogEntry.objects.values_list("action", "by")) == {("writer.invited", admin.pk)}

    def test_only_counts_when_that_is_asked_and_keeps_what_was_typed(self, staff, dataset):
        make_writer(dataset=dataset, email="ada@example.org")

        page = self.invite(staff, "ada@example.org\nkim@example.org\nnonsense", is_dry="1")

        assert "Would be invited: 1. In the pool already: 1. Not an e-mail address: 1." in shown(
            page
        )
        assert "kim@example.org\nnonsense</textarea>" in shown(page)
        assert Writer.objects.count() == 1

    @pytest.mark.parametrize(
        ("emails", "words"),
        [
            ("", "Type at least one"),
            ("kim@nowhere", "There is no e-mail address in this"),
            ("\n".join(f"{n}@example.org" for n in range(501)), "That is more than 500 at once"),
            (f"{'a' * 250}@example.org", "There is no e-mail address in this"),
        ],
        ids=["nothing", "no address", "too many", "too long"],
    )
    def test_says_beside_the_field_what_is_wrong_and_invites_nobody(self, staff, emails, words):
        page = staff.post(url("invite"), {"emails": emails})

        assert page.status_code == 422
        assert f'id="emails-error">{words}' in shown(page)
        assert 'aria-invalid="true"' in shown(page)
        assert not Writer.objects.exists()

    def test_leads_on_to_the_list_where_it_invited_nobody(self, staff, dataset):
        make_writer(dataset=dataset)
        page = staff.post(url("invite"), {"emails": ""})

        assert "1 writer of 1" in shown(page)
        assert own_addresses(page) == []

    def test_makes_a_link_without_an_address(self, staff, admin):
        page = staff.post(url("make-link"), follow=True)

        writer = Writer.objects.get()
        assert page.redirect_chain == [(url("writer", writer.code), 302)]
        assert (writer.email, writer.state) == ("", WriterState.INVITED)
        assert LogEntry.objects.get().by == admin

    def test_makes_one_link_of_two_clicks_and_another_of_the_page_loaded_again(self, staff):
        first, second = (staff.get(url("pool")).context["new_code"] for _ in range(2))

        answers = [staff.post(url("make-link"), {"code": code}) for code in (first, first, second)]

        assert [one.url for one in answers] == [
            url("writer", code) for code in (first, first, second)
        ]
        assert Writer.objects.count() == 2
        assert "made already" in shown(staff.get(url("pool")))

    @pytest.mark.parametrize("code", ["", "W", "w" + "2" * 10, "W23456789A<", "W23456789AB\n"])
    def test_makes_a_link_under_another_code_where_what_is_sent_is_none(self, staff, code):
        for _ in range(2):
            staff.post(url("make-link"), {"code": code})

        assert Writer.objects.exclude(code=code).count() == 2

    @pytest.mark.parametrize("act", ["invite", "make-link"])
    def test_is_not_offered_once_frozen_and_an_older_page_says_why(self, staff, act):
        assert "Invite people" in shown(staff.get(url("pool")))
        Dataset.objects.update(frozen_at=NOW)

        page = staff.post(url(act), {"emails": "ada@example.org"}, follow=True)

        assert "The dataset is frozen: nobody was invited." in shown(page)
        assert "Invite people" not in shown(page)
        assert not Writer.objects.exists()

    def test_says_that_mails_wait_where_none_are_set_up(self, staff, settings):
        assert "No mail is set up" not in shown(staff.get(url("pool")))

        settings.EMAIL_BACKEND = writer_emails.NO_SERVER

        assert "No mail is set up" in shown(staff.get(url("pool")))


class TestSettings:
    def test_are_kept_logged_and_shown(self, staff, dataset, admin):
        share = SETTINGS | {"most_adversarial": "40", "offers_own_systems": "on"}

        for posted in (share, share | {"completions_per_context": "7"}):
            staff.post(url("settings"), posted)

        dataset.refresh_from_db()
        assert (dataset.most_adversarial, dataset.offers_own_systems) == (40, True)
        assert dataset.completions_per_context == 7
        logged = LogEntry.objects.filter(action="pool.configured").values_list("by", flat=True)
        assert list(logged) == [admin.pk, admin.pk]
        page = shown(staff.get(url("pool")))
        assert 'name="completions_per_context" type="text"' in page
        assert 'value="7"' in page

    @pytest.mark.parametrize(
        ("field", "values", "error", "said"),
        [
            ("most_adversarial", ("", "101", "-1", "2.5", "x"), "share-error", "a share from 0"),
            ("completions_per_context", ("", "0", "51", "x"), "number-error", "number from 1 to"),
        ],
    )
    def test_that_cannot_be_are_told_beside_the_field_and_change_nothing(
        self, staff, dataset, field, values, error, said
    ):
        before = (dataset.most_adversarial, dataset.completions_per_context)
        for value in values:
            page = staff.post(url("settings"), SETTINGS | {field: value})

            assert page.status_code == 422
            assert f'aria-describedby="{error}"' in shown(page)
            assert said in shown(page)
            dataset.refresh_from_db()
            assert (dataset.most_adversarial, dataset.completions_per_context) == before

    def test_of_fewer_messages_than_there_are_are_refused_with_their_number(self, staff, dataset):
        make_context(dataset=dataset, slots_left=0)

        page = staff.post(url("settings"), SETTINGS | {"completions_per_context": "2"})

        assert page.status_code == 422
        assert "1 conversation has more messages already" in shown(page)

    def test_of_two_admins_do_not_undo_each_other(self, staff, dataset):
        seen = {"seen": staff.get(url("pool")).context["seen"]}
        staff.post(url("settings"), SETTINGS | seen | {"most_adversarial": "40"})

        wrong = staff.post(url("settings"), SETTINGS | seen | {"completions_per_context": "x"})
        refused = staff.post(
            url("settings"), SETTINGS | {"seen": wrong.context["seen"], "host_lab": "Lab"}
        )

        dataset.refresh_from_db()
        assert (dataset.most_adversarial, dataset.host) == (40, {})
        assert refused.status_code == 422
        assert "Somebody changed the settings" in shown(refused)
        assert 'value="Lab"' in shown(refused)
        again = {"seen": refused.context["seen"], "most_adversarial": "40", "host_lab": "Lab"}
        assert staff.post(url("settings"), SETTINGS | again).status_code == 302
        dataset.refresh_from_db()
        assert (dataset.most_adversarial, dataset.host) == (40, {"lab": "Lab"})

    def test_switch_the_trial_on_and_off_and_nothing_without_an_answer(self, staff, dataset):
        staff.post(url("trial"), {"is_on": "1"})
        unsaid = shown(staff.post(url("trial"), {"is_on": "perhaps"}, follow=True))
        off = shown(staff.post(url("trial"), {"is_on": "0"}, follow=True))

        assert "Nothing changed" in unsaid
        assert "Switch the trial off" in unsaid
        assert "Switch the trial on" in off


def test_dialogues_of_checks_have_no_pool(staff):
    make_dataset(slug="trial", is_for_checks=True)

    assert staff.get(reverse("writing:pool", args=["trial"])).status_code == 404


def rows(answer):
    return {row.slug: row for row in answer.context["datasets"]}


class TestTheListOfDatasets:
    def test_counts_people_messages_and_what_is_wanted(self, staff, dataset):
        make_writer(dataset=dataset, state=WriterState.PAUSED)
        ada = make_writer(dataset=dataset)
        first, second, _dropped = (
            make_context(dataset=dataset, review=review)
            for review in (Review.PENDING, Review.PENDING, Review.DROPPED)
        )
        make_accepted(lease=make_writing_lease(writer=ada, context=first, **SENT))
        make_message(lease=make_writing_lease(writer=ada, context=second, **SENT))

        row = rows(staff.get(DATASETS))["talks"]

        assert (row.n_writers, row.n_waiting, row.n_accepted, row.n_wanted) == (1, 1, 1, 6)

    def test_leaves_out_dialogues_of_checks_and_says_which_are_frozen(self, staff):
        make_dataset(slug="trial", is_for_checks=True)
        before = staff.get(DATASETS)
        Dataset.objects.filter(slug="talks").update(frozen_at=NOW)

        assert list(rows(before)) == ["talks"]
        assert "frozen" not in shown(before)
        assert "frozen" in shown(staff.get(DATASETS))
