"""What FLUSHALL does to our keys, on a Redis that other tests use at the same time."""

import redis


def flush(redis_url: str, prefix: str) -> None:
    """Take all that begins with the prefix out of Redis, and all scripts."""
    with redis.Redis.from_url(redis_url) as client:
        for key in client.scan_iter(f"{prefix}*"):
            client.delete(key)
        client.script_flush()
