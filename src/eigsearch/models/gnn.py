"""GNN: three message-passing layers of one kind, then a head of two linear layers."""

from collections.abc import Callable
from itertools import pairwise

from torch import Tensor, nn
from torch_geometric.nn import GATConv, GCNConv, GINConv, SAGEConv, global_mean_pool

from eigsearch._utils.name_lookup import resolve
from eigsearch.datasets.dataset import Task

NUM_LAYERS = 3


def _gin(inputs: int, outputs: int) -> nn.Module:
    network = nn.Sequential(nn.Linear(inputs, outputs), nn.ReLU(), nn.Linear(outputs, outputs))
    return GINConv(network, train_eps=True)


def _gat(inputs: int, outputs: int) -> nn.Module:
    return GATConv(inputs, outputs // 4, heads=4)


CONVS: dict[str, Callable[[int, int], nn.Module]] = {
    "gcn": GCNConv,
    "gin": _gin,
    "sage": SAGEConv,
    "gat": _gat,
}


class GNN(nn.Module):
    """A graph network that returns raw class scores: one row per graph, or per node.

    `conv` is "gcn", "gin", "sage" or "gat". Each layer is convolution, batch normalisation, ReLU;
    graph networks then average the nodes. The paper's GCN normalises rows and not degrees; PyG's
    own GCNConv is used here, and needs the batch normalisation where all features are equal.
    """

    def __init__(
        self, conv: str, num_features: int, num_classes: int, width: int = 64, task: Task = "graph"
    ) -> None:
        super().__init__()
        self.task = task
        make = CONVS[resolve("model", conv, CONVS)]
        sizes = [num_features] + [width] * NUM_LAYERS
        self.convs = nn.ModuleList(make(inputs, outputs) for inputs, outputs in pairwise(sizes))
        self.norms = nn.ModuleList(nn.BatchNorm1d(width) for _ in range(NUM_LAYERS))
        self.head = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, num_classes))

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor | None = None) -> Tensor:
        """Return the class scores; without `batch`, all nodes are of one graph."""
        for conv, norm in zip(self.convs, self.norms, strict=True):
            x = norm(conv(x, edge_index)).relu()
        if self.task == "graph":
            x = global_mean_pool(x, batch)
        return self.head(x)
