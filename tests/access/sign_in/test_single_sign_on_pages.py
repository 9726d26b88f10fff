"""Single sign-on, with a provider that answers as OpenID Connect says."""

import json
import time
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

import jwt
import pytest
import requests
from allauth.mfa.totp.internal.auth import TOTP
from allauth.socialaccount.models import SocialAccount
from allauth.socialaccount.providers import registry
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from django.contrib.auth.models import User
from django.core.exceptions import ImproperlyConfigured
from django.test import Client

from access.sign_in.adapters import SingleSignOnAdapter
from heart_site.security_settings import providers
from tests.helpers.factories_written_once import make_member, make_user
from tests.helpers.pages import text

pytestmark = pytest.mark.django_db

SIGN_IN, START = "/accounts/login/", "/accounts/sso/sso/"
ISSUER = "https://login.lab.example"
GIVEN = {"issuer": ISSUER, "client_id": "heart", "secret": "s" * 40, "name": "Lab login"}


@dataclass
class Provider:
    """Answers of a provider to this site; ``claims`` says who signed in there."""

    claims: dict[str, Any] = field(
        default_factory=lambda: {"sub": "1", "email": "Ada@lab.example", "email_verified": True}
    )
    token: dict[str, Any] = field(default_factory=dict)
    asked: list[dict[str, Any]] = field(default_factory=list)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        return None

    def get(self, url: str, **_options: object) -> requests.Response:
        if url.endswith("/userinfo"):
            return answer(self.claims)
        assert url == f"{ISSUER}/.well-known/openid-configuration"
        ways = {"authorization": "authorize", "token": "token", "userinfo": "userinfo"}
        found = {f"{name}_endpoint": f"{ISSUER}/{path}" for name, path in ways.items()}
        return answer(found | {"issuer": ISSUER, "jwks_uri": f"{ISSUER}/keys"})

    def request(self, _method: str, url: str, **options: Any) -> requests.Response:
        assert url == f"{ISSUER}/token"
        self.asked.append(options["data"])
        now = int(time.time())
        claims = {"iss": ISSUER, "aud": "heart", "exp": now + 60, "iat": now} | self.token
        signed = jwt.encode(self.claims | claims, "k" * 32, algorithm="HS256")
        return answer({"access_token": "t", "token_type": "Bearer", "id_token": signed})


def answer(content: dict[str, Any]) -> requests.Response:
    response = requests.Response()
    response.status_code = 200
    response.headers["content-type"] = "application/json"
    response._content = json.dumps(content).encode()
    return response


@pytest.fixture
def provider(settings, monkeypatch) -> Provider:
    settings.SOCIALACCOUNT_PROVIDERS = providers(**GIVEN)
    monkeypatch.setitem(registry.provider_map, OpenIDConnectProvider.id, OpenIDConnectProvider)
    settings.HEART_SECOND_FACTOR = "off"
    fake = Provider()
    monkeypatch.setattr(SingleSignOnAdapter, "get_requests_session", lambda _adapter: fake)
    return fake


@pytest.fixture
def ada() -> User:
    user = make_member("ada")
    user.email = "ada@lab.example"
    user.set_password("four plain words here")
    user.save()
    return user


def come_back(client, *, query="", code="c"):
    """Go to the provider and come back with a code, as a browser does."""
    left = client.get(START + query)
    asked = parse_qs(urlsplit(left["Location"]).query)
    assert left["Location"].startswith(f"{ISSUER}/authorize?")
    assert asked["code_challenge_method"] == ["S256"]
    return client.get(f"{START}callback/", {"code": code, "state": asked["state"][0]})


class TestWithoutAProvider:
    def test_there_is_no_trace_of_it(self, client):
        assert "Sign in with" not in text(client.get(SIGN_IN))
        assert client.get(START).status_code == 404

    @pytest.mark.parametrize("fault", [{"client_id": ""}, {"issuer": "http://login.lab.example"}])
    def test_half_a_provider_stops_the_start(self, fault):
        with pytest.raises(ImproperlyConfigured):
            providers(**GIVEN | fault)


class TestWithAProvider:
    def test_a_member_gets_in_by_a_verified_address(self, client, provider, ada):
        assert "Sign in with Lab login" in text(client.get(SIGN_IN))

        answer = come_back(client, query="?next=/console/members/")

        assert answer["Location"] == "/console/members/"
        assert client.get("/console/").wsgi_request.user == ada
        assert {"code", "client_secret", "code_verifier"} <= provider.asked[0].keys()
        assert not SocialAccount.objects.exists()
        assert User.objects.get(pk=ada.pk).has_usable_password()

    @pytest.mark.parametrize(
        "claims",
        [
            {"email": "eve@lab.example"},
            {"email": ""},
            {"email_verified": False},
            {"email_verified": "false"},
        ],
    )
    def test_nobody_else_does(self, claims, client, provider, ada):
        make_user(username="eve", email="eve@lab.example")
        provider.claims |= claims

        answer = come_back(client)

        assert answer.status_code == 403
        assert "You are not a member here" in text(answer)
        assert client.get("/console/").status_code == 302
        assert User.objects.count() == 2

    @pytest.mark.parametrize("token", [{"aud": "another"}, {"iss": "https://x"}, {"exp": 1}])
    def test_a_token_for_somebody_else_is_refused(self, token, client, provider, ada):
        provider.token = token

        assert come_back(client).status_code == 401
        assert client.get("/console/").status_code == 302

    def test_an_answer_to_another_browser_is_refused(self, client, provider, ada):
        other = Client()
        state = parse_qs(urlsplit(other.get(START)["Location"]).query)["state"][0]

        answer = client.get(f"{START}callback/", {"code": "c", "state": state})

        assert "did not work" in text(answer)
        assert client.get("/console/").status_code == 302

    def test_no_account_is_joined_to_another(self, client, provider, ada):
        client.force_login(make_member("olga"))

        come_back(client, query="?process=connect")

        assert not SocialAccount.objects.exists()
        assert client.get("/console/").wsgi_request.user == ada

    def test_the_second_factor_is_asked_for_as_well(self, client, provider, ada):
        TOTP.activate(ada, "JBSWY3DPEHPK3PXP")

        assert come_back(client)["Location"] == "/accounts/code/"

    def test_a_provider_that_is_down_is_told_of(self, client, provider, monkeypatch):
        def fail(*_arguments: object, **_options: object) -> None:
            raise requests.ConnectionError

        monkeypatch.setattr(provider, "get", fail)

        answer = client.get(START)

        assert answer.status_code == 503
        assert "did not work" in text(answer)
