"""The lint finds every kind of mistake that it is there for, and none in the real tables."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from doneness.generators.checks import declaration as checks
from doneness.generators.checks.declaration import (
    cells,
    declarations,
    differences_from_machine,
    lint,
)
from doneness.generators.oracle import ROWS
from doneness.spec.lifecycle import LIFECYCLE
from doneness.spec.table import STAYS, Declaration, Row, State, first_that_holds
from doneness.spec.vocabulary import Issue, Status

NO = Issue.BAD_PAYLOAD_OR_TRANSITION

SOUND = Declaration(
    name="door",
    title="A door",
    states=(
        State("open", "live", "one can pass"),
        State("shut", "live", "one cannot"),
        State("locked", "ended", "for good", final=True),
    ),
    initial="open",
    triggers=("push", "turn"),
    rows=(
        Row(("push",), ("open",), "shut", effects=("bang",), why="hinges"),
        Row(("push",), ("shut", "locked"), STAYS, why="hinges"),
        Row(("turn",), ("shut",), "locked", ("key", "not jammed"), why="lock"),
        Row(("turn",), ("shut",), refused=NO, otherwise=True, why="lock"),
        Row(("turn",), ("open", "locked"), refused=NO, why="lock"),
    ),
    facts={"key": "there is a key", "jammed": "the lock is jammed"},
    effects={"bang": "it bangs"},
    main_line=("open", "shut", "locked"),
)


def with_row(place: int, **changes: object) -> Declaration:
    """The sound declaration with one row changed."""
    rows = list(SOUND.rows)
    rows[place] = replace(rows[place], **changes)
    return replace(SOUND, rows=tuple(rows))


def and_row(*fields: object, **more: object) -> Declaration:
    """The sound declaration with one row more."""
    return replace(SOUND, rows=(*SOUND.rows, Row(*fields, why="w", **more)))  # type: ignore[arg-type]


def and_state(name: str, **more: object) -> Declaration:
    """The sound declaration with one state more, in which nothing moves."""
    state = State(name, "live", "m", **more)  # type: ignore[arg-type]
    added = replace(SOUND, states=(*SOUND.states, state))
    row = Row(SOUND.triggers, (name,), STAYS, why="w")
    return replace(added, rows=(*added.rows, row))


TRAP = replace(
    and_state("stuck"),
    rows=(*and_state("stuck").rows[1:], Row(("push",), ("open",), "stuck", why="w")),
)
SHOWING = replace(
    SOUND,
    states=(
        replace(SOUND.states[0], shows=Status.RUNNING),
        replace(SOUND.states[1], shows=Status.WAITING),
        SOUND.states[2],
    ),
)

BROKEN: dict[str, tuple[Declaration, str]] = {
    "undeclared-state": (with_row(0, target="ajar"), "row 1 (push)"),
    "undeclared-trigger": (with_row(0, triggers=("pull",)), "row 1 (pull)"),
    "undeclared-fact": (with_row(2, guards=("not rusty",)), "row 3 (turn)"),
    "undeclared-effect": (with_row(0, effects=("squeak",)), "row 1 (push)"),
    "unused-fact": (replace(SOUND, facts={**SOUND.facts, "rusty": "r"}), "rusty"),
    "unused-effect": (replace(SOUND, effects={**SOUND.effects, "squeak": "s"}), "squeak"),
    "declared-twice": (replace(SOUND, triggers=(*SOUND.triggers, "push")), "push"),
    "refusal-changes": (with_row(4, effects=("bang",)), "row 5 (turn)"),
    "otherwise-guarded": (with_row(3, guards=("jammed",)), "row 4 (turn)"),
    "no-reason": (with_row(1, why=""), "row 2 (push)"),
    "dead-row": (
        and_row(("push",), ("open",), refused=NO, otherwise=True),
        "row 6 (push)",
    ),
    "undecided-pair": (with_row(3, otherwise=False, guards=("jammed",)), "shut x turn"),
    "overlapping-guards": (with_row(3, otherwise=False), "shut x turn"),
    "unreachable-state": (and_state("ajar", final=True), "ajar"),
    "trap": (TRAP, "stuck"),
    "final-left": (with_row(4, refused=None, target="shut", sources=("open", "locked")), "locked"),
    "shows-nothing": (SHOWING, "locked"),
    "unshown-status": (SHOWING, "done"),
    "no-meaning": (
        replace(SOUND, states=(replace(SOUND.states[0], meaning=""), *SOUND.states[1:])),
        "open",
    ),
}


def found(declaration: Declaration) -> set[tuple[str, str]]:
    return {(finding.rule, finding.where) for finding in lint(declaration)}


def test_a_sound_declaration_has_no_findings() -> None:
    assert lint(SOUND) == []
    assert differences_from_machine(SOUND) == []
    assert cells(SOUND) == 9


@pytest.mark.parametrize("rule", BROKEN)
def test_each_rule_finds_what_it_is_for(rule: str) -> None:
    declaration, where = BROKEN[rule]
    assert (rule, where) in found(declaration)


def test_every_rule_of_the_lint_is_tried_here() -> None:
    written = re.findall(r'_finding\(\s*declaration,\s*"([a-z-]+)"', inspect.getsource(checks))
    written += [f"unused-{what}" for what in ("fact", "effect")]
    written += [f"undeclared-{what}" for what in ("state", "trigger", "fact", "effect")]
    assert set(written) - {"machine-differs"} == set(BROKEN)


@pytest.mark.parametrize(
    ("guards", "rule"),
    [((), "undecided-pair"), (("key",), "undecided-pair")],
)
def test_a_pair_without_a_row_is_undecided(guards: tuple[str, ...], rule: str) -> None:
    rows = [SOUND.rows[0], *SOUND.rows[2:]]
    if guards:
        rows.append(replace(SOUND.rows[1], guards=guards))
    assert (rule, "shut x push") in found(replace(SOUND, rows=tuple(rows)))


def test_two_rows_that_take_what_is_left_over_overlap() -> None:
    broken = and_row(("turn",), ("shut",), STAYS, otherwise=True)
    assert ("overlapping-guards", "shut x turn") in found(broken)


def test_a_finding_says_where_and_what() -> None:
    [finding] = lint(with_row(3, otherwise=False, guards=("jammed",)))
    assert str(finding) == (
        "door: shut x turn: nobody decided it when not jammed, not key (undecided-pair)"
    )


def test_too_many_facts_are_refused_not_tried() -> None:
    facts = tuple(f"fact_{number}" for number in range(13))
    many = replace(with_row(2, guards=facts), facts=dict.fromkeys(facts, "f"))
    with pytest.raises(ValueError, match="more than 12 facts"):
        lint(many)


# The real ones.

each_declaration = pytest.mark.parametrize(
    "declaration", declarations(), ids=lambda declaration: declaration.name
)


def test_all_declarations_are_there() -> None:
    assert {"evidence", "lifecycle", "loop", "toolcall"} <= {one.name for one in declarations()}


@each_declaration
def test_the_declarations_are_sound(declaration: Declaration) -> None:
    assert lint(declaration) == []


@each_declaration
def test_table_and_machine_answer_alike_in_every_cell(declaration: Declaration) -> None:
    assert differences_from_machine(declaration) == []


def test_the_table_that_the_oracle_extracts_and_the_machine_answer_alike() -> None:
    def decide(state: str, trigger: str, holds: Callable[[str], bool]) -> Row:
        return first_that_holds(ROWS[state, trigger], holds)

    assert differences_from_machine(LIFECYCLE, decide) == []


def test_a_machine_that_answers_otherwise_is_found() -> None:
    """Every row of the lifecycle that moves or is guarded, once changed, is noticed."""
    changed = 0
    for place, row in enumerate(LIFECYCLE.rows):
        if row.guards:
            other = replace(row, guards=(f"not {row.guards[0]}".replace("not not ", ""),))
        elif row.target is not None:
            other = replace(row, target=STAYS)
        else:
            continue
        rows = (*LIFECYCLE.rows[:place], other, *LIFECYCLE.rows[place + 1 :])
        changed += 1
        mutant = replace(LIFECYCLE, rows=rows)
        assert differences_from_machine(LIFECYCLE, mutant.decide), f"row {place + 1}"
    assert changed > 10
