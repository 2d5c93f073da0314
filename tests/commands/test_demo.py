"""`doneness demo`, run as a person runs it."""

from __future__ import annotations

import os
import signal
import subprocess
import sysconfig
import urllib.request
from pathlib import Path

from doneness.machine.agent.scripted_answers import answer
from doneness.machine.agent.scripted_server import ScriptedServer

PROGRAM = Path(sysconfig.get_path("scripts")) / "doneness"
STATUSES = {
    "ends_well": "done",
    "waits": "waiting",
    "cancelled": "cancelled",
    "breaks": "failed",
    "rejected": "rejected",
}


def environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LLM_")}
    return {**kept, "NO_PROXY": "127.0.0.1"}


def test_five_runs_end_in_five_ways(tmp_path: Path) -> None:
    command = [PROGRAM, "demo", "--once", "--port", "0", "--step-seconds", "0", "--language", "zh"]
    out = subprocess.run(
        command,
        cwd=tmp_path,
        env={**environment(), "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert (out.returncode, out.stderr) == (0, "")
    address, *lines = out.stdout.splitlines()
    assert address.startswith("http://127.0.0.1:")
    assert dict(line.split(": ")[:2] for line in lines) == STATUSES
    assert lines[0] == "ends_well: done: 已完成：运行结束且本地验收通过"
    assert list(tmp_path.iterdir()) == []


def test_a_real_endpoint_is_used_instead(tmp_path: Path) -> None:
    """All but the run whose connection breaks; they end as that model's answers let them."""
    with ScriptedServer(lambda _request: answer("All is done.")) as server:
        out = subprocess.run(
            [PROGRAM, "demo", "--once", "--port", "0", "--step-seconds", "0"],
            cwd=tmp_path,
            env={**environment(), "LLM_BASE_URL": server.base_url, "LLM_MODEL": "theirs"},
            capture_output=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )
        assert (out.returncode, out.stderr) == (0, "")
        assert [each.request["model"] for each in server.exchanges] == ["theirs"] * 4
    _, *lines = out.stdout.splitlines()
    told = dict(line.split(": ")[:2] for line in lines)
    assert told == {**dict.fromkeys(STATUSES, "done"), "breaks": "failed"}


def test_it_serves_the_page_until_it_is_interrupted(tmp_path: Path) -> None:
    """Also with a viewer connected, and a tool at work."""
    command = [PROGRAM, "demo", "--port", "0", "--folder", "kept"]
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as demo:
        assert demo.stdout is not None
        assert demo.stderr is not None
        address = demo.stdout.readline().decode().strip()
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        assert b"<title>doneness</title>" in opener.open(address, timeout=30).read()
        demo.send_signal(signal.SIGINT)
        assert demo.wait(60) == 0
        assert demo.stderr.read() == b""
    assert len(list((tmp_path / "kept" / "runs").glob("*.about.jsonl"))) == len(STATUSES)


def test_a_port_that_is_taken_is_bad_input(tmp_path: Path) -> None:
    with subprocess.Popen(
        [PROGRAM, "demo", "--port", "0"],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
    ) as first:
        assert first.stdout is not None
        port = first.stdout.readline().decode().strip().strip("/").rpartition(":")[2]
        second = subprocess.run(
            [PROGRAM, "demo", "--once", "--port", port],
            cwd=tmp_path,
            env=environment(),
            capture_output=True,
            encoding="utf-8",
            timeout=60,
            check=False,
        )
        first.send_signal(signal.SIGINT)
    assert second.returncode == 2
    assert f"port {port}" in second.stderr
    assert "Traceback" not in second.stderr
