"""One opened model and data set: predictions and explanations of original and edited graphs."""

from __future__ import annotations

import copy
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from torch import Tensor
from torch_geometric.data import Data, HeteroData

from eigsearch.api import explain
from eigsearch.app.class_scores import class_scores
from eigsearch.app.earlier_rows import EarlierRows
from eigsearch.app.edits import EditedGraph, GraphEdits, Pair
from eigsearch.app.row_cache import RowCache
from eigsearch.app.table import Table
from eigsearch.app.thread_sources import for_threads
from eigsearch.counterfactual.api import flip
from eigsearch.counterfactual.explanation import FlipExplanation
from eigsearch.datasets import GraphDataset
from eigsearch.errors import InputError, UnsupportedError
from eigsearch.explanation.explanation import SubgraphExplanation
from eigsearch.options import Options
from eigsearch.parallel.run_to_directory import as_source
from eigsearch.store import explanation_of
from eigsearch.visualization import Names
from eigsearch.visualization.graph_drawing import Drawing, draw

_MOST_FLIPPED = 6  # edges that a flip may remove
_FLIP_OPTIONS = (
    *("task", "return_type", "forward", "groups"),
    *("engine", "max_batch_nodes", "max_memory"),
)
_DRAWINGS = 128  # layouts kept: going back to a graph shows it at once


@dataclass(frozen=True)
class EditedItem:
    """A prediction to explain: an item of the data set after edits, and a class.

    Attributes:
        item: Index of the graph, or of the node in a node set.
        edits: Changes to the graph.
        target: The class to explain; None for the predicted one.
    """

    item: int
    edits: GraphEdits = field(default_factory=GraphEdits)
    target: int | None = None


@dataclass(frozen=True)
class Answer:
    """What the model says about an edited item, and why.

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
    """A model and a data set that are asked about.

    Attributes:
        model: The model.
        names: Names of classes and nodes.
        options: How to explain.
        level: `"graph"`, or `"node"` for the nodes of one graph.
        table: What is known about every item.
        cache: Rows on disk.
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
    ) -> None:
        self.model, self.options, self.origin = model, options or Options(), tuple(origin)
        self.level = _level(dataset)
        _check_untyped(dataset)
        self.names = names or (Names.of(dataset) if isinstance(dataset, GraphDataset) else Names())
        graphs = dataset.graphs if isinstance(dataset, GraphDataset) else dataset
        self.source = for_threads(as_source(graphs))
        if not len(self.source):
            raise InputError(
                "Expected a data set with at least one graph (got none). Pass graphs to explain."
            )
        self._graph = self.source[0] if self.level == "node" else None
        nodes = None if self._graph is None else range(int(self._graph.num_nodes))
        self.count = len(self.source) if nodes is None else len(nodes)
        saved = {"class_names": self.names.class_names, "node_names": self.names.node_names}
        self.cache = RowCache(
            copy_of(model), self.source, self.options, nodes, saved, cache, earlier
        )
        self.table = Table(self.count)
        self.active = Activity()
        self._lock = threading.Lock()
        self.base_drawing = lru_cache(maxsize=_DRAWINGS)(self._base_drawing)

    def graph(self, item: int) -> Data:
        """Return the graph of an item.

        Raises:
            InputError: If the data set has no such item.
        """
        if not 0 <= item < self.count:
            raise InputError(
                f"Expected a {self.level} from 0 to {self.count - 1} (got {item}). "
                "Choose one that the data set has."
            )
        return self.source[item] if self._graph is None else self._graph

    def node(self, item: int) -> int | None:
        """Return the node of an item; None in a data set of graphs."""
        return None if self._graph is None else item

    def label(self, item: int) -> float:
        """Return the label of an item, or NaN if it has none."""
        label = self.graph(item).get("y")
        if not isinstance(label, Tensor) or not label.numel():
            return float("nan")
        if self._graph is not None and label.dim():
            label = label[item]
        return float(label) if label.numel() == 1 else float("nan")

    def answer(self, edited_item: EditedItem) -> Answer:
        """Return the prediction and the explanation of a edited_item.

        Raises:
            EigsearchError: If an edit or the model is at fault.
        """
        node = self.node(edited_item.item)
        edited = edited_item.edits.apply(self.graph(edited_item.item), node)
        local = None if node is None else edited.node_ids.index(node)
        with self.active.interactive(), self._lock:
            began = time.perf_counter()
            explanation = self._known(edited_item)
            if explanation is None:
                explanation = self.explain(edited.data, local, edited_item.target)
            explained = time.perf_counter()
            scores = class_scores(
                self.model,
                edited.data,
                local,
                explanation.config["task"],
                explanation.config["return_type"],
                self.options.forward,
            )
        done = time.perf_counter()
        return Answer(edited, explanation, scores, done - explained, explained - began)

    def explain(
        self,
        data: Data,
        node: int | None,
        target: int | None,
        model: Any = None,
        **changes: Any,
    ) -> SubgraphExplanation:
        """Explain a graph with the options of the session, some of them changed.

        `model` is a copy of the session's model, for other threads.
        """
        options = replace(self.options, **changes)
        keywords = {entry.name: getattr(options, entry.name) for entry in fields(options)}
        model = self.model if model is None else model
        return explain(model, data, node=node, target=target, **keywords)

    def flip(self, edited_item: EditedItem) -> tuple[list[Pair], str]:
        """Return the edges whose removal changes the prediction, and a note if there are none.

        Pairs are nodes of the original graph, the lower one first in an undirected graph.
        """
        node = self.node(edited_item.item)
        edited = edited_item.edits.apply(self.graph(edited_item.item), node)
        local = None if node is None else edited.node_ids.index(node)
        keywords = {name: getattr(self.options, name) for name in _FLIP_OPTIONS}
        with self.active.interactive(), self._lock:
            found = flip(self.model, edited.data, node=local, max_size=_MOST_FLIPPED, **keywords)
        assert isinstance(found, FlipExplanation)
        ends = [[edited.node_ids[end] for end in pair] for pair in found.removed.t().tolist()]
        if edited.data.is_undirected():
            ends = [sorted(pair) for pair in ends]
        return sorted({(start, end) for start, end in ends}), found.note

    def cached(self, item: int) -> SubgraphExplanation | None:
        """Return the explanation of an original graph from disk, or None if it is not there."""
        row = self.cache.row(item)
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

    def _base_drawing(self, item: int) -> Drawing:
        explanation = self.cached(item)
        if explanation is None:
            explanation = self.explain(self.graph(item), self.node(item), None)
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
    except Exception:  # whatever a user's class raises: threads may share a model as well
        return model


def _check_untyped(dataset: Any) -> None:
    """Raise UnsupportedError for links and typed graphs, which cannot be edited here yet."""
    links = isinstance(dataset, GraphDataset) and dataset.task == "link"
    graphs = dataset.graphs if isinstance(dataset, GraphDataset) else dataset
    first = graphs[0] if isinstance(graphs, list | tuple) and graphs else graphs
    if links or isinstance(first, HeteroData):
        got = "links" if links else "a typed graph"
        raise UnsupportedError(
            f"Expected graphs or nodes without types to edit in the studio (got {got}). Explain "
            "them with `eigsearch explain --out` or `eigsearch.explain`, whose pages draw both."
        )


def _level(dataset: Any) -> str:
    if isinstance(dataset, GraphDataset):
        return dataset.task
    return "node" if isinstance(dataset, Data) else "graph"
