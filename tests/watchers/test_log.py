"""The JSONL log: whole lines only, a torn tail cut off, rotation that loses nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from doneness.machine.watchers.log import LogError, LogWriter, log_parts, read_log

EVENTS = [{"type": "token", "ts": float(n), "content": f"合成 {n}\u2028\x85"} for n in range(40)]


def test_what_is_appended_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    for half in (EVENTS[:20], EVENTS[20:]):
        with LogWriter(path) as log:
            for event in half:
                log.append(event)
    assert list(read_log(path)) == EVENTS
    assert "合成".encode() in path.read_bytes()


@pytest.mark.parametrize("kept", range(1, 30))
def test_a_torn_tail_is_no_event_and_is_cut_off(tmp_path: Path, kept: int) -> None:
    path = tmp_path / "run.jsonl"
    with LogWriter(path) as log:
        log.append(EVENTS[0])
        whole = path.read_bytes()
        log.append(EVENTS[1])
    path.write_bytes(path.read_bytes()[: len(whole) + kept])
    assert list(read_log(path)) == EVENTS[:1]
    with LogWriter(path) as log:
        assert path.read_bytes() == whole
        log.append(EVENTS[2])
    assert list(read_log(path)) == [EVENTS[0], EVENTS[2]]


def test_a_long_torn_tail_without_any_line_end(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(b"{" * 200_000)
    assert list(read_log(path)) == []
    with LogWriter(path) as log:
        log.append(EVENTS[0])
    assert list(read_log(path)) == EVENTS[:1]


def test_rotation_by_size_keeps_every_event_in_order(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    (tmp_path / "run.jsonl.old").write_text("not a part\n")
    for half in (EVENTS[:20], EVENTS[20:]):
        with LogWriter(path, bytes_max=200) as log:
            for event in half:
                log.append(event)
    parts = log_parts(path)
    assert len(parts) > 10
    assert all(part.stat().st_size <= 200 for part in parts)
    assert list(read_log(path)) == EVENTS


def test_a_kill_in_the_middle_of_a_rotation_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with LogWriter(path) as log:
        log.append(EVENTS[0])
    path.rename(tmp_path / "run.jsonl.1")
    assert list(read_log(path)) == EVENTS[:1]
    with LogWriter(path) as log:
        log.append(EVENTS[1])
    assert list(read_log(path)) == EVENTS[:2]


def test_a_line_that_is_too_large_has_a_file_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with LogWriter(path, bytes_max=1) as log:
        for event in EVENTS[:3]:
            log.append(event)
    assert [part.name for part in log_parts(path)] == ["run.jsonl.1", "run.jsonl.2", "run.jsonl"]
    assert list(read_log(path)) == EVENTS[:3]


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    pytest.importorskip("fcntl", reason="advisory locks are POSIX")
    path = tmp_path / "run.jsonl"
    with LogWriter(path), pytest.raises(LogError, match="another process"):
        LogWriter(path)
    LogWriter(path).close()


def test_a_full_disk_leaves_no_torn_line(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource", reason="file size limits are POSIX")
    signal = pytest.importorskip("signal")
    path = tmp_path / "run.jsonl"
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        with LogWriter(path) as log:
            log.append(EVENTS[0])
            resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 10, limits[1]))
            with pytest.raises(LogError, match="cannot append"):
                log.append(EVENTS[1])
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
            log.append(EVENTS[2])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, ignored)
    assert list(read_log(path)) == [EVENTS[0], EVENTS[2]]


@pytest.mark.parametrize("line", ["no json", "[1]", '{"a": 1', "", "[" * 100_000])
def test_a_bad_line_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text(f'{{"type": "done", "ts": 0}}\n{line}\n')
    with pytest.raises(LogError, match=r"run\.jsonl, line 2: expected one JSON object"):
        list(read_log(path))


@pytest.mark.parametrize(
    "content",
    [b'{"type":"done"}\nprecious last line', b"\x00\xff\n{", b"precious", b"a\nb\n", b"[1]\n"],
)
def test_a_file_of_somebody_elses_is_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(content)
    with pytest.raises(LogError, match=r"run\.jsonl"):
        LogWriter(path)
    assert path.read_bytes() == content


def test_a_file_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    missing = tmp_path / "no" / "run.jsonl"
    with pytest.raises(LogError, match="cannot open"):
        LogWriter(missing)
    with pytest.raises(LogError, match="cannot read"):
        list(read_log(missing))


@pytest.mark.parametrize("event", [{"ts": float("nan")}, {"x": object()}])
def test_what_is_no_json_is_refused_and_not_written(
    tmp_path: Path, event: Mapping[str, object]
) -> None:
    path = tmp_path / "run.jsonl"
    with LogWriter(path) as log, pytest.raises((ValueError, TypeError)):
        log.append(event)
    assert path.read_bytes() == b""


def test_a_lone_surrogate_can_be_logged(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    event = {"type": "token", "content": "\ud800"}
    with LogWriter(path) as log:
        log.append(event)
    assert list(read_log(path)) == [event]
    assert json.loads(path.read_bytes()) == event


def test_another_reader_sees_a_line_as_soon_as_append_returns(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with LogWriter(path) as log:
        for count, event in enumerate(EVENTS[:3], start=1):
            log.append(event)
            assert list(read_log(path)) == EVENTS[:count]
