"""One opened model and data set: predictions and explanations of original and edited graphs."""

from __future__ import annotations

import copy
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from torch import Tensor

from eigsearch.api import explain
from eigsearch.app.class_scores import class_scores
from eigsearch.app.earlier_rows import EarlierRows
from eigsearch.app.edge_keys import EdgeKey
from eigsearch.app.edits import EditedGraph, GraphEdits
from eigsearch.app.items import Item, items_of
from eigsearch.app.row_cache import RowCache
from eigsearch.app.table import Table
from eigsearch.app.thread_sources import for_threads
from eigsearch.counterfactual.api import flip
from eigsearch.counterfactual.explanation import FlipExplanation
from eigsearch.datasets import GraphDataset
from eigsearch.errors import InputError
from eigsearch.explanation.explanation import SubgraphExplanation
from eigsearch.inputs.arguments import Links
from eigsearch.options import Options
from eigsearch.parallel.run_to_directory import as_source
from eigsearch.store import explanation_of
from eigsearch.visualization import Names
from eigsearch.visualization.graph_drawing import Drawing, draw

_MOST_FLIPPED = 6  # edges that a flip may remove
_FLIP_OPTIONS = (
    *("task", "return_type", "forward", "groups", "reverse", "target_link"),
    *("engine", "max_batch_nodes", "max_memory"),
)
_NOTHING = (
    "Expected a data set with at least one graph, node or link to explain (got none). Pass graphs, "
    "or links of one graph."
)
_LINK_CLASSES = ("no link", "link")
_GRAPHS = 8  # graphs kept: an edit must not read a file again that background work has left
_DRAWINGS = 128  # layouts kept: going back to a graph shows it at once


@dataclass(frozen=True)
class EditedItem:
    """A prediction to explain: an item of the data set after edits, and a class.

    Attributes:
        item: A row of the table, or a node of a typed graph or a link by name.
        edits: Changes to the graph.
        target: The class to explain; None for the predicted one.
    """

    item: Item
    edits: GraphEdits = field(default_factory=GraphEdits)
    target: int | None = None


@dataclass(frozen=True)
class Answer:
    """The prediction of an edited item, and its explanation.

    Attributes:
        graph: The edited graph.
        explanation: Its explanation.
        scores: A probability per class, or a value per regression output, of a plain model call.
        predict_seconds: Time of the plain model call.
        explain_seconds: Time of the explanation; 0 if it was read from disk.
    """

    graph: EditedGraph
    explanation: SubgraphExplanation
    scores: list[float]
    predict_seconds: float
    explain_seconds: float


