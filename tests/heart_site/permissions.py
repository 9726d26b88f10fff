"""Who may do what at each address: what ``test_permissions_pages.py`` holds to.

To add an address, add a line with its route as ``urlpatterns`` spell it (prefixes joined) and, for
each method that it answers, the least role that is let in: ``anyone``, ``user`` (signed in, no
member), ``analyst``, ``manager``, ``owner``. ``nobody`` stands where a visitor without the right
signature or token is refused whoever they are. A method that is not named is not allowed.
Run ``python -m pytest tests/heart_site/test_permissions_pages.py``: it names each line that is
missing, left over or wrong.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from django.urls import URLPattern, URLResolver, get_resolver

from access.roles import Needs

ROLES = ("anyone", "user", "analyst", "manager", "owner")
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
ONE_RULE = ("admin/",)
"""Prefixes under which one line stands for all addresses."""

TABLE: dict[str, str] = {
    # Django's admin
    "admin/": "GET owner, POST owner, PUT owner, PATCH owner, DELETE owner",
    # Signing in; nobody is asked to confirm who they are with a password that they do not have
    "accounts/": "GET user",
    "accounts/login/": "GET anyone, POST anyone",
    "accounts/logout/": "GET anyone, POST anyone",
    "accounts/code/": "GET user, POST user",
    "accounts/confirm/": "GET nobody, POST nobody",
    "accounts/confirm/code/": "GET nobody, POST nobody",
    "accounts/password/": "GET user, POST user",
    "accounts/password/done/": "GET anyone",
    "accounts/password/(?P<uidb36>[0-9a-z]+)-(?P<key>[0-9A-Za-z-]+)/": "GET anyone, POST anyone",
    "accounts/recovery-codes.txt": "GET user",
    "accounts/recovery-codes/": "GET user",
    "accounts/recovery-codes/new/": "GET user, POST user",
    "accounts/second-factor/add/": "GET user, POST user",
    "accounts/second-factor/remove/": "GET user, POST user",
    "accounts/sessions/": "GET user, POST user",
    "accounts/sso/<slug:provider_id>/": "GET anyone",
    "accounts/sso/<slug:provider_id>/callback/": "GET anyone",
    "accounts/sso/cancelled/": "GET anyone",
    # Open to everybody
    "": "GET anyone",
    "results/": "GET anyone",
    # Raters, by their own session
    "s/<slug:study>/": "GET anyone",
    "s/<slug:study>/consent/": "GET anyone, POST anyone",
    "s/<slug:study>/how/": "GET anyone, POST anyone",
    "s/<slug:study>/questions/": "GET anyone, POST anyone",
    "s/<slug:study>/resume/<str:link>/": "GET anyone",
    "s/<slug:study>/judge/": "GET anyone",
    "s/<slug:study>/judge/<uuid:token>/": "GET anyone, POST nobody",
    "s/<slug:study>/judge/<uuid:token>/next/": "GET nobody",
    "s/<slug:study>/judge/<uuid:token>/skip/": "GET anyone, POST nobody",
    "s/<slug:study>/judge/<uuid:token>/report/": "GET anyone, POST nobody",
    "s/<slug:study>/last/": "GET anyone",
    "s/<slug:study>/help/": "GET anyone",
    "s/<slug:study>/rubric/": "GET anyone",
    "s/<slug:study>/break/": "GET anyone, POST anyone",
    "s/<slug:study>/stop/": "GET anyone, POST anyone",
    "s/<slug:study>/finish/": "GET anyone, POST anyone",
    "s/<slug:study>/withdraw/": "GET anyone, POST anyone",
    "s/<slug:study>/guess/": "GET anyone, POST anyone",
    "s/<slug:study>/done/": "GET anyone",
    # Services that call us; a wrong signature is a 404
    "hooks/prolific/<slug:study>/": "POST anyone",
    # Writers, by their private link: no account of ours is one
    "w/withdraw/": "GET nobody, POST nobody",
    "w/": "GET nobody",
    "w/sent/": "GET nobody",
    "w/i/<str:link>/": "GET anyone, POST anyone",
    "w/consent/": "GET nobody, POST nobody",
    "w/profile/": "GET nobody, POST nobody",
    "w/sign-out/": "GET anyone, POST anyone",
    "w/write/": "GET nobody",
    "w/write/<uuid:token>/": "GET nobody, POST nobody",
    "w/write/<uuid:token>/draft/": "POST nobody",
    "w/write/<uuid:token>/change/": "GET nobody",
    "w/write/<uuid:token>/skip/": "POST nobody",
    "w/pause/": "POST nobody",
    "w/resume/": "POST nobody",
    "w/leave/": "GET nobody, POST nobody",
    "w/help/": "GET anyone",
    # The console
    "console/webhooks/": "GET analyst, POST owner",
    "console/webhooks/<int:pk>/": "GET analyst",
    "console/webhooks/<int:pk>.csv": "GET analyst",
    "console/webhooks/<int:pk>/pause/": "POST owner",
    "console/webhooks/<int:pk>/resume/": "POST owner",
    "console/webhooks/<int:pk>/test/": "POST owner",
    "console/webhooks/<int:pk>/delete/": "POST owner",
    "console/webhooks/<int:pk>/deliveries/<int:delivery>/resend/": "POST owner",
    "console/contexts/": "GET analyst",
    "console/contexts/<slug:dataset>/": "GET analyst",
    "console/contexts/<slug:dataset>/list/": "GET analyst",
    "console/contexts/<slug:dataset>/list/review/": "POST manager",
    "console/contexts/<slug:dataset>/candidates/": "GET analyst",
    "console/contexts/<slug:dataset>/candidates/<int:pk>/": "GET analyst",
    "console/contexts/<slug:dataset>/held/": "GET analyst",
    "console/contexts/<slug:dataset>/held/decide/": "POST manager",
    "console/contexts/<slug:dataset>/held/<int:pk>/": "POST manager",
    "console/contexts/<slug:dataset>/<slug:key>/": "GET analyst",
    "console/contexts/<slug:dataset>/<slug:key>/review/": "POST manager",
    "console/writing/": "GET analyst",
    "console/writing/<slug:dataset>/": "GET analyst",
    "console/writing/<slug:dataset>/invite/": "POST manager",
    "console/writing/<slug:dataset>/link/": "POST manager",
    "console/writing/<slug:dataset>/settings/": "POST manager",
    "console/writing/<slug:dataset>/trial/": "POST manager",
    "console/writing/<slug:dataset>/writers/<slug:code>/": "GET analyst",
    "console/writing/<slug:dataset>/writers/<slug:code>/act/": "POST manager",
    "console/writing/<slug:dataset>/messages/accept/": "POST manager",
    "console/writing/<slug:dataset>/messages/": "GET analyst",
    "console/writing/<slug:dataset>/messages/<int:pk>/": "GET analyst",
    "console/writing/<slug:dataset>/messages/<int:pk>/decide/": "POST manager",
    "console/writing/<slug:dataset>/messages/<int:pk>/author/": "POST owner",
    "console/writing/<slug:dataset>/freeze/": "POST manager",
    "console/writing/<slug:dataset>/import/": "GET analyst, POST manager",
    "console/writing/<slug:dataset>/import/store/": "POST manager",
    "console/writing/<slug:dataset>/import/refused/": "POST manager",
    "console/data/import/": "GET analyst, POST manager",
    "console/data/jobs/": "GET analyst",
    "console/data/jobs/<int:pk>/": "GET analyst",
    "console/data/jobs/<int:pk>/progress/": "GET analyst",
    "console/data/jobs/<int:pk>/confirm/": "POST manager",
    "console/data/jobs/<int:pk>/stop/": "POST manager",
    "console/data/jobs/<int:pk>/retry/": "POST manager",
    "console/data/check/<slug:table>/<slug:slug>/": "POST manager",
    "console/data/<slug:dataset>/<slug:kind>/": "GET analyst, POST manager",
    "console/strategies/": "GET analyst",
    "console/strategies/<slug:dataset>/": "GET analyst",
    "console/strategies/<slug:dataset>/start/": "POST manager",
    "console/strategies/<slug:dataset>/sample/": "POST manager",
    "console/strategies/<slug:dataset>/<int:check>/<int:number>/": "GET analyst",
    "console/strategies/<slug:dataset>/<int:check>/<int:number>/store/": "POST manager",
    "console/strategies/<slug:dataset>/<int:check>/<int:number>/settle/": "GET analyst",
    "console/strategies/<slug:dataset>/<int:check>/<int:number>/settle/store/": "POST manager",
    "console/models/": "GET analyst",
    "console/models/systems.csv": "GET analyst",
    "console/models/sync/": "POST manager",
    "console/models/add/": "GET analyst, POST manager",
    "console/models/systems/<slug:slug>/": "GET analyst, POST manager",
    "console/models/systems/<slug:slug>/retire/": "POST manager",
    "console/models/import/": "GET analyst, POST manager",
    "console/models/import/store/": "POST manager",
    "console/models/import/refused/": "POST manager",
    "console/models/runs/": "GET analyst",
    "console/models/runs.csv": "GET analyst",
    "console/models/runs/new/": "GET analyst",
    "console/models/runs/plan/": "GET analyst",
    "console/models/runs/start/": "POST manager",
    "console/models/runs/<slug:kind>/<int:pk>/": "GET analyst",
    "console/models/runs/<slug:kind>/<int:pk>/progress/": "GET analyst",
    "console/models/runs/<slug:kind>/<int:pk>/failed/": "GET analyst",
    "console/models/runs/<slug:kind>/<int:pk>/pause/": "POST manager",
    "console/models/runs/<slug:kind>/<int:pk>/resume/": "POST manager",
    "console/models/runs/<slug:kind>/<int:pk>/cancel/": "POST manager",
    "console/models/runs/<slug:kind>/<int:pk>/retry/": "POST manager",
    "console/": "GET analyst",
    "console/writing/<slug:dataset>/writers/<slug:code>/withdraw/": "GET analyst, POST owner",
    "console/judges/": "GET analyst",
    "console/judges.csv": "GET analyst",
    "console/judges/sync/": "POST manager",
    "console/search/": "GET analyst",
    "console/new/": "GET manager",
    "console/new/file/": "POST manager",
    "console/new/texts/": "GET manager, POST manager",
    "console/new/texts/make/": "POST manager",
    "console/new/from/<slug:template>/": "GET manager, POST manager",
    "console/new/from/<slug:template>/beside/": "POST manager",
    "console/<slug:study>/protocol/beside/": "POST manager",
    "console/<slug:study>/protocol/": "GET analyst",
    "console/<slug:study>/contexts/": "GET analyst",
    "console/<slug:study>/protocol/edit/": "GET manager, POST manager",
    "console/<slug:study>/protocol/version/": "GET manager, POST manager",
    "console/<slug:study>/protocol.toml": "GET analyst",
    "console/<slug:study>/open/": "POST manager",
    "console/<slug:study>/pause/": "POST manager",
    "console/<slug:study>/close/": "POST manager",
    "console/<slug:study>/": "GET analyst",
    "console/<slug:study>/live/": "GET analyst",
    "console/<slug:study>/lock/": "POST manager",
    "console/<slug:study>/plan/": "GET analyst",
    "console/<slug:study>/extend/": "POST manager",
    "console/<slug:study>/checks/": "GET analyst",
    "console/<slug:study>/checks/mark/": "POST manager",
    "console/<slug:study>/checks/<int:pk>/switch/": "POST manager",
    "console/<slug:study>/judges/": "GET analyst",
    "console/<slug:study>/judges/<slug:key>/": "GET analyst",
    "console/<slug:study>/judge-runs/": "GET analyst",
    "console/<slug:study>/judge-runs.csv": "GET analyst",
    "console/<slug:study>/judge-runs/new/": "GET analyst",
    "console/<slug:study>/judge-runs/plan/": "GET analyst",
    "console/<slug:study>/judge-runs/start/": "POST manager",
    "console/<slug:study>/theme-checks/": "GET analyst",
    "console/<slug:study>/theme-checks/draw/": "POST manager",
    "console/<slug:study>/theme-checks/<int:check>/<int:number>/": "GET analyst",
    "console/<slug:study>/theme-checks/<int:check>/<int:number>/store/": "POST manager",
    "console/<slug:study>/theme-checks/<int:check>/<int:number>/settle/": "GET analyst",
    "console/<slug:study>/theme-checks/<int:check>/<int:number>/settle/store/": "POST manager",
    "console/<slug:study>/themes/": "POST manager",
    "console/<slug:study>/external/compare/": "GET analyst",
    "console/<slug:study>/payments/": "GET manager",
    "console/<slug:study>/payments.csv": "GET manager",
    "console/<slug:study>/payments/mturk.csv": "GET manager",
    "console/<slug:study>/payments/approve/": "POST manager",
    "console/<slug:study>/payments/<int:pk>/reject/": "POST manager",
    "console/<slug:study>/payments/draft/": "POST manager",
    "console/<slug:study>/payments/places/": "POST manager",
    "console/<slug:study>/payments/read/": "POST manager",
    "console/<slug:study>/external/": "GET analyst, POST manager",
    "console/<slug:study>/external/store/": "POST manager",
    "console/<slug:study>/external/<int:pk>/decide/": "POST manager",
    "console/<slug:study>/reports/": "GET analyst",
    "console/<slug:study>/reports/<slug:key>/decide/": "POST manager",
    "console/<slug:study>/raters/": "GET analyst",
    "console/log/": "GET analyst",
    "console/log.csv": "GET analyst",
    "console/<slug:study>/blinding/": "GET analyst",
    "console/<slug:study>/blinding/<int:pk>/": "GET analyst",
    "console/<slug:study>/blinding/progress/": "GET analyst",
    "console/<slug:study>/blinding/start/": "POST manager",
    "console/<slug:study>/log/": "GET analyst",
    "console/<slug:study>/log.csv": "GET analyst",
    "console/<slug:study>/measure-raters/": "POST manager",
    "console/<slug:study>/raters/<slug:code>/answers/": "GET analyst",
    "console/<slug:study>/raters/<slug:code>/answers.csv": "GET analyst",
    "console/<slug:study>/review/moves/": "GET analyst",
    "console/<slug:study>/raters.csv": "GET analyst",
    "console/<slug:study>/raters/<slug:code>/": "GET analyst",
    "console/<slug:study>/raters/<slug:code>/exclude/": "POST manager",
    "console/<slug:study>/raters/<slug:code>/reinstate/": "POST manager",
    "console/<slug:study>/completions/": "GET analyst",
    "console/<slug:study>/completions.csv": "GET analyst",
    "console/<slug:study>/completions/retry/": "POST manager",
    "console/<slug:study>/completions/<slug:context>/<slug:system>/": "GET analyst",
    "console/<slug:study>/comparisons/": "GET analyst",
    "console/<slug:study>/comparisons.csv": "GET analyst",
    "console/<slug:study>/judgments/": "GET analyst",
    "console/<slug:study>/judgments.csv": "GET analyst",
    "console/<slug:study>/ratings/": "GET analyst",
    "console/<slug:study>/ratings/refit/": "POST manager",
    "console/<slug:study>/ratings/<slug:key>/publish/": "GET owner, POST owner",
    "console/<slug:study>/ratings/<slug:key>/unpublish/": "POST owner",
    "console/<slug:study>/exports/": "GET analyst",
    "console/<slug:study>/exports/dictionary.<slug:form>": "GET analyst",
    "console/<slug:study>/exports/<slug:name>.<slug:form>": "GET analyst",
    "console/<slug:study>/planner/": "GET analyst",
    "console/<slug:study>/planner.csv": "GET analyst",
    "console/<slug:study>/release/": "GET analyst",
    "console/<slug:study>/release/build/": "POST manager",
    "console/<slug:study>/release/<slug:key>.zip": "GET analyst",
    "console/<slug:study>/release/<slug:key>/publish/": "POST owner",
    "console/<slug:study>/release/<slug:key>/unpublish/": "POST owner",
    "console/<slug:study>/review/": "GET analyst, POST manager",
    # Results
    "results/<slug:study>/": "GET anyone",
    "results/<slug:study>/fits/": "GET anyone",
    "results/<slug:study>/history/": "GET anyone",
    "results/<slug:study>/history.csv": "GET anyone",
    "results/<slug:study>/verdicts/": "GET anyone",
    "results/<slug:study>/verdicts.csv": "GET anyone",
    "results/<slug:study>/releases/<slug:key>.zip": "GET anyone",
    "results/<slug:study>/fits/<slug:key>/": "GET anyone",
    "results/<slug:study>/fits/<slug:key>/ratings.csv": "GET anyone",
    "results/<slug:study>/fits/<slug:key>/ratings.json": "GET anyone",
    "results/<slug:study>/fits/<slug:key>/ratings.<slug:form>": "GET anyone",
    "results/<slug:study>/fits/<slug:key>/weights/": "GET anyone",
    "results/<slug:study>/fits/<slug:key>/weights/weighted.csv": "GET anyone",
    "results/<slug:study>/fits/<slug:key>/weights/weighted.json": "GET anyone",
    "results/<slug:study>/fits/<slug:key>/<slug:kind>/": "GET anyone",
    "results/<slug:study>/fits/<slug:key>/<slug:kind>/findings.json": "GET anyone",
    "results/<slug:study>/fits/<slug:key>/<slug:kind>/<slug:table>.csv": "GET anyone",
    "results/<slug:study>/fits/<slug:key>/<slug:kind>/<slug:table>.<slug:form>": "GET anyone",
    # The console
    "console/backups/": "GET owner",
    "console/backups/make/": "POST owner",
    "console/backups/<str:name>/try/": "POST owner",
    "console/people/": "GET owner, POST owner",
    "console/people/retention/": "GET owner",
    "console/people/retention.csv": "GET owner",
    "console/people/<slug:code>/": "GET owner, POST owner",
    "console/people/<slug:code>/unbind/": "POST owner",
    "console/<slug:study>/personal-data/": "GET analyst",
    "console/<slug:study>/personal-data.csv": "GET analyst",
    "console/<slug:study>/personal-data/<int:pk>/": "GET analyst, POST manager",
    "console/studies/<slug:study>/judgments.csv": "GET analyst",
    "console/studies/<slug:study>/ensemble.csv": "GET analyst",
    "console/members/": "GET owner, POST owner",
    "console/members/all.csv": "GET owner",
    "console/members/<int:pk>/": "GET owner",
    "console/members/<int:pk>/link/": "POST owner",
    "console/members/<int:pk>/remove/": "POST owner",
    "console/members/<int:pk>/role/": "POST owner",
    "console/members/<int:pk>/second-factor/": "POST owner",
    "console/tokens/": "GET owner, POST owner",
    "console/tokens/all.csv": "GET owner",
    "console/tokens/<int:pk>/revoke/": "POST owner",
    # The API
    "api/v1/completions/": "GET analyst, POST nobody",
    "api/v1/contexts/": "GET analyst",
    "api/v1/contexts/<slug:key>/": "GET analyst",
    "api/v1/studies/": "GET anyone",
    "api/v1/studies/<slug:study>/": "GET anyone",
    "api/v1/studies/<slug:study>/comparisons/": "GET analyst",
    "api/v1/studies/<slug:study>/external-judgments/": "GET analyst, POST nobody",
    "api/v1/studies/<slug:study>/fits/": "GET anyone",
    "api/v1/studies/<slug:study>/judgments/": "GET analyst",
    "api/v1/systems/": "GET analyst",
    "api/v1/systems/<slug:slug>/": "GET analyst",
    "api/v1/docs/": "GET anyone",
    "api/v1/problems/": "GET anyone",
    "api/v1/schema/": "GET anyone",
    "api/v1/studies/<slug:study>/ratings/": "GET anyone",
    "api/v1/studies/<slug:study>/fits/<slug:key>/": "GET anyone",
    "api/v1/studies/<slug:study>/fits/<slug:key>/analyses/": "GET anyone",
    "api/v1/studies/<slug:study>/fits/<slug:key>/analyses/<slug:kind>/": "GET anyone",
    "api/v1/studies/<slug:study>/releases/": "GET anyone",
    "api/v1/studies/<slug:study>/releases/<slug:release>/": "GET anyone",
    "api/v1/studies/<slug:study>/releases/<slug:release>/archive/": "GET anyone",
    "api/v1/studies/<slug:study>/releases/<slug:release>/files/<path:path>": "GET anyone",
    # Open to everybody
    "healthz": "GET anyone",
    "readyz": "GET anyone",
    "metrics": "GET anyone",
}

EXAMPLES = {"study": "demo", "dataset": "demo", "form": "svg", "template": "heart-preference"}
OF_A_KIND = {"int": "1", "uuid": "00000000-0000-4000-8000-000000000000"}


class Address(NamedTuple):
    """A route of the configuration, and one address that it answers."""

    route: str
    example: str
    needs: Needs | None


def addresses() -> Iterator[Address]:
    """Yield every route that the site answers, and each of the prefixes of one rule once."""
    for prefix in ONE_RULE:
        yield Address(prefix, f"/{prefix}", None)
    for route, pattern in _walk(get_resolver(), ""):
        if not route.startswith(ONE_RULE):
            yield Address(route, "/" + _filled(route), getattr(pattern.callback, "needs", None))


def _walk(resolver: URLResolver, prefix: str) -> Iterator[tuple[str, URLPattern]]:
    for one in resolver.url_patterns:
        route = prefix + str(one.pattern).removeprefix("^").removesuffix("$")
        if isinstance(one, URLResolver):
            yield from _walk(one, route)
        else:
            yield route, one


def _filled(route: str) -> str:
    def of(match: re.Match[str]) -> str:
        return EXAMPLES.get(match[2]) or OF_A_KIND.get(match[1] or "", "x1")

    named = re.sub(r"\(\?P<(\w+)>(?:[^()\[]|\[[^\]]*\])*\)", r"<\1>", route)
    plain = re.sub(r"<(?:(\w+):)?(\w+)>", of, named)
    return plain.replace("/?", "/").replace("\\", "")


def rule(route: str) -> dict[str, str]:
    """Return the least role of each method that an address answers."""
    return dict(part.split() for part in TABLE[route].split(", ") if part)
