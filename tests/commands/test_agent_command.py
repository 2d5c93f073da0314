"""`doneness agent` and `doneness log`, run as a person runs them."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path

import pytest

from doneness.machine.agent.scripted_answers import answer, cut_in_event, never_ending
from doneness.machine.agent.scripted_server import ScriptedServer
from doneness.machine.watchers.log import read_log

Doneness = Callable[..., "subprocess.CompletedProcess[str]"]

PROGRAM = Path(sysconfig.get_path("scripts")) / "doneness"


@pytest.fixture
def doneness(tmp_path: Path) -> Doneness:
    """Runs the command in an empty directory, without the caller's endpoint."""

    def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("LLM_")}
        return subprocess.run(
            [PROGRAM, *arguments],
            cwd=tmp_path,
            env={**kept, "NO_PROXY": "127.0.0.1", **environment},
            capture_output=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )

    return run


def last_status(output: str) -> str:
    """The status that the last status line shows: before it stands the line of figures."""
    return output.splitlines()[-2].partition(":")[0]


def test_the_embedded_server_needs_no_key_and_no_network(
    doneness: Doneness, tmp_path: Path
) -> None:
    added = doneness("agent", "add 买牛奶", "--log", "run.jsonl", LC_ALL="C", PYTHONUTF8="0")
    assert (added.returncode, added.stderr) == (0, "")
    assert "✓ add_todo" in added.stdout
    assert last_status(added.stdout) == "done"
    listed = doneness("agent")
    assert "1. 买牛奶" in listed.stdout
    events = list(read_log(tmp_path / "run.jsonl"))
    assert events[-1]["type"] == "done"


def test_a_task_that_failed_is_not_done_whatever_the_model_says(doneness: Doneness) -> None:
    failed = doneness("agent", "complete 9")
    assert failed.returncode == 1
    assert last_status(failed.stdout) == "rejected"


def test_quiet_shows_failed_tools_and_errors_only(doneness: Doneness) -> None:
    assert doneness("agent", "list", "--quiet").stdout == ""
    failed = doneness("agent", "complete 9", "--quiet")
    assert failed.stdout.startswith("✗ complete_todo: ")
    assert failed.stdout.count("\n") == 1


def test_the_endpoint_of_the_environment_is_used(doneness: Doneness) -> None:
    with ScriptedServer([answer("hello"), cut_in_event(answer("合成"))]) as server:
        environment = {"LLM_BASE_URL": server.base_url, "LLM_MODEL": "m", "LLM_API_KEY": "k"}
        assert last_status(doneness("agent", "hi", **environment).stdout) == "done"
        broken = doneness("agent", "hi", "--language", "zh", **environment)
        (first, second) = server.exchanges
    assert (first.request["model"], first.headers["authorization"]) == ("m", "Bearer k")
    assert first.request["messages"] == [{"role": "user", "content": "hi"}]
    assert [tool["function"]["name"] for tool in second.request["tools"]] == [
        *("list_todos", "add_todo", "complete_todo")
    ]
    assert broken.returncode == 1
    assert "failed: 运行失败，任务未完成" in broken.stdout


@pytest.mark.parametrize("_attempt", range(5))  # the signal meets the read at another moment
def test_an_interrupt_is_a_confirmed_cancel(tmp_path: Path, _attempt: int) -> None:
    with ScriptedServer([never_ending(answer("a", "b"))]) as server:
        environment = {
            **os.environ,
            "LLM_BASE_URL": server.base_url,
            "LLM_MODEL": "m",
            "NO_PROXY": "127.0.0.1",
        }
        command = [PROGRAM, "agent", "--log", "run.jsonl"]
        pipe = subprocess.PIPE
        with subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=pipe) as process:
            while not (tmp_path / "run.jsonl").exists() or not server.exchanges:
                assert process.poll() is None
            while len(list(read_log(tmp_path / "run.jsonl"))) < 3:
                assert process.poll() is None
            process.send_signal(2)
            output = process.communicate(timeout=60)[0].decode()
        assert server.exchanges[0].client_left.wait(20)
    assert process.returncode == 130
    assert "cancelled: Cancelled" in output


@pytest.mark.parametrize(
    ("arguments", "environment", "complaint"),
    [
        (["agent"], {"LLM_BASE_URL": "http://127.0.0.1:9/v1"}, "LLM_MODEL"),
        (["agent"], {"LLM_BASE_URL": "nowhere"}, "LLM_BASE_URL"),
        (["agent", "--todo", "text.txt"], {}, "text.txt: cannot be used as a to-do list"),
        (["agent", "--log", "no/such/folder"], {}, "cannot open"),
        (["agent", "--rounds-max", "0"], {}, "rounds-max"),
        (["log", "text.txt"], {}, "text.txt, line 1: expected one JSON object"),
        (["log", "missing"], {}, "missing: cannot read"),
        (["log", "text.txt", "--speed", "0"], {}, "speed"),
    ],
)
def test_bad_input_gets_one_clear_line(
    doneness: Doneness,
    tmp_path: Path,
    arguments: list[str],
    environment: dict[str, str],
    complaint: str,
) -> None:
    (tmp_path / "text.txt").write_text("this is no list\n" * 100)
    refused = doneness(*arguments, **environment)
    assert refused.returncode == 2
    assert complaint in refused.stderr
    assert "Traceback" not in refused.stderr


def test_a_missing_extra_is_named(tmp_path: Path) -> None:
    blocked = "import sys; sys.modules['openai'] = sys.modules['rich'] = None; "
    code = blocked + "from doneness.machine.cli import main; main(['agent'])"
    refused = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert refused.returncode == 2
    assert "pip install 'doneness[agent,views]'" in refused.stderr


def test_a_log_shows_what_the_runs_showed(doneness: Doneness) -> None:
    tasks = ["add 买牛奶", "complete 7", "list"]
    log = ["--log", "run.jsonl", "--log-bytes-max", "400"]
    shown = [doneness("agent", task, *log).stdout for task in tasks]
    replayed = doneness("log", "run.jsonl")
    assert replayed.returncode == 0
    lines = [
        line
        for output in shown
        for line in output.splitlines()[:-2]  # without the verdict and the figures
    ]
    assert replayed.stdout.splitlines()[:-1] == lines
    assert "7 model calls" not in shown[-1]
    assert "8 model calls" in replayed.stdout


def test_a_run_that_was_cut_is_unknown_in_the_log(doneness: Doneness, tmp_path: Path) -> None:
    doneness("agent", "list", "--log", "run.jsonl")
    whole = (tmp_path / "run.jsonl").read_bytes()
    cut = whole[: whole.index(b'"tool_result"')]
    (tmp_path / "run.jsonl").write_bytes(cut)
    assert last_status(doneness("log", "run.jsonl").stdout) == "unknown"
    torn_off = cut[: cut.rindex(b"\n") + 1]
    (tmp_path / "run.jsonl").write_bytes(torn_off + whole)
    both = doneness("log", "run.jsonl").stdout
    assert both.count("unknown: ") == 1
    assert last_status(both) == "checking"
    assert doneness("log", "run.jsonl", "--quiet").stdout == ""
    fast = doneness("log", "run.jsonl", "--speed", "1000000").stdout
    assert fast == both
