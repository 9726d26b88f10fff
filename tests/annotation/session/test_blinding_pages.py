"""Nothing that a rater receives tells where a message comes from (ADR-0007)."""

import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotation.choices import Purpose, Side
from annotation.models import Comparison, Lease
from annotation.urls import RATERS
from completions.choices import LeaseOutcome, SystemKind
from completions.models import Completion
from tests.annotation.session.steps import let_in, show_pair, walk
from tests.heart_site.blinding.hidden import (
    KEYS_BEGIN,
    MADE_AT,
    all_keys,
    leaks,
    make_hidden_study,
    secrets_of,
    static_files_in,
    static_text,
)
from tests.helpers.factories import (
    make_comparison,
    make_lease,
    make_quality_check,
    make_system,
    make_writer,
)
from tests.helpers.visits import HTMX, open_study, url

pytestmark = pytest.mark.django_db


@pytest.fixture(params=["preference", "rubric", "likert"])
def kind(request):
    return request.param


@pytest.fixture
def study(kind):
    return make_hidden_study(kind, session_length=6)


@pytest.fixture
def pair(kind):
    """An open study in which the first pair is at hand at once."""
    return open_study(kind, n_pairs=3)


def addresses_of(answers):
    """Return the names of the raters' addresses that were visited."""
    visited = [answer.wsgi_request.resolver_match for answer in answers]
    return {match.url_name for match in visited if match and match.app_name == "annotation"}


OTHER_KINDS = [pytest.param(kind, marks=pytest.mark.full) for kind in ("rubric", "likert")]


class TestEveryAnswer:
    @pytest.mark.parametrize("kind", ["preference", *OTHER_KINDS])
    def test_of_every_address_holds_no_name_key_hash_or_time(self, study):
        answers = list(walk(study))
        secrets = secrets_of(study)

        found = {
            (answer.request["REQUEST_METHOD"], answer.request["PATH_INFO"], secret)
            for answer in answers
            for secret in leaks(answer, secrets)
        }
        assert found == set()
        files = " ".join(map(static_text, set().union(*map(static_files_in, answers)))).casefold()
        assert "judging.js" in files
        assert [secret for secret in secrets if secret.casefold() in files] == []
        assert addresses_of(answers) == {pattern.name for pattern in RATERS}
        assert {answer.status_code for answer in answers} == {
            *(200, 204, 303),
            *(400, 403, 404, 405, 409, 422),
        }
        assert {str(key)[: len(KEYS_BEGIN)] for key in all_keys()} == {KEYS_BEGIN}
        assert str(MADE_AT.timestamp()).startswith("1310532")

    @pytest.mark.parametrize(
        "text",
        ["As W0MBATLING1 I say: go on.", "V09NQkFUTElORyBXME1CQVRMSU5HIFcwTUJBVExJTkc="],
        ids=["plain", "coded"],
    )
    def test_would_be_caught_with_a_leak(self, text):
        study = make_hidden_study("preference")
        Completion.objects.filter(system__slug="quokkaland").update(text=text)

        assert any(leaks(answer, ["w0mbatling"]) for answer in walk(study))

    def test_shows_no_message_to_somebody_who_is_not_enrolled(self, study):
        client = Client()
        texts = list(Completion.objects.values_list("text", flat=True))
        for name in ("entry", "how", "judge", "last", "help", "take_break", "stop", "done"):
            page = client.get(url(study, name), follow=True).content.decode()
            assert not [text for text in texts if text in page]


def received(client, study, *texts, headers=None):
    """Return headers and body of the judging page without one-time values and ``texts``."""
    page = client.get(url(study, "judge"), headers=headers or {})
    body = page.serialize_headers().decode() + page.content.decode()
    body = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "TOKEN", body)
    body = re.sub(r"X-Request-ID: \w+", "REQUEST", body)
    body = re.sub(r'name="csrfmiddlewaretoken" value="\w+"', "CSRF", body)
    for n, text in enumerate(texts):
        body = body.replace(text, f"TEXT {n}")
    return body


