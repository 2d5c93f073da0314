"""Acceptance: the application's own verdict on a result (contract §4).

The verdict is bound to the very text that was judged by the SHA-256 of its UTF-8 bytes. That
binds; it authenticates nobody.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Final, TypedDict

from doneness.machine.reducer import Progress
from doneness.spec.vocabulary import Outcome

EXAMPLE: Final = "合成巡检：已检查 2 项"
"""The one text that the built-in example accepts."""


class NoSuccessError(ValueError):
    """There is no succeeded result to judge."""


class Verdict(TypedDict):
    """The payload of `app.checked`."""

    digest: str
    ok: bool


def digest_of(final_text: str) -> str:
    """The lower-case hex SHA-256 of the UTF-8 bytes of `final_text`."""
    return sha256(final_text.encode()).hexdigest()


def acceptance(progress: Progress, expected: str = EXAMPLE) -> Verdict:
    """Judge a succeeded run: accepted is exactly the text `expected`.

    Raises:
        NoSuccessError: the run did not end as succeeded, so there is nothing to accept.
    """
    final_text = progress.final_text
    if progress.terminal is not Outcome.SUCCEEDED or final_text is None:
        raise NoSuccessError(
            f"run {progress.run!r} has no success to judge (terminal: {progress.terminal}, "
            f"status: {progress.status}); ask after run.ended/succeeded was accepted"
        )
    return {"digest": digest_of(final_text), "ok": final_text == expected}
