"""What stands on the consent page and around it, and who is recognised by a second cookie."""

import pytest

from annotation.models import Lease, Rater
from completions.choices import WriterState
from tests.completions.writers.desk import sign_in
from tests.helpers.factories import make_completion, make_writer, make_writing_lease
from tests.helpers.visits import enrol, open_study, study_content, url

pytestmark = pytest.mark.django_db


def consent_with(**changes):
    content = study_content()
    return open_study(content=content | {"consent": content["consent"] | changes})


class TestWords:
    def test_facts_are_markdown_that_can_do_no_harm(self, client):
        text = "Read **this**.\n\n- [terms](https://example.org/terms)\n- <b onclick=x>no</b>"
        study = consent_with(facts=[{"name": "Terms", "text": text}])

        page = client.get(url(study, "entry")).content.decode()

        assert "<strong>this</strong>" in page
        assert '<a href="https://example.org/terms" rel="noopener noreferrer">terms</a>' in page
        assert "<b " not in page

    def test_debrief_and_instructions_are_markdown_below_the_headings_of_the_page(self, client):
        study = open_study(
            content=study_content(debrief="# Why\n\nTo *learn*.", instructions=["Take **time**."])
        )
        enrol(client, study)
        assert "<strong>time</strong>" in client.get(url(study, "how")).content.decode()

        page = client.post(url(study, "stop"), follow=True).content.decode()

        assert "<h3>Why</h3>" in page
        assert "<em>learn</em>" in page

    @pytest.mark.parametrize("pay", ["", "6 pounds for 40 minutes"])
    def test_pay_is_named_where_the_study_pays(self, client, pay):
        content = study_content()
        study = open_study(content=content | {"crowd": content["crowd"] | {"pay": pay}})

        page = client.get(url(study, "entry")).content.decode()

        assert (f"Pay: {pay}" if pay else "Taking part is unpaid.") in page

    def test_numbers_are_those_of_the_study(self, client):
        content = study_content()
        study = open_study(
            session_length=17,
            content=content | {"screening": {"pairs": 3, "min_passed": 2}},
        )

        page = client.get(url(study, "entry"), {"pid": "7"}).content.decode()

        assert "Up to 17 pairs, about 17 minutes." in page
        assert "Pay: as shown on the platform that sent you." in page
        assert "The first 3 show whether the task suits you." in page


class TestHelpLines:
    def lines(self, client, page, language):
        study = open_study()
        if page in {"take_break", "done"}:
            enrol(client, study)
        if page == "done":
            client.post(url(study, "stop"))
        text = client.get(url(study, page), headers={"Accept-Language": language}).content.decode()
        shown, _fold, folded = text.partition("Help lines in other countries")
        return shown, folded

    @pytest.mark.parametrize("page", ["entry", "help", "take_break", "done"])
    def test_of_the_own_country_come_first_and_then_those_for_anywhere(self, client, page):
        shown, folded = self.lines(client, page, "de-DE,en;q=0.5")

        assert shown.index("TelefonSeelsorge") < shown.index("findahelpline.com")
        assert "Samaritans" not in shown
        assert "Samaritans" in folded

    @pytest.mark.parametrize("language", ["", "en", "xx-ZZ", "\x00,;=-GB", "-" * 5000])
    def test_are_all_shown_where_nobody_can_tell_the_country(self, client, language):
        shown, folded = self.lines(client, "entry", language)

        assert shown.index("findahelpline.com") < shown.index("Samaritans")
        assert not folded

    def test_country_is_stored_nowhere(self, client):
        study = open_study()
        client.defaults["HTTP_ACCEPT_LANGUAGE"] = "de-DE"

        enrol(client, study)

        assert "DE" not in [str(value) for value in Rater.objects.values_list().get()]


class TestWriterWhoAlsoRates:
    @pytest.fixture
    def study(self):
        return open_study(n_pairs=2)

    def test_is_linked_and_never_shown_a_context_they_wrote_for(self, client, study):
        writer = make_writer(dataset=study.dataset)
        own, other = study.comparisons.order_by("pk")
        make_completion(context=own.context, writer=writer)
        make_writing_lease(context=own.context, writer=writer)
        sign_in(client, writer)

        rater = enrol(client, study)
        client.get(url(study, "judge"))

        assert rater.writer == writer
        assert Lease.objects.get().comparison == other

    def test_is_linked_when_they_begin_to_write_later(self, client, study):
        rater = enrol(client, study)
        writer = make_writer(dataset=study.dataset)
        sign_in(client, writer)

        client.get(url(study, "judge"))

        rater.refresh_from_db()
        assert rater.writer == writer

    @pytest.mark.parametrize("case", ["other dataset", "withdrawn", "forged"])
    def test_nobody_else_is_linked(self, client, study, case):
        fields = {"dataset": study.dataset} if case == "withdrawn" else {}
        state = WriterState.WITHDRAWN if case == "withdrawn" else WriterState.ACTIVE
        writer = make_writer(state=state, **fields)
        sign_in(client, writer)
        if case == "forged":
            client.cookies["heart_writer"] = f"{writer.code}-1~nonsense"

        assert enrol(client, study).writer is None
