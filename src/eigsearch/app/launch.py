"""Open a studio from Python: inline in a notebook, or in a browser."""

from __future__ import annotations

import webbrowser
from html import escape
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from eigsearch.errors import InputError, MissingExtraError
from eigsearch.inputs.arguments import Links
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
    model: Any = None,
    dataset: Any = None,
    *,
    results: str | Path | None = None,
    names: Names | None = None,
    options: Options | None = None,
    links: Links | None = None,
    node_type: str | None = None,
    port: int | None = None,
    cache: str | Path | None = None,
) -> Studio:
    """Open a model and its data in a local web app; a notebook shows it inline.

    Args:
        model: The model to explain; may be left out with `results` of a model of the zoo.
        dataset: Graphs, a data set of `eigsearch.datasets`, a PyG `OnDiskDataset`, or one graph
            whose nodes or links are explained: links where it lists some as `edge_label_index`.
            May be left out with `results` of a data set that has a name.
        results: A directory that `eigsearch explain --out` or `explain_to` wrote: its rows, its
            options and its names are shown, and what it lacks is explained.
        names: Names of classes, nodes and edges.
        options: How to explain.
        links: Links of the one graph to list, `[2, L]` or pairs; any other pair can be typed.
        node_type: The type of the nodes to list, in a typed graph; by default the one with labels.
        port: Port on this machine; by default a free one.
        cache: Directory for explanations, which `eigsearch view` and `eigsearch.store` read; by
            default one in the user's cache.

    Returns:
        The running studio, with its `address`.
    """
    require_extra()
    from eigsearch.app.server import Server
    from eigsearch.app.session import Session

    keywords: dict[str, Any] = {"names": names, "options": options}
    if results is not None:
        model, dataset, keywords = _from_results(Path(results), model, dataset, keywords)
    _check_given(model, dataset)
    path = None if cache is None else Path(cache)
    session = Session(model, dataset, cache=path, links=links, node_type=node_type, **keywords)
    server = Server(session, port)
    server.start()
    return Studio(server)


def _from_results(
    path: Path, model: Any, dataset: Any, keywords: dict[str, Any]
) -> tuple[Any, Any, dict[str, Any]]:
    """Return the model, the data and the arguments of a session that shows a directory."""
    from eigsearch.app.earlier_rows import EarlierRows
    from eigsearch.app.opened_results import load_named, saved_names

    earlier = EarlierRows(path)
    model, dataset = load_named(earlier, model, dataset)
    names = keywords["names"] or saved_names(earlier)
    options = keywords["options"] or earlier.options()
    return model, dataset, {"names": names, "options": options, "earlier": earlier}


def _check_given(model: Any, dataset: Any) -> None:
    if model is None or dataset is None:
        missing = "model" if model is None else "dataset"
        raise InputError(
            f"Expected `model` and `dataset`, or `results` that name them (got no `{missing}`). "
            "Pass the trained model and its graphs."
        )


def require_extra() -> None:
    """Raise MissingExtraError unless the packages of the server are installed."""
    for package in ("starlette", "uvicorn"):
        if find_spec(package) is None:
            raise MissingExtraError(package, "app", "open the studio")
