"""Serve a session on this machine: manage its socket, token and threads."""

from __future__ import annotations

import secrets
import socket
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from eigsearch.app.routes import make_app
from eigsearch.app.security import Guard
from eigsearch.app.session import Session
from eigsearch.errors import InputError

if TYPE_CHECKING:
    import uvicorn

HOST = "127.0.0.1"
_HOSTS = ("127.0.0.1", "localhost")
_USUAL_PORT = 8642


class Server:
    """A server of one session, on a socket that is open from the start.

    Attributes:
        address: What to open in a browser, the token included.
    """

    def __init__(self, session: Session, port: int | None = None) -> None:
        self.session = session
        self._socket = _listen(port)
        token = secrets.token_urlsafe(18)
        self.address = f"http://{HOST}:{self._socket.getsockname()[1]}/{token}/"
        app, self._studio = make_app(session)
        self._server = _uvicorn(Guard(app, token, _HOSTS))
        self._thread: threading.Thread | None = None

    def run(self) -> None:
        """Serve until Ctrl-C."""
        self._studio.background.start()
        try:
            with suppress(KeyboardInterrupt):
                self._server.run(sockets=[self._socket])
        finally:
            self._release()

    def start(self) -> None:
        """Serve in a thread, until `close`."""
        self._studio.background.start()
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [self._socket]}, daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """Stop serving and end all threads."""
        self._server.should_exit = True
        if self._thread is not None:
            self._thread.join()
        self._release()

    def _release(self) -> None:
        self._studio.background.stop()
        self._studio.jobs.stop()
        self._socket.close()
        self.session.close()


def _uvicorn(app: Guard) -> uvicorn.Server:
    import uvicorn

    return uvicorn.Server(
        uvicorn.Config(
            app,
            log_level="error",
            access_log=False,
            server_header=False,
            lifespan="off",
            ws="none",
            timeout_graceful_shutdown=2,
        )
    )


def _listen(port: int | None) -> socket.socket:
    """Return a socket on a port, or on the usual one if it is free, else on any."""
    if port is None:
        with suppress(OSError):
            return _bind(_USUAL_PORT)
        return _bind(0)
    try:
        return _bind(port)
    except (OSError, OverflowError) as error:
        raise InputError(
            f"Expected port {port} to be free (got: {error}). Choose another, or leave it out."
        ) from error


def _bind(port: int) -> socket.socket:
    # asyncio sends what it has at once only where a socket names TCP; else answers wait 40 ms
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOST, port))
        listener.listen(128)  # early requests wait until the server runs instead of being refused
    except (OSError, OverflowError):
        listener.close()
        raise
    return listener
