"""What crowd platforms put on their links, and links that Prolific signed with keys of our own."""

import json
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qsl

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from django.utils import timezone
from jwt.algorithms import RSAAlgorithm

from annotation.choices import Platform
from annotation.raters import entry_links
from annotation.raters.entry_links import (
    FILLED_IN,
    PLATFORMS,
    Entry,
    EntryLinkError,
    links_for,
    read_arrival,
)
from tests.helpers.factories import HOUR
from tests.helpers.threads import served

PREVIEW = Entry("MTURK")


@pytest.mark.parametrize(
    ("parameters", "arrival"),
    [
        ({}, Entry()),
        ({"utm_source": "mail"}, Entry()),
        (
            {"PROLIFIC_PID": "p1", "STUDY_ID": "s1", "SESSION_ID": "x1"},
            Entry("PROLIFIC", "p1", {"STUDY_ID": "s1", "SESSION_ID": "x1"}),
        ),
        (
            {"workerId": "w1", "assignmentId": "a1", "hitId": "h1", "turkSubmitTo": "https://x"},
            Entry("MTURK", "w1", {"assignmentId": "a1", "hitId": "h1"}),
        ),
        ({"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE"}, PREVIEW),
        ({"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", "hitId": "h1"}, PREVIEW),
        (
            {"participantId": "c1", "assignmentId": "a1", "projectId": "j1"},
            Entry("CONNECT", "c1", {"assignmentId": "a1", "projectId": "j1"}),
        ),
        ({"pid": "77"}, Entry("GENERIC", "77")),
        ({"pid": "jan.de-v+2@panel.example"}, Entry("GENERIC", "jan.de-v+2@panel.example")),
        (
            {"prolific_pid": "p1", "Study_Id": "s1", "SESSION_ID": "x1"},
            Entry("PROLIFIC", "p1", {"STUDY_ID": "s1", "SESSION_ID": "x1"}),
        ),
        ({"WORKERID": "w1"}, Entry("MTURK", "w1")),
        ({"participant_id": "c1"}, Entry("CONNECT", "c1")),
        ({"assignmentid": " ASSIGNMENT_ID_NOT_AVAILABLE"}, PREVIEW),
    ],
    ids=[
        *("nothing", "other parameters", "Prolific", "MTurk", "MTurk preview"),
        *("MTurk preview with its task", "Connect", "generic", "generic with an address"),
        *("Prolific in another case", "MTurk in another case"),
        *("Connect with a line between the words", "MTurk preview in another case"),
    ],
)
def test_arrival_is_read_from(parameters, arrival):
    found = read_arrival(parameters)

    assert found == arrival
    assert found.is_preview == (arrival is PREVIEW)


@pytest.mark.parametrize(
    "copied",
    [
        *("abc ", "\tabc\n", "abc\u200b", "\ufeffabc", "a\u00adbc"),
        *("abc\u2060", "abc\u3164", "\uffa0abc", "\u202eabc", "abc\u00a0"),
    ],
)
def test_a_copy_with_what_nobody_sees_is_the_same_person(copied):
    assert read_arrival({"PROLIFIC_PID": copied}) == Entry("PROLIFIC", "abc")


@pytest.mark.parametrize("name", [name for _platform, name, _others in PLATFORMS])
def test_what_stands_for_no_id_is_nobody(name, subtests):
    for value in (
        *("undefined", "null", "NULL", "None", "NaN", "n/a", "N/A", "unknown", "anonymous"),
        *("[PID]", "{pid}", "{{%PROLIFIC_PID%}}", "%PROLIFIC_PID%", "${workerId}", "<id>"),
        *("(null)", "[object Object]", "PROLIFIC_PID", "prolific_pid", "worker-id", "pid"),
        *("user_id", "...", "", " ", "\u200b", "\u200b\u200b", "a b", "a\0b", "-", "'; --"),
        *("x" * 121, "%E2%80%8B", "\N{REPLACEMENT CHARACTER}"),
    ):
        with subtests.test(value), pytest.raises(EntryLinkError):
            read_arrival({name: value})


@pytest.mark.parametrize(
    ("parameters", "platform"),
    [
        ({"PROLIFIC_PID": "p1", "STUDY_ID": "{{%STUDY_ID%}}"}, "PROLIFIC"),
        ({"STUDY_ID": "s1", "SESSION_ID": "x1"}, "PROLIFIC"),
        ({"study_id": "s1"}, "PROLIFIC"),
        ({"PROLIFIC_PID": "p1", "SESSION_ID": "undefined"}, "PROLIFIC"),
        ({"assignmentId": "3XYZ"}, "MTURK"),
        ({"projectId": "j1"}, "CONNECT"),
        ({"assignmentId": "a1", "projectId": "j1"}, "CONNECT"),
        ({"assignmentId": "a1", "hitId": "h1"}, "MTURK"),
        ({"prolific_token": "x"}, "PROLIFIC"),
    ],
    ids=[
        *("half filled in", "Prolific without the person"),
        *("Prolific without the person in another case", "the session not filled in"),
        *("MTurk without the person", "Connect without the person"),
        *("Connect by what it shares with MTurk", "MTurk by what it shares with Connect"),
        "signed, where nothing is",
    ],
)
def test_incomplete_link_is_refused_with_its_platform(parameters, platform):
    with pytest.raises(EntryLinkError) as refused:
        read_arrival(parameters)

    assert refused.value.platform == platform