class Session:
    """A model and a data set opened in the studio.

    Attributes:
        model: The model.
        names: Names of classes and nodes.
        options: How to explain.
        items: What is asked about: the graphs, or the nodes or links of one graph.
        level: `"graph"`, `"node"` or `"link"`.
        table: What is known about every row.
        cache: Rows on disk.
        num_outputs: How many the model has for one prediction, once that is known.
        origin: Python lines that define `model` and `graphs`, for snippets.
    """

    def __init__(
        self,
        model: Any,
        dataset: Any,
        *,
        names: Names | None = None,
        options: Options | None = None,
        cache: Path | None = None,
        origin: Sequence[str] = (),
        earlier: EarlierRows | None = None,
        links: Links | None = None,
        node_type: str | None = None,
    ) -> None:
        self.model, self.options, self.origin = model, options or Options(), tuple(origin)
        self.names = names or (Names.of(dataset) if isinstance(dataset, GraphDataset) else Names())
        graphs = dataset.graphs if isinstance(dataset, GraphDataset) else dataset
        self.source = for_threads(as_source(graphs))
        if links is None and earlier is not None and earlier.level == "link":
            links = list(earlier.places)
        self.items = items_of(dataset, self.source, links, node_type)
        if not len(self.items):
            raise InputError(_NOTHING)
        self.level, self.count = self.items.level, len(self.items)
        self._graph = None if self.level == "graph" else self.source[0]
        saved = {"class_names": self.names.class_names, "node_names": self.names.node_names}
        self.cache = RowCache(
            copy_of(model), self.source, self.options, self.items, saved, cache, earlier
        )
        self.table = Table(self.count)
        self.active = Activity()
        self._lock = threading.Lock()
        self.num_outputs: int | None = None
        self._opened = lru_cache(maxsize=_GRAPHS)(self.source.__getitem__)
        self.base_drawing = lru_cache(maxsize=_DRAWINGS)(self._base_drawing)

    @property
    def class_names(self) -> Sequence[str]:
        """The names of classes, as far as they are known by now: a single output is a link."""
        default = _LINK_CLASSES if self.level == "link" and self.num_outputs == 1 else ()
        return self.names.class_names or default

    def graph(self, item: Item) -> Any:
        """Return the graph of an item.

        Raises:
            InputError: If the data set has no such item.
        """
        row = self.items.row(item)
        return self._opened(row) if self._graph is None else self._graph

    def edited(self, edited_item: EditedItem) -> tuple[EditedGraph, dict[str, Any]]:
        """Return the graph of an edited item, and its node or link there as a keyword of `explain`.

        Raises:
            InputError: If an edit does not fit the graph, or there is no such item.
        """
        subject = self.items.subject(edited_item.item)
        graph = edited_item.edits.apply(self.graph(edited_item.item), **subject)
        return graph, graph.subject(**subject)

    def label(self, item: Item) -> float:
        """Return the label of an item, or NaN if it has none."""
        if self.level == "graph":
            label = self.source[item].to_dict().get("y")  # type: ignore[index]
        else:
            row, labels = self.items.row(item), self.items.labels
            label = None if labels is None or row is None else labels[row]
        known = isinstance(label, Tensor) and label.numel() == 1
        return float(label) if known else float("nan")

    def answer(self, edited_item: EditedItem) -> Answer:
        """Return the prediction and the explanation of an edited item.

        Raises:
            EigsearchError: If an edit or the model is at fault.
        """
        edited, subject = self.edited(edited_item)
        with self.active.interactive(), self._lock:
            began = time.perf_counter()
            explanation = self._known(edited_item)
            if explanation is None:
                explanation = self.explain(edited.data, subject, edited_item.target)
            explained = time.perf_counter()
            config = explanation.config
            reading = config["task"], config["return_type"], self.options.forward
            scores = class_scores(self.model, edited.data, *reading, **subject)
        self.num_outputs = config.get("num_outputs")
        done = time.perf_counter()
        return Answer(edited, explanation, scores, done - explained, explained - began)

    def explain(
        self,
        data: Any,
        subject: Mapping[str, Any],
        target: int | None,
        model: Any = None,
        **changes: Any,
    ) -> SubgraphExplanation:
        """Explain a graph with the options of the session, some of them changed.

        `subject` is the node or link of the prediction as a keyword of `explain`; `model` is a copy
        of the session's model, for other threads.
        """
        options = replace(self.options, **changes)
        keywords = {entry.name: getattr(options, entry.name) for entry in fields(options)}
        model = self.model if model is None else model
        return explain(model, data, **subject, target=target, **keywords)

    def flip(self, edited_item: EditedItem) -> tuple[list[EdgeKey], str]:
        """Return the edges whose removal changes the prediction, and a note if there are none."""
        edited, subject = self.edited(edited_item)
        keywords = {name: getattr(self.options, name) for name in _FLIP_OPTIONS}
        with self.active.interactive(), self._lock:
            found = flip(self.model, edited.data, **subject, max_size=_MOST_FLIPPED, **keywords)
        assert isinstance(found, FlipExplanation)
        return edited.edge_keys(found.flat_edge_mask), found.note

    def cached(self, item: Item) -> SubgraphExplanation | None:
        """Return the explanation of an original graph from disk, or None if it is not there."""
        number = self.items.row(item)
        row = None if number is None else self.cache.row(number)
        if row is None or row["error"] is not None:
            return None
        return explanation_of(row, self.cache.manifest.options, self.graph(item))

    def close(self) -> None:
        """Release the cache directory."""
        self.cache.close()

    def _known(self, edited_item: EditedItem) -> SubgraphExplanation | None:
        if edited_item.edits or edited_item.target is not None:
            return None
        return self.cached(edited_item.item)

    def _base_drawing(self, item: Item) -> Drawing:
        explanation = self.cached(item)
        if explanation is None:
            explanation = self.explain(self.graph(item), self.items.subject(item), None)
        return draw([explanation], self.names)


class Activity:
    """Counts what a user waits for, so that background work can stand aside."""

    def __init__(self) -> None:
        self._running = 0
        self._last = float("-inf")
        self._changed = threading.Condition()

    @contextmanager
    def interactive(self) -> Iterator[None]:
        """Mark a block that a user waits for."""
        with self._changed:
            self._running += 1
        try:
            yield
        finally:
            with self._changed:
                self._running -= 1
                self._last = time.monotonic()
                self._changed.notify_all()

    def wait_until_idle(self, seconds: float, stop: threading.Event) -> None:
        """Return once nothing has run for some seconds, or `stop` is set."""
        while not stop.is_set():
            with self._changed:
                rest = self._last + seconds - time.monotonic()
                if not self._running and rest <= 0:
                    return
                self._changed.wait(timeout=0.1 if self._running else min(rest, 0.1))


def copy_of(model: Any) -> Any:
    """Return a copy for another thread, or the model itself if it cannot be copied."""
    try:
        return copy.deepcopy(model)
    except Exception:  # a user's class may raise anything; threads can share the model instead
        return model
