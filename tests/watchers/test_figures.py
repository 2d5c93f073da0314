"""Usage, time and metrics: figures that can be checked by hand."""

from __future__ import annotations

import pytest

from doneness.machine.watchers.metrics import Metrics, prometheus_meter
from doneness.machine.watchers.replay import replay
from doneness.machine.watchers.summary import UsageSummary
from doneness.machine.watchers.timing import TimeSplit

Event = dict[str, object]


def test_the_usage_summary(events: list[Event]) -> None:
    summary = UsageSummary()
    more = {"type": "usage", "ts": 9.0, "prompt_tokens": 10, "total_tokens": None, "flag": True}
    for event in (*events, more):
        summary.feed(event)
    assert summary.tokens == {"prompt_tokens": 15, "completion_tokens": 2}
    assert (summary.rounds, summary.reported) == (2, 2)
    assert summary.calls["add"] == 2
    assert summary.failed["add"] == 1
    assert summary.lines()[:3] == ["2 model calls", "prompt_tokens: 15", "completion_tokens: 2"]
    assert "add: 2 tool calls, 1 failed" in summary.lines()
    assert "\x1b" not in "".join(summary.lines())


def test_a_model_that_reports_no_usage_is_not_shown_as_free(events: list[Event]) -> None:
    summary = UsageSummary()
    for event in events:
        summary.feed(event)
    assert summary.lines()[0] == "2 model calls (usage reported by 1)"


def test_the_time_split(events: list[Event]) -> None:
    split = TimeSplit()
    for event in events:
        split.feed(event)
    assert split.model_seconds == 2.0 + 1.0
    assert split.tool_seconds["add"] == 1.0 + 0.25
    assert split.lines()[:2] == ["in the model: 3.00 s", "in add: 1.25 s"]


def test_a_clock_that_is_set_back_and_a_run_that_was_cut() -> None:
    split = TimeSplit()
    split.feed({"type": "iteration_start", "ts": 5.0})
    split.feed({"type": "tool_start", "ts": 1.0, "call_id": "a", "name": "t"})
    split.feed({"type": "tool_result", "ts": 0.5, "call_id": "a", "name": "t"})
    split.feed({"type": "iteration_start", "ts": 6.0})
    assert (split.model_seconds, split.tool_seconds) == (0.0, {"t": 0.0})


@pytest.fixture
def exported() -> Metrics:
    pytest.importorskip("opentelemetry.exporter.prometheus", reason="needs the extra `metrics`")
    return Metrics(prometheus_meter(), tool_names=["add"])


def test_metrics_reach_prometheus(events: list[Event], exported: Metrics) -> None:
    from prometheus_client import generate_latest

    for _ in range(2):
        run = exported.run()
        for event in events:
            run.feed(event)
    lines = [line.split("}") for line in generate_latest().decode().splitlines() if "{" in line]
    values = {labels: float(value) for labels, value in lines}

    def value(name: str, *labels: str) -> float:
        return sum(
            found
            for named, found in values.items()
            if named.startswith(f"doneness_agent_{name}{{")
            and all(each in named for each in labels)
        )

    assert value("rounds_total") == 4
    assert value("ends_total", 'end="done"') == 2
    assert value("tool_calls_total", 'tool="add"', 'failed="true"') == 2
    assert value("tool_calls_total", 'tool="other"') == 2
    assert value("tokens_total", 'kind="prompt_tokens"') == 10
    assert value("duration_seconds_sum", 'part="model"') == 6.0
    assert not any("\\x1b" in named or "\x1b" in named for named in values)


@pytest.mark.parametrize(("speed", "total"), [(None, 0.0), (1.0, 6.0), (2.0, 3.0)])
def test_replay_keeps_the_events_and_their_pauses(
    events: list[Event], speed: float | None, total: float
) -> None:
    pauses: list[float] = []
    assert list(replay(events, speed=speed, sleep=pauses.append)) == events
    assert sum(pauses) == total


def test_replay_passes_over_odd_clocks() -> None:
    pauses: list[float] = []
    stamps: list[object] = [5.0, None, "x", 4.0, 1e9, 1e9 + 1]
    odd = [{"type": "token", "ts": ts} for ts in stamps]
    assert list(replay(odd, speed=1, sleep=pauses.append)) == odd
    assert pauses == [60.0, 1.0]


@pytest.mark.parametrize("speed", [0, -1, float("nan")])
def test_a_speed_is_above_zero(speed: float) -> None:
    with pytest.raises(ValueError, match="speed"):
        list(replay([], speed=speed))