def test_every_platform_is_one_that_raters_can_have():
    assert {platform for platform, *_ in PLATFORMS} | {Entry().platform} == set(Platform.values)


@pytest.mark.parametrize("platform", FILLED_IN)
def test_a_link_as_it_is_shown_lets_nobody_in(platform):
    with pytest.raises(EntryLinkError) as refused:
        read_arrival(dict(parse_qsl(FILLED_IN[platform])))

    assert refused.value.platform == platform


@pytest.mark.parametrize(
    ("platform", "expected"),
    [
        ("mturk", {"MTURK": f"?{FILLED_IN['MTURK']}"}),
        ("prolific", {"PROLIFIC": f"?{FILLED_IN['PROLIFIC']}"}),
        ("any", {"GUEST": ""} | {name: f"?{link}" for name, link in FILLED_IN.items()}),
    ],
)
def test_a_study_has_the_links_of_those_whom_it_lets_in(platform, expected):
    assert links_for(platform) == expected


HOST = "study.example"
IDS = {"PROLIFIC_PID": "p-17", "STUDY_ID": "s-1", "SESSION_ID": "x-1", "workspace_id": "w-1"}


def new_key():
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


KEY, OTHER = new_key(), new_key()


def key_set(key, kid="k1"):
    known = json.loads(RSAAlgorithm.to_jwk(key.public_key()))
    return {"keys": [known | {"kid": kid, "use": "sig", "alg": "RS256"}]}


@contextmanager
def keys_served(*keys):
    """Serve sets of keys, one after the other, and yield their address."""
    sets = iter(keys)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(next(sets)).encode())

        def log_message(self, *_args):
            pass

    with served(Handler) as port:
        entry_links.keys_at.cache_clear()
        yield f"http://127.0.0.1:{port}/jwks.json"
        entry_links.keys_at.cache_clear()


@pytest.fixture
def keys_url():
    with keys_served(key_set(KEY)) as url:
        yield url


def token(*, key=KEY, kid="k1", algorithm="RS256", **changes):
    claims = {"aud": HOST, "exp": timezone.now() + HOUR, "prolific": IDS} | changes
    kept = {name: value for name, value in claims.items() if value is not None}
    return jwt.encode(kept, key, algorithm=algorithm, headers={"kid": kid})


def read(keys_url, sent, host=HOST, **beside):
    return entry_links.read({"prolific_token": sent} | beside, host=host, keys_url=keys_url)


class TestSignedLink:
    @pytest.mark.parametrize(
        ("audience", "host"),
        [
            (HOST, HOST),
            (f"https://{HOST}", HOST),
            ([HOST], HOST),
            (HOST, f"{HOST}:8443"),
            (f"https://{HOST}:8443", f"{HOST}:8443"),
        ],
    )
    def test_returns_what_was_signed_for_this_site(self, keys_url, audience, host):
        signed = read(keys_url, token(aud=audience), host=host)

        arrival = read_arrival(signed)
        assert (arrival.platform, arrival.external_id) == ("PROLIFIC", "p-17")
        assert arrival.session == {"STUDY_ID": "s-1", "SESSION_ID": "x-1"}

    def test_ids_beside_the_token_count_for_nothing(self, keys_url):
        assert read(keys_url, token(), PROLIFIC_PID="p-18")["PROLIFIC_PID"] == "p-17"

    @pytest.mark.parametrize(
        "sent",
        [
            "",
            "nonsense",
            token(key=OTHER),
            token(kid="k9"),
            token(aud="elsewhere.example"),
            token(aud=None),
            token(exp=timezone.now() - HOUR),
            token(exp=None),
            token(prolific="p-17"),
            token(prolific=None),
            token(key="a shared secret that is long enough for it", algorithm="HS256"),
            jwt.encode({"aud": HOST, "prolific": IDS}, None, algorithm="none"),
            token()[:-8] + "AAAAAAAA",
        ],
        ids=[
            "no token", "nonsense", "another key", "unknown key", "for another site",
            "for no site", "run out", "never runs out", "ids not named", "no ids",
            "another algorithm", "not signed", "signature cut",
        ],
    )  # fmt: skip
    def test_refuses_what_prolific_did_not_sign_for_this_site(self, keys_url, sent):
        with pytest.raises(EntryLinkError) as refused:
            read(keys_url, sent)

        assert refused.value.platform == "PROLIFIC"

    def test_says_so_when_the_keys_cannot_be_read(self):
        with keys_served(key_set(KEY)) as url:
            pass  # nobody listens there any more

        with pytest.raises(entry_links.KeysAwayError):
            read(url, token())

    def test_a_new_key_is_found_without_a_restart(self, monkeypatch):
        monkeypatch.setattr(entry_links, "COOLDOWN_S", 0)
        with keys_served(key_set(KEY), key_set(OTHER, "k2")) as url:
            read(url, token())

            assert read(url, token(key=OTHER, kid="k2"))["SESSION_ID"] == "x-1"

    def test_keys_are_read_once_for_many_links(self):
        with keys_served(key_set(KEY)) as url:
            for _ in range(3):
                assert read(url, token())["PROLIFIC_PID"] == "p-17"
