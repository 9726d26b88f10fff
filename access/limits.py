"""How often strangers may do something: counts a minute, in the cache that all processes share.

A cache that is away counts nothing: people come in all the same, and the log says so.
"""

import ipaddress
import logging

from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest
from django.utils import timezone

MINUTE = 60
ONE_SUBSCRIBER = 64
"""Bits of an address of version six that belong to one line; the rest its owner makes up."""

logger = logging.getLogger(__name__)


def wait_for_room(what: str, who: str, *, most: int) -> int | None:
    """Count one more of something for somebody; return how long to wait if it was too much.

    A window begins with each full minute; the wait is the seconds that it still lasts.
    """
    now = timezone.now().timestamp()
    key = f"limit:{what}:{who}:{int(now // MINUTE)}"
    try:
        cache.add(key, 0, timeout=2 * MINUTE)
        is_within = cache.incr(key) <= most
    except ValueError:  # the cache dropped it in between: count from here
        return None
    except _away():
        logger.warning("limits are not counted: the cache does not answer")
        return None
    return None if is_within else MINUTE - int(now % MINUTE)


def seconds_to_wait(request: HttpRequest, what: str, *, most: int) -> int | None:
    """Count something for a visitor's address; return how long to wait if it was too much."""
    return wait_for_room(what, address_of(request), most=most)


def address_of(request: HttpRequest) -> str:
    """Return the address that a visitor comes from, of version six the part of their line.

    What a proxy adds is believed of as many proxies as the site stands behind, and of no others.
    """
    given: str = request.META.get("REMOTE_ADDR", "")
    if n_proxies := settings.ALLAUTH_TRUSTED_PROXY_COUNT:
        named = request.headers.get("X-Forwarded-For", "").split(",")
        given = named[-min(n_proxies, len(named))].strip() or given
    try:
        address = ipaddress.ip_address(given)
    except ValueError:
        return "unknown"
    if not isinstance(address, ipaddress.IPv6Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((address, ONE_SUBSCRIBER), strict=False).network_address)


def _away() -> type[Exception]:
    """Return the error of a cache that does not answer; what raises it has loaded it by then."""
    from redis.exceptions import RedisError  # noqa: PLC0415 (loaded only with such a cache)

    return RedisError
