"""The journal: each envelope once, conflicts kept, whole lines only, a kill loses nothing."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from doneness.machine import Producer
from doneness.machine.transport import Journal, JournalError, LimitExceededError

KILLS = 15


def test_what_is_appended_is_read_back_and_repeats_are_known(runs: Any, tmp_path: Path) -> None:
    path, log = tmp_path / "run.jsonl", runs.done()
    answers = []
    for half in (log[:4], log[2:]):
        with Journal(path, "run", sync=True) as journal:
            answers.append([str(journal.append(envelope)) for envelope in half])
    assert answers == [["stored"] * 4, ["known"] * 2 + ["stored"] * 5]
    with Journal(path, "run") as journal:
        assert list(journal.read()) == log
        assert (journal.entries, journal.last_seq, journal.is_regular) == (9, 9, True)


def test_a_conflict_is_reported_and_kept_as_evidence(runs: Any, tmp_path: Path) -> None:
    """A reducer that is rebuilt from the log distrusts the run as the first one did."""
    path, log = tmp_path / "run.jsonl", runs.done()
    other = {**log[0], "data": {"call_id": "c2"}}
    arriving = [*log, other, log[0], other]
    with Journal(path, "run") as journal:
        answers = [journal.append(envelope) for envelope in arriving]
    assert answers[len(log) :] == ["conflict", "known", "conflict"]
    with Journal(path, "run") as journal:
        assert journal.append(other) == "conflict"
        assert (journal.entries, journal.is_regular) == (len(log) + 1, False)
        assert runs.seen(runs.fed(journal.read())) == runs.seen(runs.fed(arriving))
        assert runs.fed(journal.read()).status == "unknown"


def test_a_conflict_that_has_the_next_number_is_no_regular_entry(runs: Any, tmp_path: Path) -> None:
    """Line 2 holds seq 2, and yet a viewer at seq 2 has not necessarily met it."""
    log = runs.done()
    with Journal(tmp_path / "run.jsonl", "run") as journal:
        assert journal.append(log[0]) == "stored"
        assert journal.is_regular
        assert journal.append({**log[0], "seq": 2}) == "conflict"
        assert not journal.is_regular


@pytest.mark.parametrize("number", [1, 1.0, True])
def test_numbers_that_python_holds_equal_are_other_content(number: Any, tmp_path: Path) -> None:
    made = Producer("run").emit("no.such", n=1)
    with Journal(tmp_path / "run.jsonl", "run") as journal:
        journal.append(made)
        again = journal.append({**made, "data": {"n": number}})
    assert again == ("known" if type(number) is int else "conflict")


def test_a_torn_tail_is_cut_off_wherever_the_kill_came(runs: Any, tmp_path: Path) -> None:
    path, log = tmp_path / "run.jsonl", runs.done()
    with Journal(path, "run") as journal:
        for envelope in log[:3]:
            journal.append(envelope)
        whole = path.read_bytes()
        journal.append(log[3])
    last = path.read_bytes()[len(whole) :]
    for kept in range(len(last)):
        path.write_bytes(whole + last[:kept])
        with Journal(path, "run") as journal:
            assert path.read_bytes() == whole
            assert journal.append(log[2]) == "known"
            assert journal.append(log[3]) == "stored"
            assert list(journal.read()) == log[:4]


WRITER = """
import sys
from doneness.machine import Producer
from doneness.machine.transport import Journal
producer = Producer("run")
with Journal(sys.argv[1], "run") as journal:
    while True:
        envelope = producer.emit("text.delta", text="x" * 300_000)
        if journal.append(envelope) == "stored":
            print(envelope["seq"], flush=True)
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="kills with a signal")
def test_a_kill_in_the_middle_leaves_a_journal_to_go_on_with(tmp_path: Path) -> None:
    """What was reported as stored is there, in order, and the next process goes on."""
    path = tmp_path / "run.jsonl"
    stored = 0
    for _ in range(KILLS):
        command = [sys.executable, "-c", WRITER, str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as writer:
            assert writer.stdout is not None
            for _ in range(random.randrange(1, 6)):
                stored = int(writer.stdout.readline())
            writer.kill()
            stored = max([stored, *map(int, writer.stdout.read().split())])
        with Journal(path, "run") as journal:
            assert stored <= journal.entries <= stored + 1
            assert journal.is_regular
            assert path.read_bytes().endswith(b"\n")
            stored = journal.entries


def test_a_file_of_somebody_elses_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes"
    path.write_bytes(b"precious last line")
    with pytest.raises(JournalError, match="choose another file"):
        Journal(path, "run")
    assert path.read_bytes() == b"precious last line"


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    pytest.importorskip("fcntl", reason="needs advisory locks")
    path = tmp_path / "run.jsonl"
    with Journal(path, "run"), pytest.raises(JournalError, match="another process is writing"):
        Journal(path, "run")
    Journal(path, "run").close()


def test_a_full_log_is_an_error_and_changes_nothing(tmp_path: Path) -> None:
    path, producer = tmp_path / "run.jsonl", Producer("run")
    first, second = producer.emit("approval.wait"), producer.emit("approval.wait")
    with Journal(path, "run", log_bytes_max=100) as journal:
        journal.append(first)
        whole = path.read_bytes()
        with pytest.raises(LimitExceededError, match=r"with seq 2: \d+ is more than log_bytes_max"):
            journal.append(second)
        assert (path.read_bytes(), journal.entries) == (whole, 1)


FULL_DISK = """
import resource, sys
from doneness.machine import Producer
from doneness.machine.transport import Journal, JournalError
producer = Producer("run")
with Journal(sys.argv[1], "run") as journal:
    journal.append(producer.emit("approval.wait"))
    whole = open(sys.argv[1], "rb").read()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(whole) + 10, limits[1]))
    second = producer.emit("approval.wait")
    try:
        journal.append(second)
    except JournalError as error:
        print(error)
    assert open(sys.argv[1], "rb").read() == whole
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    print(journal.append(second), journal.entries)
"""


def test_a_full_disk_is_an_error_with_its_place(tmp_path: Path) -> None:
    """The system takes ten bytes of the line and no more; the log is as before, and goes on."""
    pytest.importorskip("resource", reason="needs a limit on the size of a file")
    path = tmp_path / "run.jsonl"
    command = [sys.executable, "-c", FULL_DISK, str(path)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    error, after = printed.splitlines()
    assert error.startswith(f"{path}: cannot append: ")
    assert after == "stored 2"  # it was not remembered as stored before


@pytest.mark.parametrize("wrong", [None, {}, {"run": "run"}, float("nan")])
def test_what_is_no_envelope_is_refused(wrong: object, tmp_path: Path) -> None:
    made = Producer("run").emit("text.delta", text="")
    with Journal(tmp_path / "run.jsonl", "run") as journal:
        for envelope in (wrong, {**made, "data": {"n": float("nan")}}, {**made, "run": "other"}):
            with pytest.raises(ValueError, match="expected an envelope of the run 'run'"):
                journal.append(envelope)
        assert journal.entries == 0


@pytest.mark.parametrize("line", [b"nonsense", b"{}", b'{"run":"other"}', b""])
def test_a_whole_line_that_is_no_envelope_names_its_place(line: bytes, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(line + b"\n")
    with pytest.raises(JournalError, match=r"run\.jsonl, line 1: expected"):
        Journal(path, "run")
    assert path.read_bytes() == line + b"\n"


def test_a_folder_is_no_journal(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="cannot open"):
        Journal(tmp_path, "run")
