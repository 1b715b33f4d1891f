"""One layer's step: the values below, the rows above, and the messages between them."""

from __future__ import annotations

import numpy as np
from torch import Tensor

from eigsearch._utils.hashing import mixed
from eigsearch.engines.incremental.context import Scene, State
from eigsearch.engines.incremental.index.dedup import distinct, list_keys, row_keys
from eigsearch.engines.incremental.index.ragged import Array, starts
from eigsearch.engines.incremental.index.state_table import Table


class Step:
    """One layer's step: the values below, the rows above, and the messages between them.

    Once `unite` has been called, the rows that hold the same value are one.

    Attributes:
        table: The rows above.
        place: For each of them, where its value will stand.
        chosen: The rows that are computed, one for each place.
        own: The value below of each chosen row's own node.
        source, edge, row: The messages: the value that is sent, along which edge, to which place.
        sent: The moment of the source of each message.
        weight, own_weight: The coefficients of messages and own values, where a layer has some.
    """

    def __init__(
        self, scene: Scene, state: State, table: Table, edge_inputs: dict[str, Tensor]
    ) -> None:
        self.scene = scene
        self.below = state
        self.table = table
        self.edge_inputs = edge_inputs
        self.own = state.place.take(table.own(state.table))
        self.edge, self.row, self.sent = table.messages()
        self.source = state.place.take(state.table.at(self.sent))
        self.chosen = self.place = np.arange(len(table))
        self.weight: Array | None = None
        self.own_weight: Array | None = None

    def weigh(self, weight: Array, own_weight: Array) -> None:
        """Give each message, and each row's own value, a coefficient."""
        self.weight, self.own_weight = weight, own_weight

    def drop_self_loops(self) -> None:
        """Leave out messages of nodes to themselves, for layers that bring their own."""
        lanes = self.scene.lanes
        other = lanes.source.take(self.edge) != lanes.target.take(self.edge)
        if not other.all():
            self._keep_messages(np.flatnonzero(other))

    def unite(self) -> None:
        """Make the rows of one colour one."""
        if not self.below.has_equals:
            return
        colours = len(self.below.value)
        key = row_keys(colours, self.own, self.offsets, self.source, self._content())
        if self.own_weight is not None:
            key = mixed(key + self.own_weight.view(np.uint64))
        self.chosen, self.place = distinct(key)
        computed = np.zeros(len(self.table), bool)
        computed[self.chosen] = True
        self._keep_messages(np.flatnonzero(computed.take(self.row)))
        self.row = self.place.take(self.row)
        self.own = self.own.take(self.chosen)
        if self.own_weight is not None:
            self.own_weight = self.own_weight.take(self.chosen)

    def own_value(self) -> Tensor:
        """Return the state below of each row's own node."""
        return self.below.value.index_select(0, self.scene.tensor(self.own))

    def edge_values(self) -> dict[str, Tensor]:
        """Return the edge attributes of each message."""
        edge = self.scene.tensor(self.scene.lanes.edge.take(self.edge))
        return {name: value.index_select(0, edge) for name, value in self.edge_inputs.items()}

    def bags(self) -> tuple[Tensor, Tensor]:
        """Return the messages as bags: all sources, and where those of each row begin."""
        return self.scene.tensor(self.source), self.scene.tensor(self.offsets)

    def bags_with_own(self) -> tuple[Tensor, Tensor, Tensor | None]:
        """Return the bags with each row's own state in them, and the weights of their members."""
        offsets = self.offsets + np.arange(len(self.own) + 1)
        # Messages stand by row, so each moves on by as many places as there are rows before its.
        places = offsets[1:] - 1, np.arange(len(self.row)) + self.row
        rows = self.scene.tensor(_mixed(places, self.own, self.source))
        if self.weight is None or self.own_weight is None:
            return rows, self.scene.tensor(offsets), None
        weight = _mixed(places, self.own_weight, self.weight)
        return rows, self.scene.tensor(offsets), self.scene.tensor(weight)

    @property
    def offsets(self) -> Array:
        """Where the messages of each row begin, and at the end their number."""
        return starts(np.bincount(self.row, minlength=len(self.own)))

    def _keep_messages(self, kept: Array) -> None:
        self.source, self.edge = self.source.take(kept), self.edge.take(kept)
        self.row, self.sent = self.row.take(kept), self.sent.take(kept)
        if self.weight is not None:
            self.weight = self.weight.take(kept)

    def _content(self) -> Array | None:
        """Return a hash of what each message carries besides the value of its source."""
        if self.weight is not None:
            return self.weight.view(np.uint64)
        keys = [self.scene.edge_keys(value) for value in self.edge_inputs.values()]
        return list_keys(keys).take(self.scene.lanes.edge.take(self.edge)) if keys else None


def _mixed(places: tuple[Array, Array], own: Array, others: Array) -> Array:
    both = np.empty(len(own) + len(others), own.dtype)
    both[places[0]], both[places[1]] = own, others
    return both
