"""Split the inputs that PyG's `Explainer` passes into single graphs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Batch, Data

from eigsearch.errors import InputError, UnsupportedError
from eigsearch.inference.forward_parameters import parameters_of
from eigsearch.inference.link_input import LINK
from eigsearch.inference.model_call import Forward

BATCHING = ("batch", "batch_size", "ptr")  # recomputed for each batch of candidates


def link_argument(others: Mapping[str, Any]) -> str:
    """Return the name of the argument that holds the links to predict; "" if there is none.

    Raises:
        InputError: If it is no pair of nodes, `[2]`, nor several, `[2, L]`; or holds none.
    """
    named = [
        name for name, value in others.items() if isinstance(value, Tensor) and "index" in name
    ]
    name = LINK if LINK in named else named[0] if len(named) == 1 else ""
    if name and (others[name].dim() not in (1, 2) or others[name].size(0) != 2):
        raise InputError(
            f"Expected `{name}` to have shape [2] or [2, L] (got {list(others[name].shape)}). "
            "Pass the two ends of each link as two rows."
        )
    if name and not others[name].numel():
        raise InputError(
            f"Expected `{name}` to hold at least one link (got shape {list(others[name].shape)}). "
            "Pass the two ends of a link."
        )
    return name


@dataclass(frozen=True, eq=False)
class Inputs:
    """The arguments of a model: features, edges, and others by name.

    Attributes:
        x: Node features of all graphs.
        edge_index: Edges of all graphs.
        others: Further arguments of the model, by name.
        at_links: Whether the model predicts links.
    """

    x: Tensor
    edge_index: Tensor
    others: dict[str, Any]
    at_links: bool = False

    @property
    def dtype(self) -> torch.dtype:
        """The type of masks."""
        return self.x.dtype if self.x.is_floating_point() else torch.get_default_dtype()

    @property
    def device(self) -> torch.device:
        """Where the graphs are."""
        return self.edge_index.device

    @property
    def num_edges(self) -> int:
        """The number of edges of all graphs."""
        return self.edge_index.size(1)

    @cached_property
    def link_name(self) -> str:
        """The argument that holds the links to predict; "" where none are."""
        return link_argument(self.others) if self.at_links else ""

    @property
    def links(self) -> Tensor:
        """The links to predict, `[2, L]`."""
        return self.others[self.link_name].reshape(2, -1)

    def subjects(self, level: str, outputs: Tensor) -> list[tuple[int, dict[str, Any]]]:
        """Return, for each output, the number of its graph and the node or link it is about."""
        if level == "graph":
            return [(number, {}) for number in outputs.tolist()]
        ends = self.links[:, outputs].t() if level == "edge" else outputs[:, None]
        numbers = self.graph_of_node.cpu()[ends[:, 0].cpu()].tolist()
        places = self.place.cpu()[ends.cpu()].tolist()
        if level == "edge":
            return [(n, {"link": tuple(pair)}) for n, pair in zip(numbers, places, strict=True)]
        return [(number, {"node": node}) for number, (node,) in zip(numbers, places, strict=True)]

    def num_outputs(self, level: str, target: Tensor) -> int:
        """Return the number of predictions of a model."""
        if level == "edge":
            return self.links.size(1)
        return self.num_nodes if level == "node" else self.num_graphs

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
        names = [name for name in self.others if name not in (*BATCHING, self.link_name)]
        return {name: self._level(name, self.others[name]) for name in names}

    def _level(self, name: str, value: Any) -> str:
        if not isinstance(value, Tensor) or value.dim() == 0:
            return "constant"
        if "index" in name:
            raise UnsupportedError(
                f"Expected the model's arguments to be node-, edge- or graph-level (got `{name}`, "
                "which holds node indices). Set task_level='edge' for a model that predicts links, "
                "or pass EiGSearch(forward=…) to compute it."
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
        """The single graphs, each with its part of every argument."""
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
        named = {"x", "edge_index", *self.others} <= set(parameters)
        if named and not constants and self.link_name in ("", LINK):
            return None, takes_batch
        batching = [k for k in BATCHING if k in self.others or k in parameters]

        def call(model: Any, batch: Batch) -> Tensor:
            given = {"batch": batch.batch, "batch_size": batch.num_graphs, "ptr": batch.get("ptr")}
            arguments = {name: given[name] for name in batching}
            arguments.update({name: batch[name] for name in cut}, **constants)
            if self.link_name:
                arguments[self.link_name] = batch[LINK]
            return model(batch.x, batch.edge_index, **arguments)

        return call, takes_batch


def _split(owner: Tensor, count: int) -> list[Tensor]:
    """Return the positions that belong to each owner, in order."""
    order = owner.argsort(stable=True)
    return list(order.split(torch.bincount(owner, minlength=count).tolist()))
