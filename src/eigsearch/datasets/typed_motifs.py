"""Generate Typed-Motifs: nodes whose class is decided by the types of two-step chains.

All chains have the same shape, and all combinations of types are equally frequent, so that neither
shape nor frequency says which chains count: that can only be learned from the classes.
"""

import torch
from numpy.random import RandomState
from torch import Tensor
from torch_geometric.data import HeteroData

from eigsearch.datasets.typed_builder import EdgeType, TypedGraphBuilder, reverse_type

Chain = tuple[str, str]  # the type of the arm, the type of the end

# Which chains speak for class 0, which for class 1, and which for neither.
MOTIFS: tuple[tuple[Chain, Chain], ...] = ((("a", "x"), ("b", "y")), (("a", "y"), ("b", "x")))
NEUTRAL: tuple[Chain, Chain] = (("a", "z"), ("b", "z"))
END_TYPES, ENDS_PER_TYPE = "xyz", 20
OWN, OTHER = 3, 1  # chains of the node's own class, and of the other one


def typed_motifs(seed: int = 0, count: int = 240) -> tuple[HeteroData]:
    """Return one graph of `count` centers, each with a handful of typed chains.

    A chain is center–arm–end: the arm belongs to one center, ends are shared and drawn by
    preferential attachment. The class of a center is the motif that it has three chains of.
    """
    return (_Generator(RandomState(seed), count).generate(),)


class _Generator:
    def __init__(self, rng: RandomState, count: int) -> None:
        self.rng, self.count = rng, count
        self.builder = TypedGraphBuilder()
        self.truth: list[tuple[tuple[EdgeType, int], int]] = []  # an edge, and its center
        # Every end as often as its degree, and once more.
        self.pools = {
            kind: [self.builder.add_node(kind) for _ in range(ENDS_PER_TYPE)] for kind in END_TYPES
        }

    def generate(self) -> HeteroData:
        labels = [number % 2 for number in range(self.count)]
        for label in labels:
            self._add_center(label)
        data = self.builder.to_data()
        for node_type in data.node_types:
            data[node_type].x = torch.ones(data[node_type].num_nodes, 1)
        data["center"].y = torch.tensor(labels)
        data["center"].node_motif = torch.arange(self.count)
        _mark(data, self.truth)
        return data

    def _add_center(self, label: int) -> None:
        center = self.builder.add_node("center")
        chains = [(self._draw(MOTIFS[label]), True) for _ in range(OWN)]
        chains += [(self._draw(MOTIFS[1 - label]), False) for _ in range(OTHER)]
        chains += [(self._draw(NEUTRAL), False) for _ in range(self.rng.randint(1, 4))]
        for index in self.rng.permutation(len(chains)):
            chain, is_true = chains[index]
            edges = self._add_chain(center, chain)
            self.truth += [(edge, center) for edge in edges if is_true]

    def _draw(self, motif: tuple[Chain, Chain]) -> Chain:
        return motif[self.rng.randint(2)]

    def _add_chain(self, center: int, chain: Chain) -> list[tuple[EdgeType, int]]:
        arm_type, end_type = chain
        arm, pool = self.builder.add_node(arm_type), self.pools[end_type]
        end = pool[self.rng.randint(len(pool))]
        pool.append(end)
        return [
            self.builder.add_edge(("center", "to", arm_type), center, arm),
            self.builder.add_edge((arm_type, "to", end_type), arm, end),
        ]


def _mark(data: HeteroData, truth: list[tuple[tuple[EdgeType, int], int]]) -> None:
    """Set `edge_motif`, the center that an edge speaks for or -1, and `edge_label`."""
    motif: dict[EdgeType, Tensor] = {
        edge_type: torch.full((data[edge_type].num_edges,), -1) for edge_type in data.edge_types
    }
    for (edge_type, column), center in truth:
        motif[edge_type][column] = motif[reverse_type(edge_type)][column] = center
    for edge_type, centers in motif.items():
        data[edge_type].edge_motif = centers
        data[edge_type].edge_label = centers >= 0
