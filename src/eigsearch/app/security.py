"""Guard a local server: token in the path, checks of Host and Origin, bounded bodies."""

from __future__ import annotations

import hmac
import re
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse

LARGEST_BODY = 64 * 1024  # bytes; a thousand edits take a quarter of it
_TOO_LARGE = "The request is too large."
_OWN_SITES = {b"same-origin", b"none"}
_METHODS = ("GET", "HEAD", "POST", "DELETE")

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class Guard:
    """ASGI middleware that answers only requests which know the token and come from the page.

    The first part of every path is the token; it is taken off before the application sees it.

    Args:
        app: The application to guard.
        token: A random text.
        hosts: Names under which the server may be reached; other names in `Host` are refused,
            so that no other site can reach the server under a name of its own.
    """

    def __init__(self, app: Any, token: str, hosts: Iterable[str]) -> None:
        self.app, self.token = app, token
        self.hosts = frozenset(hosts)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Serve one request, or refuse it."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        path = scope["path"][len(self.token) + 1 :] or "/"
        inner = {**scope, "path": path, "root_path": ""}
        await self.app(inner, _bounded(receive), _with_headers(send))

    def _refusal(self, scope: Message) -> PlainTextResponse | None:
        if scope["type"] != "http":
            return _refuse(403, "Only HTTP is served here.")
        headers = {name.lower(): value for name, value in scope["headers"]}
        if not self._known_host(headers.get(b"host", b"")):
            return _refuse(403, "Open the address that the studio printed.")
        if not _from_the_page(scope, headers[b"host"]):
            return _refuse(403, "Requests of other sites are not answered.")
        if not self._has_token(scope["path"]):
            return _refuse(404, "Open the address that the studio printed, token included.")
        if scope["method"] not in _METHODS:
            return _refuse(405, "This method is not served.")
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or int(length) > LARGEST_BODY:
            return _refuse(413, _TOO_LARGE)
        return None

    def _known_host(self, host: bytes) -> bool:
        name = re.fullmatch(rb"(\[[0-9a-f:]+\]|[^:\[\]]+)(:\d{1,5})?", host)
        return name is not None and name[1].decode("latin-1").lower() in self.hosts

    def _has_token(self, path: str) -> bool:
        first, separator, _ = path[1:].partition("/")
        return bool(separator) and hmac.compare_digest(first.encode(), self.token.encode())


def _from_the_page(scope: Message, host: bytes) -> bool:
    """Return whether no header shows another origin; another port is another origin.

    The page itself may be opened from anywhere, as a link or in the frame of a notebook.
    """
    origins = {value.lower() for name, value in scope["headers"] if name.lower() == b"origin"}
    sites = {value for name, value in scope["headers"] if name.lower() == b"sec-fetch-site"}
    is_page = scope["path"].count("/") <= 2
    return origins <= {b"http://" + host.lower()} and (is_page or sites <= _OWN_SITES)


def _refuse(status: int, sentence: str) -> PlainTextResponse:
    return PlainTextResponse(sentence + "\n", status, {"X-Content-Type-Options": "nosniff"})


def _bounded(receive: Receive) -> Receive:
    """Return a reader that raises once a body without a length grows too large."""
    total = 0

    async def read() -> Message:
        nonlocal total
        message = await receive()
        total += len(message.get("body", b""))
        if total > LARGEST_BODY:
            raise HTTPException(413, _TOO_LARGE)
        return message

    return read


def _with_headers(send: Send) -> Send:
    async def write(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [
                *message["headers"],
                (b"x-content-type-options", b"nosniff"),
                (b"referrer-policy", b"no-referrer"),
                (b"cross-origin-resource-policy", b"same-origin"),
                (b"cache-control", b"no-store"),
            ]
        await send(message)

    return write
