"""The page in a real browser: what it shows is what the host's stream says, whatever happens."""

from __future__ import annotations

import hashlib
import io
import json
import os
import subprocess
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from doneness.machine.agent.loop import run_agent
from doneness.machine.agent.scripted_answers import Call, answer, cut_in_event
from doneness.machine.agent.scripted_server import ScriptedServer
from doneness.machine.agent.tools import Tools
from doneness.machine.agent.tracked import TrackedRun
from doneness.machine.producer import Producer
from doneness.machine.watchers.log import LogWriter, read_log
from doneness.machine.watchers.terminal import TerminalView
from doneness.machine.web.demo import EXPECTED, Demo
from doneness.machine.web.hub import Hub
from doneness.spec.vocabulary import LABELS, Status

PROGRAM = Path(sysconfig.get_path("scripts")) / "doneness"
NOTHING = "Nothing: the run ended, and the application's check passed."

Make = Callable[[], tuple[Hub, Any]]


def opening(run: str) -> dict[str, object]:
    title = {"en": f"Title of {run}", "zh": f"题目 {run}"}
    return {"type": "opening", "ts": 1.0, "plan": None, "title": title, "wish": "list"}


def begin(served: Any, run: str) -> Producer:
    served.call(served.hub.open, run)
    served.publish(run, opening(run))
    return Producer(run)


def seen(page: Any, records: int) -> None:
    """Wait until the page shows what it knows after so many records."""
    page.wait_for_function(
        "seen => document.getElementById('main').dataset.seen === String(seen)", arg=records
    )


def status(page: Any) -> str:
    shown: str = page.locator("#main").get_attribute("data-status")
    return shown


def text(page: Any) -> str:
    shown: str = page.locator("#text").evaluate("element => element.textContent")
    return shown


def facts(page: Any) -> dict[str, str]:
    page.locator("#evidence").evaluate("element => { element.open = true; }")
    page.wait_for_selector("#facts dd")
    terms = page.locator("#facts dt").all_text_contents()
    return dict(zip(terms, page.locator("#facts dd").all_text_contents(), strict=True))


def linked(page: Any, state: str) -> None:
    page.wait_for_selector(f"#main[data-link={state}]")


def test_it_streams(serve: Any, tab: Any, only_hub: Make) -> None:
    """Each record is shown while the stream is open, one after the other."""
    served = serve(only_hub)
    producer = begin(served, "r")
    page = tab(served.url, "r")
    said = ""
    for number, piece in enumerate(["合", "成 ", "巡检\n", "ok"], start=2):
        served.publish("r", producer.emit("text.delta", text=piece))
        said += piece
        seen(page, number)
        assert (text(page), status(page)) == (said, "running")
    assert page.locator("#title").text_content() == "Title of r"
    served.publish("r", producer.emit("run.ended", outcome="succeeded", final_text=said))
    seen(page, 6)
    assert status(page) == "checking"
    served.call(served.hub.streams["r"].end)
    linked(page, "ended")
    assert status(page) == "checking"


@pytest.mark.parametrize("reload", [True, False], ids=["reload", "second tab"])
def test_a_reload_or_another_tab_in_mid_run_shows_the_same(
    serve: Any, tab: Any, only_hub: Make, *, reload: bool
) -> None:
    served = serve(only_hub)
    producer = begin(served, "r")
    first = tab(served.url, "r")
    served.publish("r", *[producer.emit("text.delta", text=f"{n} ") for n in range(50)])
    seen(first, 51)
    if reload:
        first.reload()
        pages = [first]
    else:
        pages = [first, tab(served.url, "r")]
    served.publish("r", *[producer.emit("text.delta", text=f"{n} ") for n in range(50, 80)])
    for page in pages:
        seen(page, 81)
        assert text(page) == "".join(f"{n} " for n in range(80))
        assert facts(page)["received again"] == "0"
        assert status(page) == "running"


