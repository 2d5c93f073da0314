"""Errors that the person at the terminal can mend: one clear line, exit status 2."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click


class BadInputError(click.ClickException):
    """What, where, what was expected, what to do; no traceback."""

    exit_code = 2


@contextmanager
def needs(extras: str) -> Iterator[None]:
    """Around imports of packages that come with an extra of the project."""
    try:
        yield
    except ImportError as error:
        wanted = f"install them with: pip install 'doneness[{extras}]'"
        raise BadInputError(f"packages are missing ({error.name}); {wanted}") from error
