"""How far a model sees: the computation graphs of nodes, widened until a hop more is no news."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from eigsearch.candidates import Whole
from eigsearch.engine import BatchedEngine, Request
from eigsearch.groups import GroupSpec
from eigsearch.neighbourhood import (
    Neighbourhood,
    count_hops,
    counted_calls,
    counts_leaving,
    message_flow,
)
from eigsearch.query import Query, node_query
from eigsearch.sound import check_graph

_SAME, _NEAR = 1e-4, 1e-5  # relative and absolute; rounding is smaller
_EXTRA_HOPS = 3  # a model whose reach is still unclear after so many is given the whole graph


class Reach:
    """Cuts the computation graphs of nodes, as wide as the model sees.

    Its layers say how wide that is, but a model may do more than its layers say; so the outputs on
    what was cut are compared with those on one hop more, and with the edges that leave its nodes,
    whose number a layer may look at.
    """

    def __init__(self, model: Any, groups: GroupSpec, engine: BatchedEngine) -> None:
        self._model = model
        self._groups = groups
        self._engine = engine
        self._hops = count_hops(model)
        self._counted = False  # whether layers were seen being called
        self._leaving = counts_leaving(model)
        self._extra_hops = 0
        self._whole_agrees = False
        self._known: Neighbourhood | None = None

    def query(self, data: Data, node: int) -> Query:
        """Return the query about a node of a graph."""
        query = node_query(data, node, self._around(data))
        if self._counted or self._hops is None:
            return query
        self._hops = self._hops_of_calls(query)
        return node_query(data, node, self._around(data))

    def _hops_of_calls(self, query: Query) -> int | None:
        """Return how many hops the model sees, with a layer counted as often as it is called."""
        self._counted = True
        with counted_calls(self._model) as calls:
            self._engine.outputs([Request(query, Whole(query.groups.count))])
        return count_hops(self._model, calls)

    def suffices(self, queries: Sequence[Query], outputs: Sequence[Tensor]) -> bool:
        """Tell whether a wider cut changes nothing about the outputs of nodes.

        Asking the whole graph would tell as well, at the price of the whole graph.
        """
        if self._hops is None or queries[0].source_node is None:
            return True
        wider = [self._widened(query) for query in queries]
        seen = self._engine.outputs([Request(query, Whole(query.groups.count)) for query in wider])
        return all(_same(*each) for each in zip(outputs, (more[0] for more in seen), strict=True))

    def widen(self) -> None:
        """Take leaving edges into computation graphs, or else one hop more; in the end all."""
        self._whole_agrees = False
        assert self._hops is not None  # nothing is missing from a whole graph
        assert self._known is not None
        if not self._leaving and not self._known.closed:
            self._leaving = True
            return
        self._extra_hops += 1
        self._hops = None if self._extra_hops > _EXTRA_HOPS else self._hops + 1

    def _around(self, data: Data) -> Neighbourhood:
        """Return what cuts computation graphs out of this graph; built once for many nodes."""
        known = self._known
        if known is None or known.data is not data:
            check_graph(data)
            self._engine.caller.check(data)
            flow = message_flow(self._model)
            known = Neighbourhood(data, self._groups, self._hops, flow, self._leaving)
        self._known = known.reaching(self._hops, self._leaving)
        return self._known

    def _widened(self, query: Query) -> Query:
        """Return the query on a wider cut; on the whole graph where there is none."""
        assert self._hops is not None
        assert query.source_node is not None
        around = self._around(query.source)
        further = around.reaching(self._hops + 1, leaving=True)
        wider = node_query(query.source, query.source_node, further)
        if wider.data.num_edges > query.data.num_edges or self._whole_agrees:
            return wider
        self._whole_agrees = True  # or the caller will widen, and nothing is compared any more
        return node_query(query.source, query.source_node, around.reaching(None, leaving=True))


def _same(output: Tensor, more: Tensor) -> bool:
    """Tell whether outputs agree but for rounding, whatever unit they are in."""
    near = min(_NEAR, _SAME * float(output.abs().max()))
    return torch.allclose(output, more, rtol=_SAME, atol=near)
