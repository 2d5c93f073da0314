"""The OpenAI Agents SDK for Python (contract §4), tested with 0.23.1 and 0.24.0.

`run_streamed` is all that a host needs; the page `docs/formats/openai-agents.md` says what
becomes of each event and why. Needs the extra `openai-agents`.
"""

from doneness.machine.adapters.openai_agents.events import EventAdapter
from doneness.machine.adapters.openai_agents.final_text import final_text_of
from doneness.machine.adapters.openai_agents.run import StreamedRun, run_streamed

__all__ = ["EventAdapter", "StreamedRun", "final_text_of", "run_streamed"]
