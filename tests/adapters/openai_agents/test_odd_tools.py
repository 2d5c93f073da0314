"""Tools beyond the plain function: how each is shown, and that no run that ends well is lost."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import agents
import pytest
from agents.testing import ModelStep, assistant_message, function_call
from agents.tool_context import ToolContext
from openai.types.responses import (
    Response,
    ResponseCodeInterpreterToolCall,
    ResponseCompletedEvent,
    ResponseComputerToolCall,
    ResponseCustomToolCall,
    ResponseFileSearchToolCall,
    ResponseFunctionWebSearch,
    ResponseOutputItemDoneEvent,
    ResponseReasoningItem,
)
from openai.types.responses.response_apply_patch_tool_call import ResponseApplyPatchToolCall
from openai.types.responses.response_function_shell_tool_call import ResponseFunctionShellToolCall
from openai.types.responses.response_output_item import (
    ImageGenerationCall,
    LocalShellCall,
    McpApprovalRequest,
    McpCall,
    McpListTools,
)

from doneness.machine.adapters.openai_agents import hooks

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(60)]

TEXT = "合成巡检：已检查 2 项"
ANSWER = [assistant_message(TEXT)]


@agents.function_tool
def weather(city: str) -> str:
    return f"sunny in {city}"


def _whole(*output: Any) -> ModelStep:
    """A response with items that the scripted model makes no events for by itself."""
    response = Response(
        id="resp-1",
        created_at=0,
        model="scripted",
        object="response",
        output=list(output),
        tool_choice="none",
        tools=[],
        parallel_tool_calls=False,
        status="completed",
    )
    events: list[Any] = [
        ResponseOutputItemDoneEvent(
            type="response.output_item.done", item=item, output_index=index, sequence_number=index
        )
        for index, item in enumerate(output)
    ]
    events.append(
        ResponseCompletedEvent(
            type="response.completed", response=response, sequence_number=len(output)
        )
    )
    return ModelStep.stream(events)


async def _run(stage, steps, **agent) -> None:
    settings = agent.pop("settings", {})
    model = await stage.model(steps)
    await stage.start(agents.Agent(name="one", model=model, **agent), **settings).to_end()


async def test_tools_of_the_provider_are_part_of_its_response(scripted):
    """They have no call of ours: they ran, or did not, before the response completed."""
    hosted: list[Any] = [
        ResponseFunctionWebSearch(
            id="ws1",
            type="web_search_call",
            status="completed",
            action={"type": "search", "query": "x"},
        ),
        ResponseFileSearchToolCall(
            id="fs1", type="file_search_call", status="failed", queries=["x"]
        ),
        ResponseCodeInterpreterToolCall(
            id="ci1", type="code_interpreter_call", status="completed", container_id="k", code="1"
        ),
        ImageGenerationCall(id="ig1", type="image_generation_call", status="completed", result="x"),
        McpListTools(id="ml1", type="mcp_list_tools", server_label="s", tools=[]),
        McpCall(id="mc1", type="mcp_call", server_label="s", name="n", arguments="{}"),
        ResponseReasoningItem(
            id="rs1", type="reasoning", summary=[{"type": "summary_text", "text": "hm"}]
        ),
        assistant_message(TEXT),
    ]
    mcp = _mcp()
    await _run(scripted, [_whole(*hosted)], tools=[mcp])
    assert scripted.last.kinds == ["model.completed", "run.ended"]
    assert scripted.last.shown_after_check(TEXT) == "done"


class _Computer(agents.Computer):
    environment = "browser"
    dimensions = (10, 10)

    def screenshot(self) -> str:
        return "aGk="

    def click(self, x: int, y: int, button: str) -> None: ...
    def double_click(self, x: int, y: int) -> None: ...
    def scroll(self, x: int, y: int, scroll_x: int, scroll_y: int) -> None: ...
    def type(self, text: str) -> None: ...
    def wait(self) -> None: ...
    def move(self, x: int, y: int) -> None: ...
    def keypress(self, keys: list[str]) -> None: ...
    def drag(self, path: list[tuple[int, int]]) -> None: ...


class _Editor:
    def create_file(self, _operation: Any) -> Any:
        return agents.ApplyPatchResult(status="completed", output="ok")

    update_file = delete_file = create_file


async def _shout(_context: Any, text: str) -> str:
    return text.upper()


LOCAL = {
    "computer": (
        agents.ComputerTool(_Computer()),
        ResponseComputerToolCall(
            id="x1",
            call_id="c1",
            type="computer_call",
            status="completed",
            pending_safety_checks=[],
            action={"type": "screenshot"},
        ),
    ),
    "local shell": (
        agents.LocalShellTool(executor=lambda _request: "listed"),
        LocalShellCall(
            id="x1",
            call_id="c1",
            type="local_shell_call",
            status="completed",
            action={"type": "exec", "command": ["ls"], "env": {}},
        ),
    ),
    "shell": (
        agents.ShellTool(executor=lambda _request: "listed"),
        ResponseFunctionShellToolCall(
            id="x1",
            call_id="c1",
            type="shell_call",
            status="completed",
            action={"commands": ["ls"], "timeout_ms": 1000, "max_output_length": 100},
        ),
    ),
    "apply patch": (
        agents.ApplyPatchTool(editor=_Editor()),
        ResponseApplyPatchToolCall(
            id="x1",
            call_id="c1",
            type="apply_patch_call",
            status="completed",
            operation={"type": "create_file", "path": "a", "diff": "+x"},
        ),
    ),
    "custom": (
        agents.CustomTool(name="shout", description="Shouts.", on_invoke_tool=_shout),
        ResponseCustomToolCall(
            id="x1", call_id="c1", type="custom_tool_call", name="shout", input="x"
        ),
    ),
}


@pytest.mark.parametrize("kind", LOCAL)
async def test_other_tools_of_this_side_have_calls_too(scripted, kind):
    tool, call = LOCAL[kind]
    await _run(scripted, [_whole(call), ANSWER], tools=[tool])
    assert scripted.last.tools == {"c1": "returned"}
    assert scripted.last.shown_after_check(TEXT) == "done"


def _request() -> McpApprovalRequest:
    return McpApprovalRequest(
        id="a1", type="mcp_approval_request", server_label="s", name="n", arguments="{}"
    )


def _mcp(**more: Any) -> agents.HostedMCPTool:
    config: Any = {"type": "mcp", "server_label": "s", "server_url": "http://127.0.0.1"}
    return agents.HostedMCPTool(tool_config=config, **more)


async def test_an_approval_that_a_callback_gives_is_no_pause(scripted):
    tool = _mcp(on_approval_request=lambda _request: {"approve": True})
    await _run(scripted, [_whole(_request()), ANSWER], tools=[tool])
    assert scripted.last.shown_after_check(TEXT) == "done"


async def test_an_approval_that_nobody_gives_is_one(scripted):
    await _run(scripted, [_whole(_request())], tools=[_mcp()])
    assert scripted.last.ended == ["paused"]
    assert scripted.last.shown_at_eof() == "waiting"


async def test_a_time_out_is_a_failure_though_the_run_goes_on(scripted):
    @agents.function_tool(timeout=0.01)
    async def slow() -> str:
        await asyncio.Event().wait()
        return "never"

    calls = [
        function_call("slow", {}, call_id="c1"),
        function_call("weather", {"city": "A"}, call_id="c2"),
    ]
    await _run(scripted, [calls, ANSWER], tools=[slow, weather])
    assert scripted.last.tools == {"c1": "failed", "c2": "returned"}
    assert scripted.last.shown_after_check(TEXT) == "done"


async def test_arguments_that_the_tool_refuses(scripted):
    calls = [function_call("weather", "{not json", call_id="c1")]
    await _run(scripted, [calls, ANSWER], tools=[weather])
    assert scripted.last.tools == {"c1": "failed"}
    assert scripted.last.shown_at_eof() == "checking"


async def test_a_tool_whose_output_is_the_final_output(scripted):
    calls = [function_call("weather", {"city": "A"}, call_id="c1")]
    await _run(scripted, [calls], tools=[weather], tool_use_behavior="stop_on_first_tool")
    assert scripted.last.tools == {"c1": "returned"}
    assert scripted.last.shown_after_check("sunny in A") == "done"


async def test_a_tool_that_is_not_there_told_to_the_model(scripted):
    config = agents.RunConfig(tool_not_found_behavior="return_error_to_model")
    calls = [function_call("nothing", {}, call_id="c1")]
    await _run(scripted, [calls, ANSWER], tools=[weather], settings={"run_config": config})
    assert scripted.last.tools == {"c1": "returned"}
    assert scripted.last.shown_at_eof() == "checking"


async def test_a_guardrail_that_answers_in_the_tool_s_place(scripted):
    @agents.tool_input_guardrail
    def guard(_data: Any) -> Any:
        return agents.ToolGuardrailFunctionOutput.reject_content("no")

    @agents.function_tool(tool_input_guardrails=[guard])
    def guarded() -> str:
        raise AssertionError

    await _run(scripted, [[function_call("guarded", {}, call_id="c1")], ANSWER], tools=[guarded])
    assert scripted.last.tools == {"c1": "returned"}
    assert "tool.started" not in scripted.last.kinds


async def test_a_failure_that_the_tool_words_itself(scripted):
    @agents.function_tool(failure_error_function=lambda _context, error: f"sorry: {error}")
    def broken() -> str:
        raise ValueError("x")

    await _run(scripted, [[function_call("broken", {}, call_id="c1")], ANSWER], tools=[broken])
    assert scripted.last.tools == {"c1": "failed"}


@pytest.mark.parametrize("worded", [True, False])
async def test_a_release_that_moved_the_body_of_a_tool(scripted, monkeypatch, worded):
    """It is said at once; what the SDK words is an output like any other, and no success."""
    monkeypatch.setattr(hooks, "_INNER", "_moved")

    @agents.function_tool(**({} if worded else {"failure_error_function": None}))
    def broken() -> str:
        raise ValueError("x")

    raised = contextlib.nullcontext() if worded else pytest.raises(agents.UserError)
    warned = pytest.warns(RuntimeWarning, match="a tool that fails is shown as returned")
    steps = [[function_call("broken", {}, call_id="c1")], ANSWER]
    with warned, raised:
        await _run(scripted, steps, tools=[broken])
    assert scripted.last.tools == {"c1": "returned" if worded else "failed"}
    assert scripted.last.shown_at_eof() == ("checking" if worded else "failed")


async def _raises(_context: ToolContext[Any], _arguments: str) -> str:
    raise ValueError("x")


async def _raises_on_less(_context: agents.RunContextWrapper[Any], _arguments: str) -> str:
    raise ValueError("x")


@pytest.mark.parametrize("invoke", [_raises, _raises_on_less])
async def test_a_bare_tool_that_raises_ends_the_run(scripted, invoke):
    """The SDK lets it through; a context that the SDK forks cannot be told apart."""
    tool = agents.FunctionTool("bare", "", {"type": "object", "properties": {}}, invoke)
    with pytest.raises(Exception, match="x"):
        await _run(scripted, [[function_call("bare", {}, call_id="c1")]], tools=[tool])
    assert scripted.last.tools == {"c1": "failed" if invoke is _raises else "running"}
    assert scripted.last.ended == ["failed"]


async def test_a_tool_that_two_runs_share_fails_in_one_of_them(scripted):
    both = asyncio.Barrier(2)

    @agents.function_tool
    async def shared(context: ToolContext[str]) -> str:
        await both.wait()
        if context.context == "bad":
            raise ValueError("x")
        return "good"

    async def play(context: str) -> Any:
        model = await scripted.model([[function_call("shared", {}, call_id="c1")], ANSWER])
        agent = agents.Agent(name="one", model=model, tools=[shared])
        run = scripted.start(agent, context=context)
        watch = scripted.last
        await run.to_end()
        return watch

    good, bad = await asyncio.gather(play("good"), play("bad"))
    assert good.tools == {"c1": "returned"}
    assert bad.tools == {"c1": "failed"}


async def test_a_watched_tool_stays_the_tool_it_was(scripted):
    """It may run on unwatched, and is wrapped once however often it is watched."""

    @agents.function_tool
    def add(left: int, right: int = 1) -> int:
        """Adds."""
        return left + right

    before = (add.name, add.description, add.params_json_schema)
    inner = add.on_invoke_tool._invoke_tool_impl
    for _ in range(3):
        await _run(
            scripted, [[function_call("add", {"left": 1}, call_id="c1")], ANSWER], tools=[add]
        )
    assert (add.name, add.description, add.params_json_schema) == before
    assert add.on_invoke_tool._invoke_tool_impl.__wrapped__ is inner
    model = await scripted.model([[function_call("add", {"left": 1}, call_id="c1")], ANSWER])
    result = await agents.Runner.run(agents.Agent(name="one", model=model, tools=[add]), "go")
    assert [item.output for item in result.new_items if hasattr(item, "output")] == [2]


async def test_one_call_id_in_two_turns_never_shows_done(scripted):
    """Two calls under one id cannot be told apart."""
    call = function_call("weather", {"city": "A"}, call_id="c1")
    other = function_call("weather", {"city": "B"}, call_id="c1")
    with pytest.raises(agents.ModelBehaviorError):
        await _run(scripted, [[call], [other], ANSWER], tools=[weather])
    assert scripted.last.ended == ["failed"]
