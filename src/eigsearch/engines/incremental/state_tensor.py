"""State tensors: what a model computes for all candidates, held as distinct rows.

A user's `forward` runs unchanged. `x` is a `StateTensor`, which looks like a tensor of all nodes of
all candidates and holds their distinct rows; `edge_index` and `batch` are `IndexTensor`s, which
hold no values at all. Every operation on them is intercepted by `Lifting`, a torch-function mode,
and carried out by a rule in `functions/`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, NoReturn

import torch
from torch import Tensor

from eigsearch.engines.incremental.bags import Bags, bags
from eigsearch.engines.incremental.context import EvalContext
from eigsearch.engines.incremental.errors import NotServed
from eigsearch.engines.incremental.index.state_table import StateTable
from eigsearch.engines.incremental.index.timelines import EdgeList
from eigsearch.engines.incremental.layout import Layout, Pairs, edges_of

Function = Callable[..., Any]

# Placeholders that no model uses as sizes of its own, so that one which comes back is recognised.
NUM_NODES = 16_777_259
_NUM_EDGES = 33_554_467
_STEP = 1_009  # between the sizes of different edge lists, and of different node types


class Count(int):
    """A placeholder for the number of nodes or edges, which a model may only pass on."""

    def __eq__(self, other: object) -> bool:
        if isinstance(other, int) and 1 < int(other) < NUM_NODES:
            self._refuse()
        return int.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = int.__hash__

    def __gt__(self, other: int) -> bool:
        return self._compared(other) or int.__gt__(self, other)

    def __ge__(self, other: int) -> bool:
        return self._compared(other) or int.__ge__(self, other)

    def __lt__(self, other: int) -> bool:
        return not self >= other

    def __le__(self, other: int) -> bool:
        return not self > other

    def _compared(self, other: int) -> bool:
        if other not in (0, 1) and not isinstance(other, Count):
            self._refuse()
        return False

    def _refuse(self, *_: Any) -> NoReturn:
        raise NotServed("The model computes with the number of nodes or edges.")

    def __add__(self, other: int) -> int:
        return self if type(other) is int and other == 0 else self._refuse()

    __radd__ = __add__
    __sub__ = __rsub__ = __mul__ = __rmul__ = _refuse
    __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = __mod__ = _refuse
    __pow__ = __rpow__ = __float__ = __divmod__ = _refuse


_NO_SIZE = (0,)  # the size that torch sees; a model sees the property `shape`


class LiftedTensor(Tensor):
    """A tensor without storage, whose operations the incremental engine carries out."""

    run: Run
    sizes: torch.Size
    layout = torch.strided
    requires_grad = False
    is_sparse = False

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise NotServed(
            f"`{func.__name__}`: The model calls this where the incremental engine cannot follow, "
            "such as in another thread."
        )

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # type: ignore[override]
        raise NotServed(
            f"`{func}`: The model calls this where the incremental engine cannot follow, such as "
            "in compiled code."
        )

    @property
    def shape(self) -> torch.Size:  # type: ignore[override]
        """The sizes, which may include placeholders for all nodes or edges."""
        return self.sizes

    def size(self, dim: int | None = None) -> Any:
        """Return the shape, or one size of it."""
        return self.shape if dim is None else self.shape[dim]

    def dim(self) -> int:
        """Return the number of dimensions."""
        return len(self.shape)

    ndimension = dim

    @property
    def ndim(self) -> int:  # type: ignore[override]
        """The number of dimensions."""
        return len(self.shape)

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self, **_: Any) -> str:  # type: ignore[override]
        return f"{type(self).__name__}({list(self.shape)})"

    def numel(self) -> int:
        """Return the number of elements: 0, or a placeholder if there are any."""
        return 0 if self.run.is_empty(self.shape) else Count(_NUM_EDGES * 1_000_003)

    nelement = numel

    def __bool__(self) -> bool:
        self.run.refused = self.run.refused or (
            "The model reads values of nodes or edges, or how many there are, in Python, as in "
            "`if x.sum() > 0`."
        )
        raise NotServed(self.run.refused)

    __len__ = __float__ = __int__ = __index__ = item = tolist = numpy = __array__ = __bool__  # type: ignore[assignment]


class Pending(NamedTuple):
    """A deferred aggregation: what it is combined with may save a deduplication.

    Attributes:
        reduce: Returns the reduced rows of bags.
        side: The end of the edges that messages are gathered at.
        layouts: The layouts of what is aggregated.
        dtype: The type of the result.
        carries: Whether it is a sum that hubs can compute from differences between rows.
    """

    reduce: Callable[[Bags], Tensor]
    side: int
    layouts: tuple[Layout, ...]
    dtype: torch.dtype
    carries: bool

    def bags(self, context: EvalContext, own: Layout | None = None) -> Bags:
        """Return the bags of the aggregation, for a combination with node values if given."""
        return context.once(bags, context, self.side, self.carries, own, *self.layouts)


class StateTensor(LiftedTensor):
    """Values of nodes, messages or pairs, as their distinct rows.

    Attributes:
        factor: Values of one column that the rows still have to be multiplied with, which a sum
            over messages can do as weights; None if there are none.
        pending: The deferred aggregation that gives the rows; None once they are computed.
        shared: Whether another tensor may be a view of the same values.
    """

    factor: StateTensor | None
    pending: Pending | None
    shared = False
    _entries: Layout
    _value: Tensor

    @property
    def entries(self) -> Layout:
        """Which distinct row each entry holds."""
        if self.pending is not None:
            self._aggregate()
        return self._entries

    @property
    def value(self) -> Tensor:
        """The distinct rows."""
        if self.pending is not None:
            self._aggregate()
        return self._value

    def _aggregate(self) -> None:
        assert self.pending is not None
        pending = self.pending
        found = pending.bags(self.run.context)
        self._entries, self._value, self.pending = found.layout, pending.reduce(found), None

    @property
    def dtype(self) -> torch.dtype:  # type: ignore[override]
        """The type of the values."""
        return self._value.dtype if self.pending is None else self.pending.dtype

    @property
    def device(self) -> torch.device:  # type: ignore[override]
        """The device of the values."""
        return self.run.context.device

    def assign(self, other: StateTensor) -> StateTensor:
        """Take over the rows of another tensor, as the result of an in-place operation."""
        if other.shape != self.shape or other.dtype != self.dtype:
            raise NotServed("The model changes the shape or the type of a tensor in place.")
        self.pending, self.factor = other.pending, other.factor
        if other.pending is None:
            self._entries, self._value = other._entries, other._value
        return self


class StackedTensor(LiftedTensor):
    """State tensors of the same entries, stacked along a new first dimension.

    Attributes:
        state: The same values with the first two dimensions swapped.
    """

    state: StateTensor

    @property
    def dtype(self) -> torch.dtype:  # type: ignore[override]
        """The type of the values."""
        return self.state.dtype

    @property
    def device(self) -> torch.device:  # type: ignore[override]
        """The device of the graphs."""
        return self.run.context.device


class IndexTensor(LiftedTensor):
    """Graph structure: `edge_index`, one row of it, `batch`, or node numbers.

    Attributes:
        edges: The edges, for `edge_index` and its rows.
        side: Which end of edges or links: 0 source, 1 target; for both ends, the one in row 0.
        kind: The node type, for tensors with an entry for each node.
        role: "edge_index", "end" (a row of it), "batch", "ptr", "nodes", "loops" (each node twice),
            "membership" (each node, and its candidate), "links" (one for each candidate) or "link"
            (one end of each).
    """

    edges: EdgeList | None
    side: int
    role: str
    kind: int
    dtype = torch.long

    @property
    def device(self) -> torch.device:  # type: ignore[override]
        """The device of the graphs."""
        return self.run.context.device


class Run:
    """One run of a model over the distinct states of a context.

    Attributes:
        context: The context.
        refused: Why an operation was refused, stored in case the model catches the exception.
    """

    def __init__(self, context: EvalContext) -> None:
        self.context = context
        self.refused = ""
        self._sizes: dict[int, EdgeList] = {}
        self._size_of: dict[EdgeList, Count] = {}
        types = context.types
        number = 1 if types is None else len(types.schema.node_types)
        self._nodes = [Count(NUM_NODES + _STEP * kind) for kind in range(number)]
        self._kinds = {int(size): kind for kind, size in enumerate(self._nodes)}

    def state(
        self, entries: Layout, value: Tensor, factor: StateTensor | None = None
    ) -> StateTensor:
        """Return a state tensor with a layout and its distinct rows."""
        shape = torch.Size((self.num_entries(entries), *value.shape[1:]))
        tensor = Tensor._make_wrapper_subclass(
            StateTensor, _NO_SIZE, dtype=value.dtype, device=self.context.device
        )
        tensor.run, tensor.sizes = self, shape
        tensor._entries, tensor._value, tensor.factor = entries, value, factor
        tensor.pending = None
        return tensor

    def pending(self, pending: Pending, shape: Sequence[int], kind: int) -> StateTensor:
        """Return a state tensor of nodes with a deferred aggregation."""
        sizes = torch.Size((self.num_nodes(kind), *shape))
        tensor = Tensor._make_wrapper_subclass(
            StateTensor, _NO_SIZE, dtype=pending.dtype, device=self.context.device
        )
        tensor.run, tensor.sizes, tensor.pending, tensor.factor = self, sizes, pending, None
        return tensor

    def stacked(self, state: StateTensor) -> StackedTensor:
        """Return a state tensor with its first two dimensions swapped."""
        tensor = Tensor._make_wrapper_subclass(
            StackedTensor, _NO_SIZE, dtype=state.dtype, device=self.context.device
        )
        entries, number, *rest = state.shape
        tensor.run, tensor.sizes, tensor.state = self, torch.Size((number, entries, *rest)), state
        return tensor

    def index(
        self, role: str, edges: EdgeList | None = None, side: int = 0, kind: int = 0
    ) -> IndexTensor:
        """Return a structure tensor for edges, or for the nodes of a type."""
        size = self.num_nodes(kind) if edges is None else self.num_edges(edges)
        shape = (2, size) if role in ("edge_index", "loops", "membership") else (size,)
        return self._index(role, edges, side, torch.Size(shape), kind)

    def links(self) -> IndexTensor:
        """Return the pairs of nodes to predict: one link for each candidate."""
        return self._index("links", None, 0, torch.Size((2, self.context.num_candidates)))

    def link_ends(self, links: IndexTensor, which: int) -> IndexTensor:
        """Return one end of each link."""
        return self._index("link", None, which ^ links.side, links.shape[1:])

    def turned(self, index: IndexTensor) -> IndexTensor:
        """Return edges or links with their ends swapped."""
        return self._index(index.role, index.edges, 1 - index.side, index.shape)

    def reshaped(self, index: IndexTensor, shape: torch.Size) -> IndexTensor:
        """Return the same structure, broadcast to a shape."""
        return self._index(index.role, index.edges, index.side, shape, index.kind)

    def _index(
        self, role: str, edges: EdgeList | None, side: int, shape: torch.Size, kind: int = 0
    ) -> IndexTensor:
        tensor = Tensor._make_wrapper_subclass(
            IndexTensor, _NO_SIZE, dtype=torch.long, device=self.context.device
        )
        tensor.run, tensor.sizes = self, shape
        tensor.role, tensor.edges, tensor.side, tensor.kind = role, edges, side, kind
        return tensor

    def num_entries(self, entries: Layout) -> int:
        """Return the size of the first dimension of a tensor with a layout."""
        space = entries.space
        if isinstance(space, StateTable | Pairs):
            return self.num_nodes(space.kind)
        edges = edges_of(space)
        assert edges is not None
        return self.num_edges(edges)

    def num_nodes(self, kind: int = 0) -> Count:
        """Return the placeholder for the number of nodes of a type."""
        return self._nodes[kind]

    def kind_of_nodes(self, size: Any) -> int | None:
        """Return the node type that a size stands for; None if it stands for none."""
        return self._kinds.get(int(size)) if isinstance(size, int) else None

    def num_edges(self, edges: EdgeList) -> Count:
        """Return the placeholder for the number of these edges."""
        if edges not in self._size_of:
            size = _NUM_EDGES + _STEP * len(self._size_of)
            self._size_of[edges], self._sizes[size] = Count(size), edges
        return self._size_of[edges]

    def is_empty(self, shape: torch.Size) -> bool:
        """Return whether a shape is that of an edge list without edges."""
        edges = [self._sizes[int(size)] for size in shape if int(size) in self._sizes]
        return any(len(each) == 0 for each in edges)

    def constant(self, value: Tensor, size: int) -> StateTensor:
        """Return a state tensor of one row for all nodes or edges that a size stands for."""
        context, kind = self.context, self.kind_of_nodes(size)
        space = self._sizes[int(size)] if kind is None else context.part(context.base, kind)
        return self.state(context.once(context.constant, space), value)

    def stands_for(self, size: Any) -> bool:
        """Return whether a size is a placeholder for all nodes, or for some edges."""
        return isinstance(size, int) and (int(size) in self._kinds or int(size) in self._sizes)
