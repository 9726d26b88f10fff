"""Links that Prolific signed, checked against keys of our own."""

import datetime as dt
import json
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from django.utils import timezone
from jwt.algorithms import RSAAlgorithm

from annotation.raters import entry_links
from annotation.raters.entry_links import EntryLinkError, read_arrival

HOST = "study.example"
IDS = {"PROLIFIC_PID": "p-17", "STUDY_ID": "s-1", "SESSION_ID": "x-1", "workspace_id": "w-1"}
HOUR = dt.timedelta(hours=1)


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

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        entry_links.keys_at.cache_clear()
        yield f"http://127.0.0.1:{server.server_port}/jwks.json"
        server.shutdown()
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


class TestRead:
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
