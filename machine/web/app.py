"""The page, its runs and their event streams over HTTP.

| request | answer |
|---|---|
| `GET /` and `GET /static/…` | the page |
| `GET /runs` | the runs, with the status of each |
| `GET /runs/{run}/events` | server-sent events; `Last-Event-ID`, or `?after=`, resumes |
| `POST /runs/{run}/cancel`, `approve`, `reject` | done, or why not: 403, 404, 409 |
| `POST /plans/{plan}` | begins a run |

Only names of this machine are answered unless told otherwise, so that a name of somebody else's
that points here reads nothing; and only this page may post.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from doneness.machine.web.host import NoSuchRunError, NotPossibleError
from doneness.machine.web.hub import HEARTBEAT_SECONDS

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from doneness.machine.web.host import Host
    from doneness.machine.web.hub import Hub, RunStream

LOCAL_NAMES: Final = ("127.0.0.1", "::1", "localhost")
EVERY_NAME: Final = "*"

_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS: Final = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": _POLICY,
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_STREAM_HEADERS: Final = {**_HEADERS, "X-Accel-Buffering": "no"}

_TYPES: Final = {
    "css": "text/css",
    "html": "text/html",
    "mjs": "text/javascript",
    "svg": "image/svg+xml",
}
_STATIC: Final = ("evidence.mjs", "icon.svg", "page.css", "page.mjs", "words.mjs")
_REDUCER: Final = "doneness.mjs"


def application(
    hub: Hub,
    host: Host | None = None,
    *,
    names: Sequence[str] = LOCAL_NAMES,
    heartbeat_seconds: float = HEARTBEAT_SECONDS,
) -> Starlette:
    """The ASGI application.

    Args:
        hub: The runs to show.
        host: What acts on them; without it the page only shows.
        names: The host names that it answers to; `EVERY_NAME` is any.
        heartbeat_seconds: See `RunStream.frames`.
    """
    folder = files("doneness.machine.web") / "page"
    kept = {name: (folder / name).read_bytes() for name in _STATIC}
    kept[_REDUCER] = (files("doneness.machine.javascript") / _REDUCER).read_bytes()
    index = (folder / "index.html").read_bytes()

    async def page(_request: Request) -> Response:
        return _file(index, "html")

    async def static(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in kept:
            return _refused(404, f"no file {name!r}")
        return _file(kept[name], name.rpartition(".")[2])

    async def runs(_request: Request) -> Response:
        shown = [_described(stream, host) for stream in hub.streams.values()]
        return JSONResponse(shown, headers=_HEADERS)

    async def events(request: Request) -> Response:
        stream = hub.streams.get(request.path_params["run"])
        if stream is None:
            return _refused(404, "no such run")
        seen = request.headers.get("Last-Event-ID") or request.query_params.get("after", "")
        frames = stream.frames(_number(seen), heartbeat_seconds=heartbeat_seconds)
        return StreamingResponse(frames, media_type="text/event-stream", headers=_STREAM_HEADERS)

    def acts(action: Callable[[Host, str], str | None]) -> Callable[[Request], Any]:
        async def act(request: Request) -> Response:
            if not _is_own(request):
                return _refused(403, "only the page itself may do this")
            if host is None:
                return _refused(409, "nobody here acts on runs")
            try:
                following = action(host, request.path_params["what"])
            except (NoSuchRunError, KeyError):
                return _refused(404, f"no {request.path_params['what']!r} here")
            except NotPossibleError as error:
                return _refused(409, str(error))
            return JSONResponse({"run": following}, 202, headers=_HEADERS)

        return act

    return Starlette(
        routes=[
            Route("/", page),
            Route("/static/{name}", static),
            Route("/runs", runs),
            Route("/runs/{run}/events", events),
            Route(
                "/runs/{what}/cancel", acts(lambda host, run: host.cancel(run)), methods=["POST"]
            ),
            Route(
                "/runs/{what}/approve", acts(lambda host, run: host.approve(run)), methods=["POST"]
            ),
            Route(
                "/runs/{what}/reject", acts(lambda host, run: host.reject(run)), methods=["POST"]
            ),
            Route("/plans/{what}", acts(lambda host, plan: host.start(plan)), methods=["POST"]),
        ],
        middleware=[Middleware(_OnlyFor, names=frozenset(names))],
    )


class _OnlyFor:
    """Refuses requests for other host names: a stranger's name may point to this machine."""

    def __init__(self, app: ASGIApp, names: frozenset[str]) -> None:
        self._app = app
        self._names = names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        asked = _name(Headers(scope=scope).get("Host", ""))
        known = EVERY_NAME in self._names or asked in self._names
        answer = self._app if known else _refused(400, f"this is not the host {asked!r}")
        await answer(scope, receive, send)


def _name(host: str) -> str | None:
    try:
        return urlsplit(f"//{host}").hostname
    except ValueError:
        return None


def _described(stream: RunStream, host: Host | None) -> dict[str, object]:
    opening: Mapping[str, object] = stream.opening
    return {
        "run": stream.run,
        **{name: opening.get(name) for name in ("plan", "task", "title", "wish", "resumes", "ts")},
        "status": stream.progress.status,
        "ended": stream.ended,
        "records": len(stream),
        "actions": () if host is None else host.actions(stream.run),
    }


def _is_own(request: Request) -> bool:
    """Whether a page of this origin asks, or no page at all: browsers name the origin of a post."""
    origin = request.headers.get("Origin")
    site = request.headers.get("Sec-Fetch-Site", "same-origin")
    own = origin is None or urlsplit(origin).netloc == request.headers.get("Host")
    return own and site in ("same-origin", "none")


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 16 else 0


def _file(content: bytes, ending: str) -> Response:
    return Response(content, media_type=_TYPES[ending], headers=_HEADERS)


def _refused(status: int, why: str) -> Response:
    return JSONResponse({"error": why}, status, headers=_HEADERS)
