"""Failing examples are remembered: in a folder, and in a real Redis server that machines share."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from doneness.generators.databases import DatabaseError, database_at
from doneness.generators.stateful import OneRun, run_machine
from doneness.generators.subject import PythonSubject
from doneness.machine import Progress


@pytest.fixture(scope="module")
def redis_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Redis server of our own, on a port of the loopback."""
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("redis-server is not on this machine")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder = tmp_path_factory.mktemp("redis")
    command = [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder]
    server = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL)
    address = f"redis://127.0.0.1:{port}/0"
    try:
        for _ in range(100):
            try:
                database_at(address)
                break
            except DatabaseError:
                time.sleep(0.05)
        yield address
    finally:
        server.terminate()
        server.wait()


class Forgets(Progress):
    """Forgets text that is not ASCII."""

    @property
    def text(self) -> str:
        """What is left."""
        return super().text.encode("ascii", "ignore").decode()


def examples_until_found(place: str) -> int:
    """How many reducers were made until a divergence was found and shrunk."""
    made = 0

    def factory(run: str) -> Forgets:
        nonlocal made
        made += 1
        return Forgets(run)

    subject = PythonSubject("forgets", factory)
    _, found = run_machine(OneRun, subject, seed_value=1, examples=200, database=database_at(place))
    assert found is not None
    return made


def test_a_folder_remembers(tmp_path: Path) -> None:
    """The second run begins with what the first one found."""
    place = str(tmp_path / "examples")
    first = examples_until_found(place)
    assert examples_until_found(place) < first


def test_a_server_remembers_for_everybody(redis_address: str) -> None:
    """Likewise over Redis, through another connection."""
    first = examples_until_found(redis_address)
    assert examples_until_found(redis_address) < first


def test_a_server_that_is_not_there_is_a_clear_error() -> None:
    """What, where, and what was expected."""
    with pytest.raises(DatabaseError, match=r"127\.0\.0\.1:1/0: expected a Redis server"):
        database_at("redis://127.0.0.1:1/0")
