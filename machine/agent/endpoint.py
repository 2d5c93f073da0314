"""Where the model is: key, base URL and model name (contract §6).

Any OpenAI-compatible chat-completions endpoint will do; it is reached by the `openai` client,
with that client's own timeouts and retries.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from openai import AsyncOpenAI, OpenAI


class EndpointError(ValueError):
    """The environment does not say which endpoint to use."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One model behind one URL.

    `timeout_seconds` bounds the wait for a connection and for each piece of an answer;
    `retries_max` is how often the client calls again after a failure that may pass. With `direct`
    no proxy of the environment is asked, as it must be for a server inside this process.
    """

    base_url: str
    model: str
    api_key: str = "unset"
    timeout_seconds: float = 60.0
    retries_max: int = 2
    direct: bool = False

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Endpoint | None:
        """The endpoint that `LLM_BASE_URL`, `LLM_MODEL` and `LLM_API_KEY` name.

        None if `LLM_BASE_URL` is unset or empty: the embedded server is then the one to use.
        A local endpoint may need no key; the client wants one all the same.

        Raises:
            EndpointError: `LLM_BASE_URL` is set, but is no HTTP address or `LLM_MODEL` is missing.
        """
        base_url = environment.get("LLM_BASE_URL", "")
        if not base_url:
            return None
        if not base_url.startswith(("http://", "https://")):
            raise EndpointError(f"LLM_BASE_URL: expected http://… or https://…, got {base_url!r}")
        model = environment.get("LLM_MODEL", "")
        if not model:
            raise EndpointError(
                "LLM_MODEL: expected the name of a model, since LLM_BASE_URL is set"
            )
        return cls(base_url, model, environment.get("LLM_API_KEY") or "unset")

    def client(self) -> OpenAI:
        """A new client; whoever asked for it closes it."""
        import openai  # heavy: only for those who call a model

        return openai.OpenAI(
            api_key=self.api_key,
            base_url=self.base_url,
            timeout=self.timeout_seconds,
            max_retries=self.retries_max,
            http_client=openai.DefaultHttpxClient(trust_env=False) if self.direct else None,
        )

    def async_client(self) -> AsyncOpenAI:
        """A new asynchronous client; whoever asked for it closes it."""
        import openai  # heavy: only for those who call a model

        return openai.AsyncOpenAI(
            api_key=self.api_key,
            base_url=self.base_url,
            timeout=self.timeout_seconds,
            max_retries=self.retries_max,
            http_client=openai.DefaultAsyncHttpxClient(trust_env=False) if self.direct else None,
        )
