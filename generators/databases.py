"""Where Hypothesis remembers failing examples: nowhere, in a folder, or in a shared Redis."""

from __future__ import annotations

from pathlib import Path

from hypothesis.database import DirectoryBasedExampleDatabase, ExampleDatabase

_REDIS = ("redis://", "rediss://", "unix://")


class DatabaseError(ValueError):
    """The example database that was named cannot be used."""


def database_at(place: str | None) -> ExampleDatabase | None:
    """The example database at a place: None, a folder, or the address of a Redis server.

    Raises:
        DatabaseError: the Redis client is not installed, or no server answers there.
    """
    if place is None:
        return None
    if not place.startswith(_REDIS):
        return DirectoryBasedExampleDatabase(Path(place))
    try:
        from hypothesis.extra.redis import RedisExampleDatabase
        from redis import Redis
        from redis.exceptions import RedisError
    except ImportError:
        raise DatabaseError(
            f"{place}: the Redis client is missing; install doneness[redis]"
        ) from None
    server = Redis.from_url(place)
    try:
        server.ping()
    except RedisError as error:
        raise DatabaseError(f"{place}: expected a Redis server that answers: {error}") from None
    return RedisExampleDatabase(server)
