"""Which case a person means."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path

from doneness.diagrams.commands.output import Trouble
from doneness.fixtures.cases import Case, CaseError, every, load


def chosen_case(case: str) -> Case:
    """The case of a name, or the one in a file; `FILE#NAME` picks one of several.

    Raises:
        Trouble: there is no such case, or the file is wrong.
    """
    file, _, inside = case.partition("#")
    looks_like_file = Path(file).exists() or file.endswith(".json")
    try:
        found = load(Path(file)) if looks_like_file else list(every())
    except CaseError as error:
        told = str(error)
        if file.endswith(".jsonl"):
            told += "; a case is wanted here: `doneness replay` shows a log"
        raise Trouble(told) from error
    name = inside if looks_like_file else case
    named = [one for one in found if one.name == name] if name else found
    if len(named) == 1:
        return named[0]
    names = [one.name for one in found]
    if looks_like_file and not name:
        shown = ", ".join(names[:10])
        raise Trouble(f"{file} holds {len(found)} cases: choose one with {file}#NAME, of {shown}")
    close = get_close_matches(name, names, 3) or names[:3]
    raise Trouble(f"no case is called {name!r}; there is {', '.join(close)}, for example")
