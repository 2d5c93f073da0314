"""Five wrong ways to frame, each of which must fail (contract §5): they show that the cases bite.

Each is what somebody writes first; none is used for anything else.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final, NamedTuple


class _Event(NamedTuple):
    event: str
    data: str
    id: str


class _ByText:
    """Splits decoded text into blocks; the strategies change one step each."""

    def __init__(self) -> None:
        self._bytes = b""

    def feed(self, chunk: bytes) -> list[_Event]:
        self._bytes += self._checked(chunk)
        return []

    def finish(self) -> list[_Event]:
        text = self._bytes.decode("utf-8").removeprefix("\ufeff")
        *blocks, rest = self._blocks(text)
        blocks += self._last(rest)
        found = []
        for block in blocks:
            data = [value for name, value in map(_field, block.split("\n")) if name == "data"]
            if self._counts(data):
                found.append(_Event("message", "\n".join(data), ""))
        return found

    def _checked(self, chunk: bytes) -> bytes:
        return chunk

    def _blocks(self, text: str) -> list[str]:
        return text.replace("\r\n", "\n").replace("\r", "\n").split("\n\n")

    def _last(self, rest: str) -> list[str]:  # noqa: ARG002 # a step that others change
        return []

    def _counts(self, data: list[str]) -> bool:
        return bool(data)


class EachChunkAlone(_ByText):
    """Decodes each chunk alone."""

    def _checked(self, chunk: bytes) -> bytes:
        return chunk.decode("utf-8").encode()


class LfLfOnly(_ByText):
    """Splits at LF LF only."""

    def _blocks(self, text: str) -> list[str]:
        return text.split("\n\n")


class BlankLineAtEof(_ByText):
    """Adds a blank line at EOF."""

    def _last(self, rest: str) -> list[str]:
        return [rest]


class NoBlankPayloads(_ByText):
    """Drops blank payloads."""

    def _counts(self, data: list[str]) -> bool:
        return bool("\n".join(data).strip())


class EveryBlockJson(_ByText):
    """Parses every block as JSON."""

    def _counts(self, data: list[str]) -> bool:
        json.loads("\n".join(data))
        return True


def _field(line: str) -> tuple[str, str]:
    name, _, value = line.partition(":")
    return name, value.removeprefix(" ")


STRATEGIES: Final[dict[type[_ByText], tuple[str, str]]] = {
    EachChunkAlone: ("unicode_multiline_crlf", "error"),
    LfLfOnly: ("cr_only", "events"),
    BlankLineAtEof: ("json_without_final_blank", "events"),
    NoBlankPayloads: ("empty_data_is_event", "events"),
    EveryBlockJson: ("meta_only_then_data", "error"),
}
"""Each with the case that it fails on, and how."""


def outcome(factory: Callable[[], Any], chunks: list[bytes]) -> tuple[str, list[tuple[str, ...]]]:
    """`events` and the data of each, or `error`."""
    decoder = factory()
    try:
        found = [event for chunk in chunks for event in decoder.feed(chunk)]
        found += decoder.finish()
    except ValueError:
        return "error", []
    return "events", [(event.data,) for event in found]
