"""Where models of one's own may be asked: on the public internet, or where a setting says so."""

import asyncio
import os
from urllib.parse import urlsplit

from django.conf import settings

from access.webhooks import outgoing
from completions import llm
from completions.llm.errors import CONFIGURATION


def trusted_hosts() -> tuple[str, ...]:
    """Return the hosts of closed networks that models may be asked at."""
    offline = urlsplit(settings.HEART_OFFLINE_LLM_URL).hostname
    return (*settings.HEART_LLM_HOSTS, *([offline] if offline else []))


def address_of(request: llm.Request) -> str:
    """Return the address of one's own that a question goes to; empty for the provider's."""
    return request.api_base or os.environ.get(request.api_base_env, "")


async def check_address(request: llm.Request) -> None:
    """Refuse an address of one's own that leads into a network which the site does not name.

    A name that cannot be looked up is left to the call, which fails for the same reason.

    Raises
    ------
    PermanentError
        If a number behind the host is not a public one, and no setting trusts the host.
    """
    address = urlsplit(address_of(request))
    rules = outgoing.Rules(trusted_hosts=trusted_hosts())
    if not address.hostname or rules.trusts(address.hostname):
        return
    port = address.port or outgoing.PORTS.get(address.scheme, 443)
    try:
        numbers = await asyncio.to_thread(outgoing.resolve, address.hostname, port)
        outgoing.check_ip(address.hostname, numbers, rules)
    except outgoing.AddressError as error:
        msg = f"Not asked: {error}. HEART_LLM_HOSTS names the inner hosts that may be."
        raise llm.PermanentError(msg, kind=CONFIGURATION) from error
    except (OSError, UnicodeError):
        return
