"""Open a studio from Python: inline in a notebook, or in a browser."""

from __future__ import annotations

import webbrowser
from html import escape
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from eigsearch.errors import MissingExtraError
from eigsearch.options import Options
from eigsearch.visualization import Names

if TYPE_CHECKING:
    from eigsearch.app.server import Server

_FRAME_HEIGHT = 900


class Studio:
    """A running studio; `close` it, or use it as a context manager.

    Attributes:
        address: What to open in a browser.
    """

    def __init__(self, server: Server) -> None:
        self._server = server
        self.address = server.address

    def open(self) -> None:
        """Open the studio in a browser."""
        webbrowser.open(self.address)

    def close(self) -> None:
        """Stop the studio."""
        self._server.close()

    def __enter__(self) -> Studio:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _repr_html_(self) -> str:
        """Return the studio in a frame, as a notebook shows it."""
        return (
            f'<iframe src="{escape(self.address)}" allow="clipboard-write" '
            f'style="width:100%;height:{_FRAME_HEIGHT}px;border:0"></iframe>'
        )

    def __repr__(self) -> str:
        return f"Studio({self.address})"


def studio(
    model: Any,
    dataset: Any,
    *,
    names: Names | None = None,
    options: Options | None = None,
    port: int | None = None,
    cache: str | Path | None = None,
) -> Studio:
    """Open a model and its data in a local web app; a notebook shows it inline.

    Args:
        model: The model to explain.
        dataset: Graphs, a data set of `eigsearch.datasets`, a PyG `OnDiskDataset`, or one graph
            whose nodes are explained.
        names: Names of classes, nodes and edges.
        options: How to explain.
        port: Port on this machine; by default a free one.
        cache: Directory for explanations, which `eigsearch view` and `eigsearch.store` read; by
            default one in the user's cache.

    Returns:
        The running studio, with its `address`.
    """
    require_extra()
    from eigsearch.app.server import Server
    from eigsearch.app.session import Session

    path = None if cache is None else Path(cache)
    session = Session(model, dataset, names=names, options=options, cache=path)
    server = Server(session, port)
    server.start()
    return Studio(server)


def require_extra() -> None:
    """Raise MissingExtraError unless the packages of the server are installed."""
    for package in ("starlette", "uvicorn"):
        if find_spec(package) is None:
            raise MissingExtraError(package, "app", "open the studio")