def test_after_a_restart_in_mid_run_it_is_not_known_how_the_run_ended(
    serve: Any, tab: Any, only_hub: Make
) -> None:
    """The page goes on from the log, and a run that nobody ended is unknown, not done."""
    served = serve(only_hub)
    producer = begin(served, "r")
    page = tab(served.url, "r")
    served.publish("r", producer.emit("text.delta", text="half of "))
    seen(page, 2)
    served.stop()
    linked(page, "lost")
    assert status(page) == "running"  # the connection is no fact about the run
    with LogWriter(served.hub.folder / "r.jsonl") as log:  # what was on record, not yet seen
        log.append(producer.emit("text.delta", text="a word"))
    served.start()
    linked(page, "ended")
    assert (text(page), status(page)) == ("half of a word", "unknown")
    assert facts(page)["received again"] == "0"
    assert page.locator("#why").text_content().startswith("The stream ended")


def test_a_run_that_the_host_lost_is_not_waited_for(serve: Any, tab: Any, only_hub: Make) -> None:
    served = serve(only_hub)
    begin(served, "r")
    page = tab(served.url, "r")
    seen(page, 1)
    served.stop()
    (served.hub.folder / "r.jsonl").unlink()
    served.start()
    linked(page, "gone")
    assert status(page) == "unknown"


@pytest.mark.parametrize(
    ("turns", "script"),
    [(10, ""), (4, "EventSource.prototype.close = () => {};")],
    ids=["closed", "still delivered"],
)
def test_late_events_of_another_run_are_not_shown(
    serve: Any, tab: Any, only_hub: Make, turns: int, script: str
) -> None:
    """Switching to and fro while both runs are busy mixes nothing up.

    In the second form the browser goes on delivering what was on its way when a stream was closed.
    """
    served = serve(only_hub)
    producers = {run: begin(served, run) for run in ("a", "b")}
    page = tab(served.url, "a", script)
    page.wait_for_selector("#runs li:nth-child(2)")
    for turn in range(turns):
        for run, producer in producers.items():
            served.publish(run, *[producer.emit("text.delta", text=run) for _ in range(20)])
        page.locator("#runs button").nth(1 - turn % 2).click()
        for run, producer in producers.items():
            served.publish(run, *[producer.emit("text.delta", text=run) for _ in range(20)])
    seen(page, 1 + 40 * turns)
    assert page.locator("#main").get_attribute("data-run") == "a"
    assert text(page) == "a" * 40 * turns
    served.cut()  # also the streams that were left report it
    linked(page, "lost")
    served.publish("a", producers["a"].emit("text.delta", text="!"))
    seen(page, 2 + 40 * turns)
    assert text(page) == "a" * 40 * turns + "!"
    assert facts(page)["received again"] == facts(page)["of other runs"] == "0"
    assert status(page) == "running"


def test_a_cut_connection_loses_nothing_and_shows_nothing_twice(
    serve: Any, tab: Any, only_hub: Make
) -> None:
    """Also when it is cut in mid-event: the browser goes on from the last whole one."""
    served = serve(only_hub)
    producer = begin(served, "r")
    page = tab(served.url, "r")
    seen(page, 1)
    served.bytes_max = 1500  # each answer now breaks off, most in the middle of an event
    served.publish("r", *[producer.emit("text.delta", text=f"{n} ") for n in range(40)])
    served.cut()
    page.wait_for_function("() => Number(document.getElementById('main').dataset.seen) > 5")
    linked(page, "lost")
    served.bytes_max = None
    served.publish("r", *[producer.emit("text.delta", text=f"{n} ") for n in range(40, 60)])
    seen(page, 61)
    linked(page, "live")
    assert text(page) == "".join(f"{n} " for n in range(60))
    assert facts(page)["received again"] == "0"
    assert status(page) == "running"


