"""The inputs that PyG's `Explainer` passes for a typed graph: dicts by type."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import HeteroData

from eigsearch.errors import InputError, UnsupportedError
from eigsearch.inference.link_input import LINK
from eigsearch.inference.model_call import Forward
from eigsearch.inference.typed_arguments import argument_value
from eigsearch.integrations.pyg.inputs import BATCHING, link_argument

EdgeType = tuple[str, str, str]


@dataclass(frozen=True, eq=False)
class TypedInputs:
    """The arguments of a model that takes dicts.

    Attributes:
        x: Node features by node type.
        edge_index: Edges by edge type.
        others: Further arguments of the model, by name: dicts by type, or anything else.
        model: The model, which is called to find out the node types that it predicts.
        at_links: Whether the model predicts links.
    """

    x: dict[str, Tensor]
    edge_index: dict[EdgeType, Tensor]
    others: dict[str, Any]
    model: Any
    at_links: bool = False

    @property
    def num_graphs(self) -> int:
        """One: several typed graphs are explained one at a time."""
        batch = _without_suffix(self.others).get("batch")
        if isinstance(batch, dict) and any(int(b.max()) > 0 for b in batch.values() if b.numel()):
            raise UnsupportedError(
                "Expected one typed graph (got a batch of several). Explain them one at a time, or "
                "with eigsearch.explain_dataset(model, list_of_hetero_data)."
            )
        return 1

    @cached_property
    def whole(self) -> HeteroData:
        """The typed graph with every argument that is cut."""
        data = HeteroData()
        for node_type, x in self.x.items():
            data[node_type].x = x
        for edge_type, edge_index in self.edge_index.items():
            missing = {edge_type[0], edge_type[2]} - set(self.x)
            if missing:
                raise InputError(
                    f"Expected `x` to have features of every node type (got none of "
                    f"{sorted(missing)[0]!r}, which {edge_type} needs). Add them to the dict."
                )
            data[edge_type].edge_index = edge_index
        for name, values in _without_suffix(self._dicts).items():
            for kind, value in values.items():
                data[kind][name] = value
        return data

    @property
    def graphs(self) -> list[HeteroData]:
        """The one typed graph."""
        return [self.whole]

    @property
    def dtype(self) -> torch.dtype:
        """The type of masks."""
        kinds = [x.dtype for x in self.x.values() if x.is_floating_point()]
        return kinds[0] if kinds else torch.get_default_dtype()

    @property
    def device(self) -> torch.device:
        """Where the graph is."""
        return next(iter(self.x.values())).device

    @property
    def num_edges(self) -> int:
        """The number of edges of all types."""
        return sum(edge_index.size(1) for edge_index in self.edge_index.values())

    @property
    def edge_ids(self) -> list[Tensor]:
        """The edges of the one graph, numbered type by type."""
        return [torch.arange(self.num_edges, device=self.device)]

    @cached_property
    def link_name(self) -> str:
        """The argument that holds the links to predict; "" where none are."""
        return link_argument(self.others) if self.at_links else ""

    def num_outputs(self, level: str, target: Tensor) -> int:
        """Return the number of predictions of a model."""
        if level == "edge":
            return self.others[self.link_name].reshape(2, -1).size(1)
        return int(target.size(0)) if level == "node" else self.num_graphs

    def subjects(self, level: str, outputs: Tensor) -> list[tuple[int, dict[str, Any]]]:
        """Return, for each output, the node or link that it is about."""
        if level == "graph":
            return [(0, {}) for _ in outputs]
        if level == "node":
            return [(0, {"node": (self._predicted_type, node)}) for node in outputs.tolist()]
        source, target = self._link_types
        pairs = self.others[self.link_name].reshape(2, -1)[:, outputs.to(self.device)].t()
        return [(0, {"link": ((source, u), (target, v))}) for u, v in pairs.tolist()]

    def caller_for(self, model: Any) -> tuple[Forward | None, bool]:
        """Return how to call the model as PyG does: dicts by position, the others by name."""
        fixed = {k: v for k, v in self.others.items() if k not in self._dicts}
        fixed = {k: v for k, v in fixed.items() if k not in (*BATCHING, self.link_name)}
        batching = [name for name in self.others if name.removesuffix("_dict") in BATCHING]

        def call(model: Any, batch: Any) -> Tensor:
            cut = {name: argument_value(batch, name) for name in (*self._dicts, *batching)}
            links = {self.link_name: batch[LINK]} if self.link_name else {}
            x, edge_index = argument_value(batch, "x"), argument_value(batch, "edge_index")
            return model(x, edge_index, **cut, **fixed, **links)

        return call, bool(batching)

    @cached_property
    def _dicts(self) -> dict[str, Any]:
        return {
            name: value
            for name, value in self.others.items()
            if isinstance(value, Mapping) and name.removesuffix("_dict") not in BATCHING
        }

    @cached_property
    def _predicted_type(self) -> str:
        """The node type whose nodes the model predicts."""
        rows = self._output().size(0)
        fitting = [kind for kind, x in self.x.items() if x.size(0) == rows]
        if len(fitting) > 1:  # without edges a node is predicted by its own features
            fitting = [kind for kind in fitting if self._moves(kind, slice(None))] or fitting
        if len(fitting) != 1:
            raise InputError(
                f"Expected the model to predict the nodes of one type (got {rows} rows, which "
                f"{' and '.join(fitting) or 'no type'} could be). Name the type: "
                "eigsearch.explain(model, data, node=(type, number))."
            )
        return fitting[0]

    @cached_property
    def _link_types(self) -> tuple[str, str]:
        """The node types of the two ends of links."""
        return self._end_type(0), self._end_type(1)

    def _end_type(self, side: int) -> str:
        """Return the node type of one end of the links, found by calling the model."""
        fitting = list(self.x)
        if len(fitting) > 1 and self.device.type == "cpu":  # elsewhere a bad index is fatal
            found = [kind for kind in fitting if self._ends_at(self.x[kind].size(0), side)]
            fitting = found or fitting
        if len(fitting) > 1:
            ends = self._unequal_ends()
            found = [kind for kind in fitting if self._moves(kind, int(ends[side]), ends)]
            fitting = found or fitting
        if len(fitting) != 1:
            raise InputError(
                f"Expected the {('first', 'second')[side]} ends of links to be nodes of one type "
                f"(got {' or '.join(fitting)}, which cannot be told apart). Name the types: "
                "eigsearch.explain(model, data, link=((type, number), (type, number)))."
            )
        return fitting[0]

    def _ends_at(self, size: int, side: int) -> bool:
        """Return whether an end may have the index `size - 1`, and not `size`."""
        ends = self.others[self.link_name].reshape(2, -1)[:, :1].repeat(1, 2)
        ends[side] = torch.tensor([size - 1, size])
        try:
            self._output(links=ends[:, :1])
        except Exception:
            return False
        try:
            self._output(links=ends[:, 1:])
        except Exception:
            return True
        return False

    def _unequal_ends(self) -> Tensor:
        """Return a pair of different numbers: changing one end does not change the other."""
        ends = self.others[self.link_name].reshape(2, -1)
        different = (ends[0] != ends[1]).nonzero().flatten()
        if different.numel():
            return ends[:, different[:1]]
        first = int(ends[0, 0])
        return torch.tensor([[first], [first - 1 if first else 1]], device=ends.device)

    def _moves(self, kind: str, nodes: int | slice, links: Tensor | None = None) -> bool:
        """Return whether an output without edges changes with features of a type."""
        alone = {edge_type: edges[:, :0] for edge_type, edges in self.edge_index.items()}
        x = self.x[kind].clone()
        x[nodes] += 1
        try:
            before = self._output(self.x, alone, links)
            return not torch.equal(before, self._output({**self.x, kind: x}, alone, links))
        except Exception:  # a model that needs edges, or a node that is not there
            return False

    def _output(
        self,
        x: dict[str, Tensor] | None = None,
        edge_index: dict[EdgeType, Tensor] | None = None,
        links: Tensor | None = None,
    ) -> Tensor:
        """Return the output of the model, by default for the user's input."""
        others = self.others if links is None else {**self.others, self.link_name: links}
        edges = self.edge_index if edge_index is None else edge_index
        with torch.no_grad():
            return self.model(self.x if x is None else x, edges, **others)


def _without_suffix(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name.removesuffix("_dict"): value for name, value in values.items()}
