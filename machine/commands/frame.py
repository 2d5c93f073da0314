"""`doneness frame`: what a capture of an event stream frames, one JSON object a line.

Events first, each as soon as it is complete; then the last id, `retry`, and what was left
unfinished. With `--chunks` the capture is fed in pieces, to show that nothing changes.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from random import Random
from typing import IO, Any

import click

from doneness.machine.framing import Comment, Event, FramingError, SSEDecoder

_READ_BYTES = 64 * 1024
_RANDOM_BYTES_MAX = 64


class Chunks(click.ParamType):  # type: ignore[type-arg] # not generic at run time in click 8.2
    """`SIZE` or `random:SEED`: how many bytes the next chunk has."""

    name = "SIZE | random:SEED"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Callable[[], int]:
        """A function that gives the length of each next chunk."""
        if callable(value):
            return value  # type: ignore[no-any-return] # converted before
        found = re.fullmatch(r"(random:)?([0-9]{1,18})", value, re.IGNORECASE)
        if found and found[1]:
            random = Random(int(found[2]))  # noqa: S311 # repeatable, not secret
            return lambda: random.randint(0, _RANDOM_BYTES_MAX)
        if found and int(found[2]):
            size = int(found[2])
            return lambda: size
        expected = "a number of bytes from 1, or random:SEED as in random:7"
        raise click.BadParameter(f"expected {expected}; got {value!r}", ctx, param)


@click.command("frame")
@click.argument("file", type=click.File("rb", lazy=False), default="-")
@click.option("--chunks", type=Chunks(), help="Feed it so many bytes at a time, or random ones.")
@click.option(
    "--errors",
    type=click.Choice(["strict", "replace"]),
    default="strict",
    show_default=True,
    help="What becomes of bytes that are not UTF-8: an error, or U+FFFD as in browsers.",
)
@click.option("--comments", is_flag=True, help="Print comments (heartbeats) too.")
def command(file: IO[bytes], chunks: Callable[[], int] | None, errors: Any, comments: bool) -> None:
    """Print what FILE, a captured event stream, frames; `-` is standard input."""
    name = getattr(file, "name", "standard input")
    decoder = SSEDecoder(errors, comments=comments)
    wrong = None
    try:
        for chunk in _cut(file, chunks):
            for item in decoder.feed(chunk):
                _print(_members(item))
        decoder.finish()
    except FramingError as error:
        wrong = error
    except OSError as error:
        raise click.ClickException(f"{name}: {error.strerror or error}") from None
    _print({"last_event_id": decoder.last_event_id, "retry_ms": decoder.retry_ms, **_left(decoder)})
    if wrong is not None:
        told = str(wrong).replace("errors='replace'", "--errors replace")  # as it is spelt here
        click.echo(f"Error: {name}: {told}", err=True)
        sys.exit(2)


def _cut(file: IO[bytes], chunks: Callable[[], int] | None) -> Iterator[bytes]:
    """The file as it arrives, or in the chunks that were asked for."""
    read = getattr(file, "read1", file.read)
    if chunks is None:
        while chunk := read(_READ_BYTES):
            yield chunk
        return
    content = file.read()
    at = 0
    while at < len(content):
        size = chunks()
        yield content[at : at + size]
        at += size


def _members(item: Event | Comment) -> dict[str, str]:
    if isinstance(item, Comment):
        return {"comment": item.comment}
    return {"event": item.event, "data": item.data, "id": item.id}


def _left(decoder: SSEDecoder[Any]) -> dict[str, Any]:
    left = decoder.unfinished
    if left is None:
        return {"unfinished": None}
    members = {
        "line": left.line.decode("utf-8", "replace"),
        "data": list(left.data),
        "event": left.event,
        "id": left.id,
    }
    return {"unfinished": members}


def _print(members: dict[str, Any]) -> None:
    # ASCII only: whatever the locale, and no control character reaches a terminal.
    click.echo(json.dumps(members, ensure_ascii=True).replace("\x7f", "\\u007f"))
