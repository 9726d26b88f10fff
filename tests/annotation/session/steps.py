"""Steps of a rater that the tests of many pages take."""

import re

from annotation.models import Lease
from tests.helpers.visits import ANSWERS, url

PROLIFIC = {"PROLIFIC_PID": "p-17", "STUDY_ID": "s-1", "SESSION_ID": "x-1"}
"""What Prolific puts on the link of one person's submission."""
CODES = {"complete": "C-DONE", "screened_out": "C-OUT", "no_consent": "C-NO", "full": "C-FULL"}
"""Codes of a study's file for ways in which a session ends."""


def show_pair(client, study):
    """Open the judging page, and return the lease behind it."""
    assert client.get(url(study, "judge")).status_code == 200
    return Lease.objects.get(closed_at=None)


def submit(client, study, lease, fields, **options):
    return client.post(url(study, "submit", lease.token), fields, **options)


def judge(client, study, *, times=1):
    """Answer the next pairs of a preference study."""
    for _ in range(times):
        submit(client, study, show_pair(client, study), ANSWERS["preference"])


def code_on(page):
    found = re.search(r'<code id="completion-code">(.+?)</code>', page.content.decode())
    return found and found[1]