def test_hostile_text_stays_text(serve: Any, tab: Any, only_hub: Make) -> None:
    hostile = '<img src=x onerror="document.title=1"><script>alert(1)</script>\u202e&amp;</div>'
    served = serve(only_hub)
    producer = begin(served, "r")
    served.publish(
        "r",
        {
            "type": "tool_start",
            "ts": 1,
            "call_id": hostile,
            "name": hostile,
            "args": {"a": hostile},
        },
        producer.emit("tool.requested", call_id=hostile),
        {"type": "tool_result", "ts": 1, "call_id": hostile, "name": hostile, "output": hostile},
        {"type": "held", "ts": 1, "call_id": hostile, "name": hostile, "args": hostile},
        {"type": "error", "ts": 1, "message": hostile},
        producer.emit("text.delta", text=hostile),
    )
    page = tab(served.url, "r")
    seen(page, 7)
    facts(page)
    assert text(page) == hostile
    assert page.locator("#failure").text_content() == hostile
    assert page.locator("#tools .output").text_content() == hostile
    assert hostile in page.locator("#missing").text_content()
    assert page.locator("#main img, #main script").count() == 0
    assert page.locator("body script").count() == 0


@pytest.fixture
def demo(tmp_path: Path) -> Any:
    """The demo's host, whose model speaks slowly enough to be watched."""
    with_loop: list[Demo] = []

    def make() -> tuple[Hub, Any]:
        with_loop.append(Demo(tmp_path / "demo", step_seconds=0.05))
        return with_loop[-1].hub, with_loop[-1].host

    yield make
    for each in with_loop:
        each.__exit__(None, None, None)


def test_cancel_goes_to_the_host_and_leaves_the_tool_running(
    serve: Any, tab: Any, demo: Any
) -> None:
    served = serve(demo)
    run = served.call(served.host.start, "cancelled")
    page = tab(served.url, run)
    page.wait_for_selector("#tools li[data-state=running]")
    page.locator("#cancel").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#main[data-status=cancelled]")
    linked(page, "ended")
    assert page.locator("#tools li").get_attribute("data-state") == "running"
    facts(page)
    events = page.locator("#events td:nth-child(2)").all_text_contents()
    assert events[-2].startswith("cancel.requested")
    assert events[-1].startswith("run.ended (outcome: cancelled")


def test_an_approval_lets_another_run_make_the_call(serve: Any, tab: Any, demo: Any) -> None:
    served = serve(demo)
    run = served.call(served.host.start, "waits")
    page, other = tab(served.url, run), tab(served.url, run)
    for each in (page, other):
        each.wait_for_selector("#approve:enabled")
        assert status(each) == "waiting"
        assert each.locator("#call").text_content() == 'complete_todo {"todo_id":1}'
    page.locator("#approve").click()
    page.wait_for_function("run => document.getElementById('main').dataset.run !== run", arg=run)
    page.wait_for_selector("#main[data-status=done]")
    assert page.locator("#tools li").first.get_attribute("data-state") == "returned"
    linked(other, "ended")
    assert status(other) == "waiting"  # for good: another run went on
    other.locator("#after").click()
    other.wait_for_selector("#main[data-status=done]")


def test_page_and_replay_of_the_log_show_the_same_after_each_event_of_the_demo(
    serve: Any, tab: Any, demo: Any
) -> None:
    """Five runs, the host's own words included; also what is missing for *done* at the end."""
    served = serve(demo)
    runs = [served.call(served.host.start, name) for name in EXPECTED]
    page = tab(served.url, runs[0])
    for run, last in zip(runs, EXPECTED.values(), strict=True):
        page.evaluate("run => { location.hash = run; }", run)
        page.wait_for_selector(f"#main[data-run='{run}'][data-status={last}]", timeout=60_000)
        facts(page)
        log = served.hub.folder / f"{run}.jsonl"
        command = [PROGRAM, "replay", "--json", "--language", "en", log]
        out = subprocess.run(command, capture_output=True, check=True).stdout
        *replayed, end = [json.loads(line) for line in out.splitlines()]
        shown = [
            (int(number), status_after)
            for span, status_after in page.locator("#events tr").evaluate_all(
                "rows => rows.map(row => [row.cells[0].textContent, row.dataset.status])"
            )
            for number in range(int(span.split("–")[0]), int(span.split("–")[-1]) + 1)
        ]
        assert shown == [(step["step"], step["status"]) for step in replayed]
        assert page.locator("#missing li").all_text_contents() == (end["missing"] or [NOTHING])


