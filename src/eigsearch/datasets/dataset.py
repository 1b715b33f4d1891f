"""The data set object: graphs, names of classes and columns, provenance."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from torch_geometric.data import Data

Task = Literal["graph", "node"]


@dataclass(frozen=True, eq=False)
class GraphDataset:
    """A list of graphs with one prediction task, and everything needed to read an explanation.

    Each graph is a PyG `Data` with `x`, `edge_index` and `y`. Where the true explanation is known,
    `edge_label` (bool, one per directed edge, both directions marked) holds it. Node sets have one
    graph and two more fields, `node_motif` and `edge_motif`: the number of the motif that a node or
    an edge belongs to, -1 outside. Molecules have `node_label`, the row in `node_names` per atom.
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

    @property
    def num_features(self) -> int:
        """The width of `x`; 0 without it."""
        return int(self.graphs[0].num_features)

    @property
    def num_predictions(self) -> int:
        """The number of predictions: graphs, or nodes of a node set."""
        return len(self) if self.task == "graph" else int(self.graphs[0].num_nodes)

    @property
    def has_ground_truth(self) -> bool:
        """Whether each graph carries its true explanation as `edge_label`."""
        return all("edge_label" in graph for graph in self.graphs)

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of `x`, `edge_index` and `y` of all graphs: what a model is trained on."""
        total = hashlib.sha256()
        for graph in self.graphs:
            for key in ("x", "edge_index", "y"):
                if graph.get(key) is not None:
                    total.update(f"{graph[key].dtype}{tuple(graph[key].shape)}".encode())
                    total.update(graph[key].contiguous().numpy().tobytes())
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
