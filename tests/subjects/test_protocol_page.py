"""The page on the protocol: its programs run as they stand, and its schema is what is spoken."""

from __future__ import annotations

import json
import re
import shutil
import sys
from importlib.resources import files
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from doneness.generators.checks.properties import stories
from doneness.generators.exploration import LAYERS, agrees, explore
from doneness.generators.oracle import Oracle
from doneness.generators.subjects import open_framing, open_subject
from doneness.generators.subjects.options import OptionError, supported_kinds
from doneness.generators.subjects.program import Verdict
from doneness.generators.walks import walk
from doneness.spec.payloads import SHAPES
from doneness.spec.vocabulary import CallState, Issue, Kind, Outcome, Status

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "protocol.md").read_text("utf-8")
SCHEMA = json.loads(
    (files("doneness.generators.subjects") / "protocol.schema.json").read_text("utf-8")
)
JAVASCRIPT = ROOT / "machine" / "javascript"
NODE = shutil.which("node")

needs_node = pytest.mark.skipif(NODE is None, reason="Node is not installed")

# A program between the kit and another one, that writes down what each says.
TAP = """
import subprocess, sys
log = open(sys.argv[1], "ab", buffering=0)
inner = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
for line in sys.stdin.buffer:
    log.write(b"?" + line)
    inner.stdin.write(line)
    inner.stdin.flush()
    answer = inner.stdout.readline()
    log.write(b"!" + answer)
    sys.stdout.buffer.write(answer)
    sys.stdout.flush()
"""


def code(language: str) -> str:
    """The one whole program of a language on the page."""
    [block] = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return block


def written(folder: Path, language: str) -> str:
    """The page's program as a subject."""
    if language == "python":
        (folder / "subject.py").write_text(code(language), "utf-8")
        return f"exec:{sys.executable} {folder / 'subject.py'}"
    shutil.copy(JAVASCRIPT / "doneness.mjs", folder)
    (folder / "subject.mjs").write_text(code(language), "utf-8")
    return f"exec:{NODE} {folder / 'subject.mjs'}"


def agrees_on_walks(subject, count: int = 100) -> bool:
    told = stories(subject, "run-A", [walk(seed, 8) for seed in range(count)])
    for story in told:
        oracle = Oracle("run-A")
        for move, shown in zip(story.moves, story.shown, strict=True):
            oracle.take(move)
            assert agrees(oracle.observables(), shown), (move.name, shown)
    return len(told) == count


@pytest.mark.parametrize("language", [pytest.param("js", marks=needs_node), "python"])
def test_the_programs_on_the_page_keep_the_contract(language: str, tmp_path: Path) -> None:
    """As they stand, on an exploration and on walks; and they are about 25 lines."""
    subject = open_subject(written(tmp_path, language))
    assert subject.name == "my view"
    assert explore(subject, LAYERS[2]).complete
    assert agrees_on_walks(subject)
    subject.close()
    assert sum(1 for line in code(language).splitlines() if line.strip()) <= 28


@pytest.mark.parametrize("without", ["trace", "snapshot", "text", "all"])
@needs_node
def test_each_capability_can_be_missing(without: str, tmp_path: Path) -> None:
    """The same program with less to offer shows the same."""
    text = (JAVASCRIPT / "subject.mjs").read_text("utf-8")
    stated = '["trace","snapshot","text","framing"]'
    assert stated in text
    left = [] if without == "all" else [one for one in json.loads(stated) if one != without]
    text = text.replace(stated, json.dumps(left).replace(" ", ""))
    if "text" not in left:
        text = text.replace("progress.feedJson(event)", "progress.feed(event)")
    shutil.copy(JAVASCRIPT / "doneness.mjs", tmp_path)
    (tmp_path / "subject.mjs").write_text(text, "utf-8")
    subject = open_subject(f"exec:{NODE} {tmp_path / 'subject.mjs'}")
    assert agrees_on_walks(subject)
    numbers = [reason for reason in subject.left_out if "1.0" in reason]
    assert bool(numbers) == ("text" not in left)
    subject.close()


