"""Where a picture goes, and in which form: shared by the subcommands that draw."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click

from doneness.diagrams import engine
from doneness.diagrams.theme import THEMES, Theme

FORMATS: Final = ("svg", "png", "dot", "mermaid")
SUFFIXES: Final = {
    ".svg": "svg",
    ".png": "png",
    ".dot": "dot",
    ".gv": "dot",
    ".mmd": "mermaid",
    ".mermaid": "mermaid",
}


class Trouble(click.ClickException):
    """Something that the caller can put right; exit status 2, one line, no traceback."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class Sources:
    """What can be drawn: the words of each renderer, asked for when they are needed.

    Attributes:
        dot: DOT on a page of a theme; None where the picture is not a graph.
        svg: SVG that needs no engine, where the picture is not a graph.
    """

    mermaid: Callable[[], str]
    dot: Callable[[Theme], str] | None = None
    svg: Callable[[Theme], str] | None = None


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes pictures in the form, to the place and by the engine that the caller chose."""

    form: str | None
    theme: Theme
    engine: str | None
    output: Path | None

    def is_one_file(self) -> bool:
        """Whether the output is a file, going by its name."""
        return self.output is not None and self.output.suffix in SUFFIXES

    def write(self, sources: Sources, name: str = "picture") -> None:
        """Write one picture to the output file, or to standard output.

        In a folder that exists, it gets `name`.
        """
        form = self.form or self._form_of_output()
        if form is None and sources.dot is not None and engine.available() is None:
            click.echo(engine.HELP, err=True)
            form = "dot"
        content = self.content(sources, form or "svg")
        if self.output is not None:
            self._save(self._file(name, form or "svg"), content)
        elif form == "png" and sys.stdout.isatty():
            raise Trouble("a PNG is no text for a terminal: name a file with --output")
        else:
            click.echo(content, nl=False)

    def content(self, sources: Sources, form: str) -> bytes:
        """The picture in one form."""
        if form == "mermaid":
            return sources.mermaid().encode()
        if sources.svg is not None:
            if form != "svg":
                raise Trouble(f"this picture comes as svg or mermaid, not as {form}")
            return sources.svg(self.theme).encode()
        if sources.dot is None:
            raise Trouble(f"this picture does not come as {form}")
        source = sources.dot(self.theme)
        if form == "dot":
            return source.encode()
        try:
            return engine.picture(source, form, self.engine)
        except (engine.NoEngineError, engine.EngineFailedError) as error:
            raise Trouble(str(error)) from error

    def write_all(self, pictures: dict[str, Sources]) -> None:
        """Write several pictures into a folder, or their texts to standard output."""
        if self.output is None:
            if self.form not in {"dot", "mermaid"}:
                raise Trouble(
                    "several pictures do not fit in one output: name a machine, or a folder "
                    "with --output"
                )
            for sources in pictures.values():
                click.echo(self.content(sources, self.form), nl=False)
            return
        for name, sources in pictures.items():
            for form in self._forms():
                suffix = {"mermaid": "mmd"}.get(form, form)
                self._save(self.output / f"{name}.{suffix}", self.content(sources, form))

    def _forms(self) -> tuple[str, ...]:
        if self.form is not None:
            return (self.form,)
        if engine.available() is None:
            click.echo(engine.HELP, err=True)
            return ("dot", "mermaid")
        return ("svg", "dot", "mermaid")

    def _form_of_output(self) -> str | None:
        if self.output is None or self.output.is_dir():
            return None
        form = SUFFIXES.get(self.output.suffix)
        if form is None:
            raise Trouble(
                f"cannot tell the form of {self.output} from its name: end it in "
                f"{', '.join(SUFFIXES)}, or say --format"
            )
        return form

    def _file(self, name: str, form: str) -> Path:
        assert self.output is not None  # asked for by `write` alone
        if not self.output.is_dir():
            return self.output
        plain = re.sub(r"[^\w-]+", "_", name)
        return self.output / f"{plain}.{ {'mermaid': 'mmd'}.get(form, form) }"

    def _save(self, path: Path, content: bytes) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        except OSError as error:
            raise Trouble(f"cannot write {path}: {error.strerror}") from error
        click.echo(str(path), err=True)


def writing(*forms: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The options of a command that draws in these forms; it is called with `writer`."""
    return lambda function: _writing(function, forms)


def _writing(function: Callable[..., Any], forms: tuple[str, ...]) -> Callable[..., Any]:
    def with_writer(
        *arguments: object,
        form: str | None,
        theme: str,
        output: Path | None,
        engine_name: str | None = None,
        **others: object,
    ) -> object:
        writer = Writer(form, THEMES[theme], engine_name, output)
        return function(*arguments, writer=writer, **others)

    with_writer.__doc__ = function.__doc__
    options = [
        click.option(
            "--format",
            "form",
            type=click.Choice(forms),
            help="Default: as the output's name ends, else svg.",
        ),
        click.option(
            "--theme", type=click.Choice(sorted(THEMES)), default="light", show_default=True
        ),
        click.option(
            "-o",
            "--output",
            type=click.Path(path_type=Path),
            help="A file, or a folder to put it in. Default: standard output.",
        ),
    ]
    if "dot" in forms:
        options.insert(
            2,
            click.option(
                "--engine",
                "engine_name",
                type=click.Choice(sorted(engine.ENGINES)),
                help="Who draws SVG and PNG; default: a real dot, else graphviz-pure.",
            ),
        )
    for option in reversed(options):
        with_writer = option(with_writer)
    return with_writer
