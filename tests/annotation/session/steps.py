"""Steps of a rater through the pages, and a walk through everything that a rater can receive."""

import re
import uuid
from collections.abc import Iterator
from typing import Any

from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.choices import StudyState
from annotation.judging.services import judging
from annotation.models import Comparison, Exclusion, Lease, Rater, Study
from annotation.raters.entry_links import Entry
from annotation.raters.services import entering
from annotation.session import http
from annotation.studies.verdicts import Answer
from tests.helpers.factories import NOW
from tests.helpers.judged import lease_next
from tests.helpers.visits import ANSWERS, HTMX, consent_fields, enrol, read_forms, url

PROLIFIC = {"PROLIFIC_PID": "p-17", "STUDY_ID": "s-1", "SESSION_ID": "x-1"}
"""What Prolific puts on the link of one person's submission."""
CODES = {"complete": "C-DONE", "screened_out": "C-OUT", "no_consent": "C-NO", "full": "C-FULL"}
"""Codes of a study's file for ways in which a session ends."""
SENDERS: tuple[dict[str, str], ...] = ({}, HTMX)
RIGHT = {"question_0": "0"}
WRONG = {"question_0": "1"}
PARTS = (
    *("judge", "how", "help", "take_break", "stop", "withdraw", "done", "last", "guess"),
    "rubric",
)


def let_in(client, study):
    """Make the browser that of a new rater, without the pages that `enrol` goes through."""
    now = timezone.now()
    rater = entering.enter_study(study=study, entry=Entry(), utc_offset_minutes=None, now=now)
    client.cookies[http.COOKIE] = http.credential(rater, use="cookie")
    return rater


def show_pair(client, study):
    """Open the judging page, and return the lease behind it."""
    assert client.get(url(study, "judge")).status_code == 200
    return Lease.objects.get(closed_at=None)


def submit(client, study, lease, fields, **options):
    return client.post(url(study, "submit", lease.token), fields, **options)


def judge(client, study, *, times=1):
    """Answer the next pairs of a preference study, without their pages."""
    credential = http.credential_of(client.cookies[http.COOKIE].value, slug=study.slug)
    rater = study.raters.get(code=credential.code)
    answer = Answer(2, ANSWERS["preference"]["rationale"])
    for _ in range(times):
        now = timezone.now()
        submission = judging.Submission(lease_next(rater, now).token, answer)
        judging.submit_and_assign_next(credential=credential, submission=submission, now=now)


def code_on(page):
    found = re.search(r'<code id="completion-code">(.+?)</code>', page.content.decode())
    return found and found[1]


def walk(study: Study) -> Iterator[Any]:
    """Yield every answer, in the order of several visits; at the end the study is closed."""
    yield from come_in(study)
    yield from fail_the_questions(study)
    yield from judge_to_the_end(study)
    yield from lose_the_way(study)
    yield from leave(study)
    yield from come_when_it_is_over(study)


def answers_to(study: Study) -> dict[str, str]:
    """Return an answer that passes the checks of the hidden study, whatever the sides."""
    lease = Lease.objects.get(closed_at=None)
    if study.protocol == "LIKERT":
        return ANSWERS["likert"]
    first_is_a = lease.first_side == "A"
    if study.protocol == "RUBRIC":
        return ANSWERS["rubric"] | {"winner": "A" if first_is_a else "B"}
    return ANSWERS["preference"] | {"verdict": "2" if first_is_a else "-2"}


