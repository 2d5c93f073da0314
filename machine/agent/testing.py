"""Assertions on what an agent did, for the tests of those who build one (contract §6).

    def test_the_agent_completes_what_it_is_told(events):
        did = behaviour_of(events)
        did.first_tool("complete_todo", todo_id=3)
        did.no_failed_tool().rounds_at_most(2).ends_in("done")

`events` are those of the loop, or of a log of it. Each assertion returns the same object, so they
can be chained; one that does not hold raises an `AssertionError` that says what was expected and
shows the table of all events, with those that matter marked.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Literal, NoReturn, Self

from doneness.machine.visible import brief, visible

Event = Mapping[str, object]

TEXT_WIDTH_MAX = 60


def behaviour_of(events: Iterable[Event]) -> Behaviour:
    """What the agent did, to be asserted on; the events are read to their end first."""
    return Behaviour(list(events))


class Behaviour:
    """The events of one run, and what can be asserted of them."""

    def __init__(self, events: Sequence[Event]) -> None:
        self.events = events

    def first_tool(self, name: str, /, **arguments: object) -> Self:
        """The first tool that was called is `name`.

        With arguments, it was called with exactly these, compared as JSON: 1 is not true.
        """
        __tracebackhide__ = True
        return self._tool("first", 0, name, arguments)

    def last_tool(self, name: str, /, **arguments: object) -> Self:
        """The last tool that was called is `name`; arguments as in `first_tool`."""
        __tracebackhide__ = True
        return self._tool("last", -1, name, arguments)

    def no_failed_tool(self) -> Self:
        """No tool failed."""
        __tracebackhide__ = True
        failed = [
            place for place in self._places("tool_result") if self.events[place].get("is_error")
        ]
        if failed:
            self._fail(f"expected no failed tool, got {len(failed)}", failed)
        return self

    def rounds_at_most(self, rounds_max: int) -> Self:
        """The model was called at most so often."""
        __tracebackhide__ = True
        rounds = self._places("iteration_start")
        if len(rounds) > rounds_max:
            beyond = rounds[rounds_max:]
            self._fail(f"expected at most {rounds_max} rounds, got {len(rounds)}", beyond)
        return self

    def ends_in(self, end: Literal["done", "error"]) -> Self:
        """The run has exactly one end, its last event, and it is this one."""
        __tracebackhide__ = True
        ends = [*self._places("done"), *self._places("error")]
        kinds = [self.events[place]["type"] for place in ends]
        if kinds != [end]:
            got = " and ".join(map(str, kinds)) if kinds else "no end at all"
            self._fail(f"expected the run to end in {end}, got {got}", ends)
        if ends[0] != len(self.events) - 1:
            after = range(ends[0] + 1, len(self.events))
            self._fail(f"expected {end} to be the last event, but more came after it", after)
        return self

    def no_done_before_the_last_tool_result(self) -> Self:
        """Nothing was called done while a tool was still to return, or to be called."""
        __tracebackhide__ = True
        starts, results = self._places("tool_start"), self._places("tool_result")
        for done in self._places("done"):
            later = [place for place in (*starts, *results) if place > done]
            running = len([place for place in starts if place < done]) - len(results)
            if later or running > 0:
                self._fail("expected no done before the last tool_result", [done, *later])
        return self

    def table(self, marked: Collection[int] = ()) -> str:
        """All events, one a line (texts together), numbered from 1, those in `marked` with `>`."""
        return "\n".join(self._lines(frozenset(marked)))

    def _tool(self, which: str, index: int, name: str, arguments: dict[str, object]) -> Self:
        __tracebackhide__ = True
        wanted = f"expected the {which} tool to be {_call(name, arguments) if arguments else name}"
        starts = self._places("tool_start")
        if not starts:
            self._fail(f"{wanted}, but no tool was called", ())
        place = starts[index]
        event = self.events[place]
        called = event.get("args")
        if event.get("name") != name or (arguments and _json(called) != _json(arguments)):
            self._fail(f"{wanted}, got {_call(str(event.get('name')), called)}", [place])
        return self

    def _places(self, kind: str) -> list[int]:
        return [place for place, event in enumerate(self.events) if event.get("type") == kind]

    def _lines(self, marked: frozenset[int]) -> Iterator[str]:
        def together(numbered: tuple[int, Event]) -> object:
            place, event = numbered
            is_text = event.get("type") == "token" and place not in marked
            return "token" if is_text else place

        width = len(str(len(self.events)))
        for _, group in groupby(enumerate(self.events), together):
            rows = list(group)
            place, event = rows[0]
            mark = ">" if place in marked else " "
            kind = visible(str(event.get("type")), 20)
            yield f"{mark} {place + 1:>{width}}  {kind:<15}  {_detail([row[1] for row in rows])}"

    def _fail(self, what: str, marked: Iterable[int]) -> NoReturn:
        __tracebackhide__ = True
        raise AssertionError(f"{what}\n\n{self.table(frozenset(marked))}")


def _detail(events: Sequence[Event]) -> str:
    event = events[0]
    match event.get("type"):
        case "iteration_start":
            return f"round {brief(event.get('iteration'))}"
        case "token":
            text = "".join(str(each.get("content", "")) for each in events)
            return f'"{visible(text, TEXT_WIDTH_MAX)}"' + _times(len(events))
        case "tool_start":
            return _call(str(event.get("name")), event.get("args"))
        case "tool_result":
            mark = "✗" if event.get("is_error") else "✓"
            output = visible(str(event.get("output")), TEXT_WIDTH_MAX)
            return f"{mark} {visible(str(event.get('name')), 40)}: {output}"
        case _:
            rest = {name: event[name] for name in event if name not in ("type", "ts")}
            return brief(rest) if rest else ""


def _times(count: int) -> str:
    return f" in {count} pieces" if count > 1 else ""


def _call(name: str, arguments: object) -> str:
    if isinstance(arguments, dict):
        named = (f"{visible(str(each), 30)}={brief(arguments[each])}" for each in arguments)
        return f"{visible(name, 40)}({', '.join(named)})"
    return f"{visible(name, 40)}: {brief(arguments)}"


def _json(value: object) -> str:
    return json.dumps(value, sort_keys=True)