def look(client, study, *texts, headers=None):
    """Return what is received of the judging page, and how many queries it took."""
    with CaptureQueriesContext(connection) as queries:
        return received(client, study, *texts, headers=headers), len(queries)


class TestTwoSources:
    """Of two messages of equal length, one by a person and one by a model."""

    TEXTS = "I am here. Go on, please?", "That is hard. Why today?!"

    @pytest.fixture
    def lease(self, pair, client):
        let_in(client, pair)
        return show_pair(client, pair)

    @staticmethod
    def write(completion, text, *, writer=None):
        """Let the message be by ``writer``, or by a model."""
        kind = SystemKind.HUMAN if writer else SystemKind.MODEL
        completion.text, completion.system = text, make_system(kind=kind)
        completion.writer = writer
        completion.save()

    @pytest.mark.parametrize("headers", [{}, HTMX], ids=["page", "fragment"])
    def test_are_shown_in_the_same_bytes(self, pair, client, lease, headers):
        writer = make_writer(dataset=pair.dataset)
        shown = []
        for by, text in ((None, self.TEXTS[0]), (writer, self.TEXTS[0]), (writer, self.TEXTS[1])):
            self.write(lease.comparison.first, text, writer=by)
            shown.append(look(client, pair, text, headers=headers))

        assert len(set(map(len, self.TEXTS))) == 1
        assert shown[0] == shown[1] == shown[2]
        assert "TEXT 0" in shown[0][0]

    def test_look_the_same_as_a_check_and_as_a_repeat(self, pair, client, lease):
        plain = look(client, pair)
        pair_shown = Comparison.objects.filter(pk=lease.comparison_id)
        pair_shown.update(purpose=Purpose.CHECK)
        check = make_quality_check(comparison=lease.comparison)
        Lease.objects.filter(pk=lease.pk).update(quality_check=check)
        as_check = look(client, pair)
        pair_shown.update(purpose=Purpose.MAIN)
        before = make_lease(
            rater=lease.rater,
            comparison=make_comparison(study=pair),
            number=0,
            closed_at=lease.issued_at,
            outcome=LeaseOutcome.SUBMITTED,
        )
        Lease.objects.filter(pk=lease.pk).update(quality_check=None, repeats=before)
        as_repeat = look(client, pair)

        assert plain == as_check == as_repeat

    @pytest.mark.parametrize("kind", ["preference", "rubric"])
    def test_differ_in_their_text_alone_on_both_sides(self, pair, client, lease, kind):
        completions = lease.comparison.completions
        for completion, text in zip(completions, self.TEXTS, strict=True):
            self.write(completion, text)

        pages = []
        for side, order in ((Side.A, self.TEXTS), (Side.B, self.TEXTS[::-1])):
            Lease.objects.filter(pk=lease.pk).update(first_side=side)
            pages.append(received(client, pair, *order))

        assert pages[0] == pages[1]
        card = '<article class="card message" aria-labelledby="{0}"><h3 id="{0}">Reply {1}</h3>'
        assert card.format("a", "A") in pages[0]
        assert card.format("b", "B") in pages[0]

    def test_are_dressed_alike(self, pair, client, lease):
        self.write(
            lease.comparison.first,
            "**I\u2019m here** \u2014 truly\u2026\n\n* Breathe.\n* Call \u201cher\u201d.",
        )

        page = client.get(url(pair, "judge")).content.decode()

        assert "I&#x27;m here - truly... Breathe. Call &quot;her&quot;." in page


def test_tokens_are_random_and_unrelated_for_a_rater_and_for_a_pair():
    study = open_study(n_pairs=3)
    for client in (Client(), Client()):
        let_in(client, study)
        for _ in range(3):
            token = show_pair(client, study).token
            client.post(url(study, "skip", token), {"reason": "unclear"})

    tokens = Lease.objects.values_list("token", flat=True)
    assert {token.version for token in tokens} == {4}
    assert len({str(token)[:8] for token in tokens}) == 6