@needs_node
def test_all_that_is_said_is_in_the_schema(tmp_path: Path) -> None:
    """Every question and every answer of a real conversation, and what the page shows of one."""
    Draft202012Validator.check_schema(SCHEMA)
    log = tmp_path / "log"
    (tmp_path / "tap.py").write_text(TAP, "utf-8")
    spec = f"exec:{sys.executable} {tmp_path / 'tap.py'} {log} {NODE} {JAVASCRIPT / 'subject.mjs'}"
    subject = open_subject(spec)
    assert agrees_on_walks(subject, 20)
    subject.inner._talk.capabilities -= {"trace"}
    assert agrees_on_walks(subject, 5)
    subject.close()
    decoder = open_framing(spec)
    decoder.frame([[b"data: x\n\n", b"\xff"], [b"id: 1\nretry: 5\n\n"]], "strict")
    decoder.close()
    said = log.read_bytes().splitlines()
    lines = [(line[:1], json.loads(line[1:])) for line in said]
    shown_on_page = "\n".join(re.findall(r"^```jsonl?\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
    on_page = [json.loads(line) for line in shown_on_page.splitlines() if line]
    lines += [(b"?" if "op" in line else b"!", line) for line in on_page]
    ops = {line["op"] for side, line in lines if side == b"?"}
    assert ops == {"hello", "open", "feed", "close", "snapshot", "trace", "frame"}
    judges = {
        side: Draft202012Validator({**SCHEMA, "oneOf": [{"$ref": f"#/$defs/{name}"}]})
        for side, name in ((b"?", "question"), (b"!", "answer"))
    }
    for side, line in lines:
        judges[side].validate(line)


@pytest.mark.parametrize(
    "wrong",
    [
        {"n": 1, "op": "sing"},
        {"n": 1, "op": "open"},
        {"op": "close"},
        {"n": 1, "op": "trace", "run": "a", "events": [], "every": True},
        {"n": 1},
        {"n": 1, "status": 1},
        {"n": 1, "status": "running", "issues": ["oops"]},
        {"n": 1, "shown": []},
        {"n": 1, "events": [[{"data": "x"}]]},
        [],
    ],
)
def test_the_schema_refuses_what_is_wrong(wrong: object) -> None:
    """It does not hold of everything."""
    assert not Draft202012Validator(SCHEMA).is_valid(wrong)


def test_the_page_names_all_there_is() -> None:
    """Statuses, issues, kinds with their keys, states, outcomes and verdicts; no others."""
    named = set(re.findall(r"`([^`\n]+)`", PAGE))
    for words in (Status, Issue, Kind, CallState, Outcome):
        assert set(map(str, words)) <= named
    for kind, shape in SHAPES.items():
        [row] = re.findall(rf"^\| `{re.escape(kind)}` \|(.*)$", PAGE, re.MULTILINE)
        assert all(f"`{key}`" in row for key in shape)
    for verdict in Verdict:
        assert re.search(rf"^\| {verdict} \|", PAGE, re.MULTILINE)
    observables = SCHEMA["$defs"]["observables"]["properties"]
    for name in observables:
        assert f"`{name}`" in PAGE
    assert observables["issues"]["items"]["enum"] == [str(issue) for issue in Issue]
    assert {*observables} == {*Oracle("a").observables()}
    for option in re.findall(r"`(--[a-z-]+)", PAGE):
        assert any(
            f'"{option}"' in (ROOT / "generators" / place).read_text("utf-8")
            for place in ("subjects/plugin.py", "commands/check.py")
        )
    for text in re.findall(r"--supports=([^\s`]+)`", PAGE):
        try:
            supported_kinds(text)
        except OptionError as error:
            pytest.fail(str(error))
