"""The question on sources at the end, as a rater meets it."""

import pytest

from annotation.choices import RaterState, Source
from annotation.models import Exclusion, Lease, Rater, SourceGuess
from tests.helpers.factories import NOW
from tests.helpers.visits import ANSWERS, HTMX, enrol, open_study, read_forms, study_content, url

pytestmark = pytest.mark.django_db


@pytest.fixture
def study():
    return open_study(content=study_content(source_guesses=2), n_pairs=4, session_length=3)


def finish(client, study, *, times=3):
    rater = enrol(client, study)
    client.get(url(study, "judge"))
    for _ in range(times):
        lease = Lease.objects.get(closed_at=None, rater=rater)
        client.post(url(study, "submit", lease.token), ANSWERS["preference"])
    return Rater.objects.get(pk=rater.pk)


def test_comes_once_the_session_is_finished(client, study):
    finish(client, study)

    answer = client.get(url(study, "judge"))

    assert (answer.status_code, answer["Location"]) == (303, url(study, "guess"))


def test_shows_messages_that_were_judged_and_gives_no_answer_away(client, study):
    finish(client, study)

    page = client.get(url(study, "guess"))

    form = read_forms(page)[0]
    text = page.content.decode()
    assert page.status_code == 200
    assert text.count('class="card message"') == 2
    assert form.choices == {f"guess_{n}": ["PERSON", "PROGRAM", "UNSURE"] for n in range(2)}
    assert "checked" not in text
    assert not [name for name in form.fields if name != "csrfmiddlewaretoken"]


def test_keeps_the_guesses_and_leads_to_the_code(client, study):
    rater = finish(client, study)

    page = client.post(url(study, "guess"), {"guess_0": "PERSON"}, follow=True)

    guess = SourceGuess.objects.get()
    assert (guess.rater, guess.guess) == (rater, Source.PERSON)
    assert 'id="completion-code"' in page.content.decode()


@pytest.mark.parametrize("fields", [{"skip": "1"}, {"skip": "1", "guess_0": "PERSON"}, {}])
def test_may_be_skipped(client, study, fields):
    finish(client, study)

    page = client.post(url(study, "guess"), fields, follow=True)

    assert 'id="completion-code"' in page.content.decode()
    assert not SourceGuess.objects.exists()


@pytest.mark.parametrize("fields", [{"skip": "1"}, {"guess_0": "PROGRAM"}])
def test_is_not_asked_again(client, study, fields):
    finish(client, study)
    client.post(url(study, "guess"), fields)

    for name in ("judge", "entry"):
        page = client.get(url(study, name), follow=True)
        assert page.request["PATH_INFO"] in {url(study, "judge"), url(study, "done")}
        assert 'id="completion-code"' in page.content.decode()


def test_sending_twice_keeps_the_first(client, study):
    finish(client, study)

    for guess in ("PERSON", "PROGRAM"):
        client.post(url(study, "guess"), {"guess_0": guess})

    assert SourceGuess.objects.get().guess == Source.PERSON


def test_a_made_up_answer_is_not_kept(client, study):
    finish(client, study)

    answer = client.post(url(study, "guess"), {"guess_0": "A CAT", "guess_9": "PERSON"})

    assert answer.status_code == 303
    assert not SourceGuess.objects.exists()


def test_is_asked_for_the_last_pair_by_htmx(client, study):
    finish(client, study)

    assert client.get(url(study, "judge"), headers=HTMX)["HX-Redirect"] == url(study, "judge")


def test_is_put_to_nobody_who_has_not_finished_or_is_blocked(client, study):
    rater = finish(client, study, times=1)
    assert client.get(url(study, "guess"))["Location"] == url(study, "done")

    Rater.objects.filter(pk=rater.pk).update(state=RaterState.FINISHED, ended_at=NOW)
    Exclusion.objects.create(rater=rater, is_excluded=True, rule="r-1", decided_at=NOW)
    page = client.get(url(study, "judge"))
    assert "You’re done:" in page.content.decode()


def test_a_study_may_ask_nothing(client):
    study = open_study(n_pairs=2, session_length=1)
    finish(client, study, times=1)

    assert 'id="completion-code"' in client.get(url(study, "judge")).content.decode()
    assert client.get(url(study, "guess"))["Location"] == url(study, "done")
