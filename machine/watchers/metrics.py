"""Metrics of many runs, for OpenTelemetry and, through its exporter, Prometheus (contract §6).

The instruments are made on a meter of the caller's, who decides where they go. The name of a tool
is a label only if the host knows that tool: a model may make up any name, and each label value
is a time series for good.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Final

from doneness.machine.watchers.timing import MODEL, Stopwatch

if TYPE_CHECKING:
    from opentelemetry.metrics import Meter

OTHER_TOOL: Final = "other"
TOKEN_COUNTS: Final = ("prompt_tokens", "completion_tokens")  # the total is their sum


class Metrics:
    """Counts the events of any number of runs, one `RunMetrics` each.

    Args:
        meter: From a `MeterProvider`; see `prometheus_meter`.
        tool_names: The tools that the host knows.
    """

    def __init__(self, meter: Meter, tool_names: Collection[str]) -> None:
        self.tool_names = frozenset(tool_names)
        self.rounds = meter.create_counter("doneness.agent.rounds", "{call}", "model calls")
        self.ends = meter.create_counter("doneness.agent.ends", "{run}", "runs, by how they ended")
        self.calls = meter.create_counter("doneness.agent.tool_calls", "{call}", "tool calls")
        self.tokens = meter.create_counter("doneness.agent.tokens", "{token}", "tokens, by kind")
        self.seconds = meter.create_histogram("doneness.agent.duration", "s", "model and tool time")

    def run(self) -> RunMetrics:
        """A watcher for one run."""
        return RunMetrics(self)


class RunMetrics:
    """The watcher of one run; made by `Metrics.run`."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._watch = Stopwatch()

    def feed(self, event: Mapping[str, object]) -> None:
        """Take one event."""
        metrics = self._metrics
        span = self._watch.feed(event)
        if span is not None:
            part = "model" if span.part is MODEL else self._known(span.part)
            metrics.seconds.record(span.seconds, {"part": part})
        match event.get("type"):
            case "iteration_start":
                metrics.rounds.add(1)
            case "tool_result":
                failed = bool(event.get("is_error"))
                tool = self._known(str(event.get("name", "")))
                metrics.calls.add(1, {"tool": tool, "failed": failed})
            case "usage":
                for name in TOKEN_COUNTS:
                    count = event.get(name)
                    if isinstance(count, int) and count >= 0:
                        metrics.tokens.add(count, {"kind": name})
            case "done" | "error" as end:
                metrics.ends.add(1, {"end": end})

    def _known(self, tool: str) -> str:
        return tool if tool in self._metrics.tool_names else OTHER_TOOL


def prometheus_meter() -> Meter:
    """A meter whose values `prometheus_client.generate_latest()` writes as text."""
    from opentelemetry.exporter.prometheus import PrometheusMetricReader
    from opentelemetry.sdk.metrics import MeterProvider

    return MeterProvider(metric_readers=[PrometheusMetricReader()]).get_meter("doneness")
