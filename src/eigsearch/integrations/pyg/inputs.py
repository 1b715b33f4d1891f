"""What PyG's `Explainer` passes, taken apart into single graphs with their own attributes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Batch, Data

from eigsearch.errors import InputError, UnsupportedError
from eigsearch.inference.model_call import Forward, parameters_of

_BATCHING = ("batch", "batch_size", "ptr")  # recomputed for each batch of candidates


@dataclass(frozen=True, eq=False)
class Inputs:
    """The arguments of a model: features, edges, and others by name.

    Attributes:
        x: Node features of all graphs.
        edge_index: Edges of all graphs.
        others: Further arguments of the model, by name.
    """

    x: Tensor
    edge_index: Tensor
    others: dict[str, Any]

    def __post_init__(self) -> None:
        if isinstance(self.x, dict) or isinstance(self.edge_index, dict):
            raise UnsupportedError(
                "Expected a homogeneous graph (got dictionaries of node and edge types). "
                "Heterogeneous graphs are not supported yet."
            )

    @property
    def num_nodes(self) -> int:
        """The number of nodes of all graphs."""
        return self.x.size(0)

    @cached_property
    def graph_of_node(self) -> Tensor:
        """The graph that each node is in."""
        batch = self.others.get("batch")
        if batch is None:
            return self.edge_index.new_zeros(self.num_nodes, dtype=torch.long)
        if batch.shape != (self.num_nodes,):
            raise InputError(
                f"Expected `batch` to have one entry for each of {self.num_nodes} nodes "
                f"(got shape {list(batch.shape)}). Pass the vector that PyG's Batch has."
            )
        return batch

    @cached_property
    def num_graphs(self) -> int:
        """The number of graphs."""
        return int(self.graph_of_node.max()) + 1 if self.num_nodes else 0

    @cached_property
    def levels(self) -> dict[str, str]:
        """For each further argument: node, edge, graph, or constant; batching is left out."""
        names = [name for name in self.others if name not in _BATCHING]
        return {name: self._level(name, self.others[name]) for name in names}

    def _level(self, name: str, value: Any) -> str:
        if not isinstance(value, Tensor) or value.dim() == 0:
            return "constant"
        if "index" in name:
            raise UnsupportedError(
                f"Expected the model's arguments to be node-, edge- or graph-level (got `{name}`, "
                "which holds node indices). Pass EiGSearch(forward=…) to compute it."
            )
        sizes = {"node": self.num_nodes, "edge": self.edge_index.size(1), "graph": self.num_graphs}
        fitting = [level for level, size in sizes.items() if size == value.size(0)]
        if "edge" in fitting and len(fitting) > 1:  # only the name can tell
            fitting = ["edge"] if "edge" in name else [lv for lv in fitting if lv != "edge"]
        return fitting[0] if fitting else "constant"

    @cached_property
    def node_ids(self) -> list[Tensor]:
        """The nodes of each graph."""
        return _split(self.graph_of_node, self.num_graphs)

    @cached_property
    def edge_ids(self) -> list[Tensor]:
        """The edges of each graph."""
        source, target = self.graph_of_node[self.edge_index]
        if not torch.equal(source, target):
            raise InputError(
                f"Expected each edge to stay within one graph of `batch` (got "
                f"{int((source != target).sum())} that do not). Check `batch` and `edge_index`."
            )
        return _split(source, self.num_graphs)

    @cached_property
    def place(self) -> Tensor:
        """The number of each node within its graph."""
        place = torch.empty_like(self.graph_of_node)
        for nodes in self.node_ids:
            place[nodes] = torch.arange(nodes.numel(), device=place.device)
        return place

    @property
    def whole(self) -> Data:
        """All graphs as one, with every argument that is cut."""
        return Data(x=self.x, edge_index=self.edge_index, **dict(self._sliced(None)))

    @cached_property
    def graphs(self) -> list[Data]:
        """Each graph by itself, with what belongs to it of every argument."""
        if self.num_graphs == 1:
            return [self.whole]
        return [self._graph(number) for number in range(self.num_graphs)]

    def _graph(self, number: int) -> Data:
        edge_index = self.place[self.edge_index[:, self.edge_ids[number]]]
        return Data(
            x=self.x[self.node_ids[number]], edge_index=edge_index, **dict(self._sliced(number))
        )

    def _sliced(self, number: int | None) -> Iterator[tuple[str, Tensor]]:
        for name, level in self.levels.items():
            value = self.others[name]
            if level == "constant":
                continue
            if number is None:
                yield name, value
            elif level == "graph":
                yield name, value[number : number + 1]
            else:
                ids = self.node_ids if level == "node" else self.edge_ids
                yield name, value[ids[number]]

    def caller_for(self, model: Any) -> tuple[Forward | None, bool]:
        """Return how to call the model as PyG does, and whether it can tell graphs apart.

        None where calling by argument names does the same; a model that PyG's conventions do not
        name, or that takes constants, gets `x` and `edge_index` by position.
        """
        parameters = parameters_of(model)
        takes_batch = "batch" in parameters or "batch" in self.others
        constants = {k: self.others[k] for k, level in self.levels.items() if level == "constant"}
        cut = [name for name, level in self.levels.items() if level != "constant"]
        if {"x", "edge_index", *self.others} <= set(parameters) and not constants:
            return None, takes_batch
        batching = [k for k in _BATCHING if k in self.others or k in parameters]

        def call(model: Any, batch: Batch) -> Tensor:
            given = {"batch": batch.batch, "batch_size": batch.num_graphs, "ptr": batch.get("ptr")}
            arguments = {name: given[name] for name in batching}
            arguments.update({name: batch[name] for name in cut}, **constants)
            return model(batch.x, batch.edge_index, **arguments)

        return call, takes_batch


def _split(owner: Tensor, count: int) -> list[Tensor]:
    """Return the positions that belong to each owner, in order."""
    order = owner.argsort(stable=True)
    return list(order.split(torch.bincount(owner, minlength=count).tolist()))