def test_a_rejection_makes_no_call(serve: Any, tab: Any, demo: Any) -> None:
    served = serve(demo)
    run = served.call(served.host.start, "waits")
    page = tab(served.url, run)
    page.locator("#reject").click()
    linked(page, "ended")
    assert status(page) == "waiting"
    assert page.locator("#decision").text_content().startswith("Rejected")
    assert page.locator("#tools li").count() == 0


def test_it_speaks_both_languages_fits_a_phone_and_names_what_it_has(
    serve: Any, browser: Any, only_hub: Make
) -> None:
    served = serve(only_hub)
    producer = begin(served, "r")
    served.publish("r", producer.emit("text.delta", text="x" * 3000))
    served.publish("r", producer.emit("tool.requested", call_id="y" * 300))
    context = browser.new_context(
        viewport={"width": 320, "height": 640}, locale="zh-CN", is_mobile=True
    )
    page = context.new_page()
    page.goto(served.url)
    seen(page, 3)
    facts(page)
    assert page.locator("#label").text_content() == "正在处理，尚未完成"
    assert page.evaluate("document.documentElement.lang") == "zh-Hans"
    assert page.evaluate("document.documentElement.scrollWidth") == 320
    page.locator("#language").click()
    assert page.locator("#label").text_content() == "In progress, not finished"
    assert page.evaluate("document.documentElement.lang") == "en"
    page.reload()
    seen(page, 3)
    assert page.locator("#label").text_content() == "In progress, not finished"
    tree = page.locator("body").aria_snapshot()
    for named in ("status", 'heading "Title of r"', 'button "中文"', "main", "navigation"):
        assert named in tree
    context.close()


def test_everything_can_be_reached_with_the_keyboard(serve: Any, tab: Any, only_hub: Make) -> None:
    served = serve(only_hub)
    for run in ("a", "b"):
        begin(served, run)
    page = tab(served.url, "a")
    page.wait_for_selector("#runs li:nth-child(2)")
    reached = []
    for _ in range(7):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id || document.activeElement.tagName"))
    assert reached == ["A", "language", "BUTTON", "BUTTON", "cancel", "SUMMARY", "BODY"]
    page.locator("#runs button").nth(1).focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#main[data-run=b]")
    assert page.evaluate("document.activeElement.id") == "main"


def ends(outcome: str, text: str | None = None) -> dict[str, object]:
    return {"kind": "run.ended", "data": {"outcome": outcome, "final_text": text}}


def checked(*, ok: bool) -> list[dict[str, object]]:
    digest = hashlib.sha256(b"ok").hexdigest()
    return [ends("succeeded", "ok"), {"kind": "app.checked", "data": {"digest": digest, "ok": ok}}]


TEN: dict[str, list[dict[str, object]]] = {
    "running": [{"kind": "text.delta", "data": {"text": "done"}}],
    "waiting": [{"kind": "approval.wait", "data": {}}],
    "cancelling": [{"kind": "cancel.requested", "data": {}}],
    "cancelled": [ends("cancelled")],
    "failed": [ends("failed")],
    "incomplete": [ends("incomplete")],
    "unknown": [{"kind": "no.such_kind", "data": {}}],
    "checking": [ends("succeeded", "ok")],
    "rejected": checked(ok=False),
    "done": checked(ok=True),
}


def test_it_shows_the_ten_statuses_in_both_languages(serve: Any, tab: Any, only_hub: Make) -> None:
    assert set(TEN) == set(Status)
    served = serve(only_hub)
    for run, facts_of_run in TEN.items():
        producer = begin(served, run)
        served.publish(run, *[producer.emit(each["kind"], **each["data"]) for each in facts_of_run])
    page = tab(served.url, "running")
    page.wait_for_selector("#runs li:nth-child(10)")
    for number, run in enumerate(TEN):
        page.locator("#runs button").nth(number).click()
        page.wait_for_selector(f"#main[data-run={run}]")
        seen(page, 1 + len(TEN[run]))
        assert status(page) == run
        assert page.locator("#label").text_content() == LABELS["en"][Status(run)]
        page.locator("#language").click()
        assert page.locator("#label").text_content() == LABELS["zh"][Status(run)]
        page.locator("#language").click()
    chips = page.locator("#runs .chip").all_text_contents()
    assert [chip.split()[-1] for chip in chips] == list(TEN)


