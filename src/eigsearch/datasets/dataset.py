"""The data set object: graphs, names of classes and columns, provenance."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from torch import Tensor
from torch_geometric.data import Data, HeteroData

Task = Literal["graph", "node", "link"]
_READ = ("x", "edge_index", "y", "edge_label_index")  # what a model is trained on


@dataclass(frozen=True, eq=False)
class GraphDataset:
    """A list of graphs with one prediction task, and everything needed to read an explanation.

    Each graph is a PyG `Data` with `x`, `edge_index` and `y`. Where the true explanation is known,
    `edge_label` (bool, one per directed edge, both directions marked) holds it. Node sets have one
    graph and two more fields, `node_motif` and `edge_motif`: the number of the motif that a node or
    an edge belongs to, -1 outside. Molecules have `node_label`, the row in `node_names` per atom,
    and `edge_names` says what the columns of their `edge_attr` stand for, where that is known.

    Link sets have one graph whose `edge_label_index` `[2, L]` lists the links, `y` their classes,
    and `link_truth` their true edges (see `eigsearch.datasets.link_truth`). The graph of a node or
    link set may be a `HeteroData`: `x`, `edge_label`, `edge_motif` and `link_truth` are then those
    of its node and edge types, and `target_type` names the type of the predicted nodes, or the
    types of both ends of links.
    """

    name: str
    task: Task
    graphs: tuple[Data, ...]
    num_classes: int
    class_names: tuple[str, ...]
    description: str
    citation: str
    provenance: str
    node_names: tuple[str, ...] | None = None
    edge_names: tuple[str, ...] | None = None
    target_type: str | tuple[str, str] | None = None
    output_names: tuple[str, ...] | None = None  # what a regression predicts
    unit: str = ""  # of these values

    @property
    def num_features(self) -> int | dict[str, int]:
        """The width of `x`, 0 without it; of a typed graph, by node type."""
        count = self.graphs[0].num_features
        return dict(count) if self.is_typed else int(count)

    @property
    def is_typed(self) -> bool:
        """Whether graphs have types of nodes and edges."""
        return isinstance(self.graphs[0], HeteroData)

    @property
    def labels(self) -> Tensor:
        """The classes of the nodes of a node set, or of the links of a link set."""
        graph = self.graphs[0]
        return graph[self.target_type].y if isinstance(self.target_type, str) else graph.y

    @property
    def num_predictions(self) -> int:
        """The number of predictions: graphs, nodes of a node set, or links of a link set."""
        return len(self) if self.task == "graph" else len(self.labels)

    @property
    def has_ground_truth(self) -> bool:
        """Whether each graph carries its true explanation as `edge_label`."""
        stores = [graph.stores[-1] for graph in self.graphs]  # the last one is of edges
        return all("edge_label" in store or "link_truth" in store for store in stores)

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of what a model is trained on: features, edges, classes and links."""
        total = hashlib.sha256()
        for graph in self.graphs:
            for store in graph.stores:
                total.update(str(store._key or "").encode())
                for key in _READ:
                    if key in store and store[key] is not None:
                        total.update(f"{store[key].dtype}{tuple(store[key].shape)}".encode())
                        total.update(store[key].contiguous().numpy().tobytes())
        return total.hexdigest()

    def __len__(self) -> int:
        return len(self.graphs)

    def __getitem__(self, index: int) -> Data:
        return self.graphs[index]

    def __iter__(self) -> Iterator[Data]:
        return iter(self.graphs)

    def __repr__(self) -> str:
        return (
            f"GraphDataset({self.name}, {len(self)} graphs, task={self.task}, "
            f"classes={self.num_classes}, features={self.num_features}, {self.provenance})"
        )
