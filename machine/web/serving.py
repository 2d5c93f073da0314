"""The application on a port, with an end that does not wait for viewers."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Final

import uvicorn

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from doneness.machine.web.hub import Hub

BACKLOG: Final = 2048
GRACE_SECONDS: Final = 2


class PageServer(uvicorn.Server):
    """Serves until it is told to exit; then the viewers are let go, who will ask again.

    Args:
        app: See `application`.
        hub: The hub of the application.
    """

    def __init__(self, app: Starlette, hub: Hub) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                access_log=False,
                backlog=BACKLOG,
                lifespan="off",
                log_level="critical",
                server_header=False,
                timeout_graceful_shutdown=GRACE_SECONDS,
                timeout_keep_alive=5,
                ws="none",
            )
        )
        self._hub = hub

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Let the viewers go first: their answers would never end by themselves."""
        self._hub.leave()
        await super().shutdown(sockets)


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens there already; port 0 is any free one.

    Raises:
        OSError: the address cannot be had.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=BACKLOG)