def come_in(study: Study) -> Iterator[Any]:
    """Arrive in every way, read the consent, decline, and send what is no consent."""
    client = Client()
    entry = url(study, "entry")
    yield client.get(entry)
    yield client.get(entry, {"PROLIFIC_PID": "77", "STUDY_ID": "s", "SESSION_ID": "x"})
    yield client.get(entry, {"PROLIFIC_PID": "", "STUDY_ID": "s"})
    yield client.get(entry, {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", "hitId": "h"})
    yield client.get(entry, {"pid": "77"}, headers=HTMX)
    yield client.get(url(study, "help"))
    for name in PARTS:
        yield client.get(url(study, name))
    fields = consent_fields(client, study, pid="77")
    for posted in (fields | {"choice": "decline"}, fields, {"choice": "agree"}, {}):
        yield client.post(url(study, "consent"), posted)
    yield client.post(url(study, "consent"), fields | {"choice": "agree", "entry": "x~y"})


def fail_the_questions(study: Study) -> Iterator[Any]:
    """Answer the questions wrongly twice; the way to the pairs stays closed."""
    client = Client()
    yield client.post(
        url(study, "consent"), consent_fields(client, study, pid="11") | {"choice": "agree"}
    )
    yield client.get(url(study, "judge"))
    for headers in SENDERS:
        yield client.get(url(study, "comprehension"), headers=headers)
        yield client.post(url(study, "comprehension"), {}, headers=headers)
        yield client.post(url(study, "comprehension"), WRONG, headers=headers)
    for name in PARTS:
        yield client.get(url(study, name))


def judge_to_the_end(study: Study) -> Iterator[Any]:
    """Go the whole way as a rater does, with every error on the way, to the code."""
    client = Client()
    enrol(client, study, pid="22")
    yield client.get(url(study, "how"))
    for headers in SENDERS:
        yield client.post(url(study, "how"), {}, headers=headers)
        yield client.post(url(study, "how"), ANSWERS[study.protocol.lower()], headers=headers)
    yield client.post(url(study, "comprehension"), RIGHT)
    for step in range(study.session_length + 2):
        headers = SENDERS[step % 2]
        page = client.get(url(study, "judge"), headers=headers)
        yield page
        if not Lease.objects.filter(closed_at=None).exists():
            break
        token = Lease.objects.get(closed_at=None).token
        yield client.get(url(study, "foreseen", token), headers=headers)
        yield client.post(url(study, "submit", token), {}, headers=headers)
        yield client.post(url(study, "submit", token), answers_to(study), headers=headers)
        yield client.post(url(study, "submit", token), answers_of(study), headers=headers)
        yield client.get(url(study, "last"), headers=headers)
        for name in ("help", "take_break", "stop"):
            yield client.get(url(study, name), headers=headers)
    yield from _end(client, study)


def answers_of(study: Study) -> dict[str, str]:
    """Return any answer on the study's scale."""
    return ANSWERS[study.protocol.lower()]


def _end(client: Client, study: Study) -> Iterator[Any]:
    for headers in SENDERS:
        for name in PARTS:
            yield client.get(url(study, name), headers=headers)
    asked = [form for form in read_forms(client.get(url(study, "guess"))) if "guess" in form.action]
    if asked:
        yield client.post(url(study, "guess"), {"guess_0": "nobody"})
        yield client.post(url(study, "guess"), {"guess_0": "PERSON"})
    yield client.get(url(study, "guess"))
    yield client.get(url(study, "done"))
    yield client.post(url(study, "finish"))


def lose_the_way(study: Study) -> Iterator[Any]:
    """Skip and report, use tokens that are not one's own, and addresses that do not exist."""
    client = Client()
    enrol(client, study)
    client.post(url(study, "comprehension"), RIGHT)
    _go_past_screening(client, study)
    for headers in SENDERS:
        for name, fields in (
            ("skip", {"reason": "unclear"}),
            ("report", {"kind": "UPSET"}),
            ("report", {"kind": "CONTENT", "text": "a street and a number"}),
        ):
            yield client.get(url(study, "judge"), headers=headers)
            if not Lease.objects.filter(closed_at=None).exists():
                break
            token = Lease.objects.get(closed_at=None).token
            yield client.post(url(study, name, token), {}, headers=headers)
            yield client.post(url(study, name, token), fields, headers=headers)
            yield client.post(url(study, name, token), fields, headers=headers)
            yield client.get(url(study, name, token), headers=headers)
            yield client.put(url(study, name, token), headers=headers)
            yield client.post(url(study, name, uuid.uuid4()), fields, headers=headers)
        yield client.post(url(study, "submit", uuid.uuid4()), answers_of(study), headers=headers)
    yield client.post(url(study, "take_break"))
    yield client.get(url(study, "take_break"))
    yield client.get(url(study, "judge") + "no/such/page")
    yield client.get(url(study, "judge") + "not-a-token/")
    yield Client(enforce_csrf_checks=True).post(url(study, "stop"))
    yield client.post(url(study, "submit", uuid.uuid4()), {"rationale": "a" * 3_000_000})


def _go_past_screening(client: Client, study: Study) -> None:
    client.get(url(study, "judge"))
    lease = Lease.objects.get(closed_at=None)
    if lease.is_screening:
        client.post(url(study, "submit", lease.token), answers_to(study))


def leave(study: Study) -> Iterator[Any]:
    """Come back by the private link, stop, and withdraw; be left out of the analysis."""
    client = Client()
    rater = enrol(client, study)
    client.post(url(study, "comprehension"), RIGHT)
    _go_past_screening(client, study)
    page = client.get(url(study, "take_break"))
    yield page
    link = page.content.decode().split("resume/")[1].split("/")[0]
    other = Client()
    yield other.get(url(study, "resume", link))
    yield other.get(url(study, "resume", link[:-1]))
    yield other.get(url(study, "judge"))
    for headers in SENDERS:
        yield other.get(url(study, "withdraw"), headers=headers)
        yield other.post(url(study, "withdraw"), {}, headers=headers)
    yield other.post(url(study, "stop"), headers=HTMX)
    yield other.post(url(study, "withdraw"), {"answers": "delete"})
    for name in PARTS:
        yield other.get(url(study, name))
    yield from _be_excluded(study, rater)


def _be_excluded(study: Study, gone: Rater) -> Iterator[Any]:
    client = Client()
    rater = enrol(client, study, pid="33")
    assert rater != gone
    Exclusion.objects.create(rater=rater, is_excluded=True, rule="okapi-seed-rule", decided_at=NOW)
    for headers in SENDERS:
        for name in PARTS:
            yield client.get(url(study, name), headers=headers)


def come_when_it_is_over(study: Study) -> Iterator[Any]:
    """Come when nothing is left, while the study rests, and after it is closed."""
    client = Client()
    enrol(client, study, pid="44")
    client.post(url(study, "comprehension"), RIGHT)
    Comparison.objects.filter(study=study).update(slots_left=0)
    for headers in SENDERS:
        yield client.get(url(study, "judge"), headers=headers)
    yield Client().get(url(study, "entry"))
    for state in (StudyState.PAUSED, StudyState.CLOSED):
        Study.objects.update(state=state)
        for visitor in (client, Client()):
            for name in ("entry", "judge", "done", "help"):
                yield visitor.get(url(study, name))
    yield client.get(reverse("annotation:entry", args=["no-such-study"]))
