"""Nobody outside can foretell which pairs of a session are planted (docs/security.md)."""

import pytest
from django.test import Client
from django.urls import reverse

from annotation.assignment import design
from annotation.choices import Purpose
from annotation.models import Lease, Rater, Study
from annotation.studies.protocol.files import STUDIES, load_protocol
from annotation.studies.protocol.parts import Checks, Screening
from annotation.studies.rubric import load_rubric
from annotation.studies.services import drafts, states
from completions.models import Dataset
from tests.heart_site import permissions
from tests.helpers.factories import NOW, make_comparison, make_dataset, make_quality_check
from tests.helpers.factories_written_once import make_member
from tests.helpers.judged import make_comparisons
from tests.helpers.pages import console_pages
from tests.helpers.rows import make_everything
from tests.helpers.visits import ANSWERS, enrol, url

pytestmark = pytest.mark.django_db

RATE, N_CHECKS = 0.25, 8
SESSION = int(N_CHECKS / RATE)
SHIPPED_ONCE = ("heart-preference-1", "heart-rubric-1", "7")
"""Seeds that anybody could read in the study files of this repository."""
BEYOND_CHANCE = 13
"""Of 16 places that are one in four each, so many are hit once in 250,000 times."""


def make_study_from_the_template() -> Study:
    """Store an open study as its file ships, with planted pairs alone made frequent."""
    plain = {
        "checks": Checks(rate=RATE, gold_set="x"),
        "screening": Screening(),
        "comprehension": (),
        "session_length": SESSION,
    }
    file = load_protocol(STUDIES / "heart-preference.toml").model_copy(update=plain)
    rubric = load_rubric(file.rubric)
    study = drafts.create_study(protocol=file, rubric=rubric, dataset=make_dataset(), now=NOW)
    make_comparisons(study, SESSION)
    for _ in range(N_CHECKS):
        planted = make_comparison(study=study, purpose=Purpose.CHECK, slots_left=0)
        make_quality_check(comparison=planted)
    return states.open_study(study=study, now=NOW)


def judge_to_the_end(client: Client, study: Study) -> str:
    """Judge a whole session by the pages; return what the browser's cookie says of the rater."""
    rater = enrol(client, study)
    client.get(url(study, "judge"))
    for _ in range(SESSION):
        lease = Lease.objects.get(rater=rater, closed_at=None)
        client.post(url(study, "submit", lease.token), ANSWERS["preference"])
    return client.cookies["heart_rater"].value.partition("-")[0]


def hits(study: Study, code: str, seed: str) -> int:
    """Count the planted pairs of a rater's session at the places that were foretold."""
    foretold = {
        number
        for number in range(1, SESSION + 1)
        if design.is_check_due(design.Place(seed, code, number), rate=RATE)
    }
    planted = Lease.objects.filter(rater__code=code, quality_check__isnull=False)
    came = set(planted.values_list("number", flat=True))
    assert len(foretold) == len(came) == N_CHECKS
    return len(foretold & came)


@pytest.fixture(scope="module")
def judged(module_rows):
    """A study made from the template, and the codes in two raters' cookies, once for all."""
    study = make_study_from_the_template()
    return study.pk, [judge_to_the_end(Client(), study) for _ in range(2)]


@pytest.fixture
def study(judged):
    return Study.objects.get(pk=judged[0])


class TestPlantedPairs:
    @pytest.mark.parametrize("seed", SHIPPED_ONCE)
    def test_are_not_where_the_template_and_the_cookie_put_them(self, study, judged, seed):
        assert sum(hits(study, code, seed) for code in judged[1]) < BEYOND_CHANCE

    def test_are_not_where_the_cookie_puts_them_for_whoever_had_the_seed(self, study, judged):
        assert sum(hits(study, code, study.seed) for code in judged[1]) < BEYOND_CHANCE


def addresses_of(study: Study) -> set[str]:
    """Return every address of the site that is about the study, and Django's admin of its rows."""
    found = {page.address for page in console_pages(study)}
    found |= {
        one.example for one in permissions.addresses() if "GET" in permissions.rule(one.route)
    }
    rows = (("study", study.pk), *(("rater", one.pk) for one in study.raters.all()))
    return found | {reverse(f"admin:annotation_{name}_change", args=[pk]) for name, pk in rows}


class TestTheSecrets:
    def test_are_in_no_answer_to_anybody_while_the_study_is_open(self, client):
        made = make_everything()
        Dataset.objects.filter(pk=made.dataset_id).update(slug="demo")
        Study.objects.filter(pk=made.pk).update(slug="demo", state="OPEN", seed="okapi-seed")
        for rater in Rater.objects.all():
            Rater.objects.filter(pk=rater.pk).update(draw_key=f"okapi-key-{rater.pk}")
        study = Study.objects.get(slug="demo")
        client.force_login(make_member("olga"))

        told, n_read = set(), 0
        for address in sorted(addresses_of(study)):
            answer = client.get(address)
            n_read += answer.status_code == 200
            body = b"".join(answer) if answer.streaming else answer.content
            if b"okapi" in body:
                told.add(address)

        assert told == set()
        assert n_read > 100