def test_a_plan_can_be_started_again(serve: Any, tab: Any, demo: Any) -> None:
    served = serve(demo)
    run = served.call(served.host.start, "breaks")
    page = tab(served.url, run)
    page.wait_for_selector("#main[data-status=failed]")
    page.locator("#again").click()
    page.wait_for_function("run => document.getElementById('main').dataset.run !== run", arg=run)
    page.wait_for_selector("#main[data-status=failed]")
    assert "RemoteProtocolError" in page.locator("#failure").text_content()
    assert page.locator("#runs li").count() == 2


def test_the_demo_killed_in_mid_run_and_started_again(tab: Any, tmp_path: Path) -> None:
    """The page finds the new server by itself; nothing is lost, and nothing is done."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LLM_")}

    def started(port: str) -> subprocess.Popen[str]:
        command = [PROGRAM, "demo", "--folder", "kept", "--port", port]
        return subprocess.Popen(command, cwd=tmp_path, env=kept, stdout=subprocess.PIPE, text=True)

    with started("0") as first:
        assert first.stdout is not None
        address = first.stdout.readline().strip()
        try:
            page = tab(address)
            page.wait_for_selector("#tools li[data-state=returned]")
        finally:
            first.kill()
    linked(page, "lost")
    before = text(page)
    run = page.locator("#main").get_attribute("data-run")
    log = tmp_path / "kept" / "runs" / f"{run}.jsonl"
    logged = list(read_log(log))
    with started(address.strip("/").rpartition(":")[2]) as second:
        try:
            linked(page, "ended")
            assert status(page) == "unknown"
            assert text(page) == "".join(
                each["data"]["text"] for each in logged if each.get("kind") == "text.delta"
            )
            assert text(page).startswith(before)
            assert facts(page)["received again"] == "0"
            page.wait_for_function("() => document.querySelectorAll('#runs li').length === 10")
        finally:
            second.kill()


CALLS = answer("I do it. ", Call("complete_todo", {"todo_id": 3}), Call("no_such_tool", {}))


@pytest.mark.parametrize(
    ("script", "last"),
    [
        ([CALLS, answer("合成 ", "ok")], "checking"),
        ([CALLS, cut_in_event(answer("合成"))], "failed"),
        ([CALLS] * 2, "incomplete"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_terminal_page_and_replay_show_the_same_status_after_the_same_event(
    serve: Any, tab: Any, only_hub: Make, tmp_path: Path, script: Any, last: str
) -> None:
    """Fed one event at a time; the page reduces in JavaScript, the others in Python."""

    def complete_todo(todo_id: int) -> str:
        """Complete it."""
        return str(todo_id)

    served = serve(only_hub)
    begin(served, "r")
    page = tab(served.url, "r")
    tracked = TrackedRun("r")
    live = TerminalView(TrackedRun("r").line_after, Console(file=io.StringIO()))
    in_terminal, on_page = [], []
    with ScriptedServer(script) as server, LogWriter(tmp_path / "log") as log:
        endpoint = server.endpoint(retries_max=0)
        for event in run_agent("go", Tools(complete_todo), endpoint, rounds_max=2):
            log.append(event)
            live.feed(event)
            in_terminal.append(live.status_line.partition(":")[0])
            served.publish("r", event, *tracked.feed(event))
            seen(page, len(served.hub.streams["r"]))
            on_page.append(status(page))
    again = TrackedRun("r")
    lines = [again.line_after(event) for event in read_log(tmp_path / "log")]
    replayed = [line.partition(":")[0] for line in lines]
    assert in_terminal == on_page == replayed
    assert on_page[-1] == last
    assert len(on_page) > 8
