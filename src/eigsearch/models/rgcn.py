"""RGCN: the relational network of PaGE-Link for links, and its published weights."""

from collections.abc import Sequence
from pathlib import Path

from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn.functional import leaky_relu
from torch_geometric.nn import MessagePassing

from eigsearch.errors import InputError

EdgeType = tuple[str, str, str]


class RelationMean(MessagePassing):
    """Mean over neighbours of a linear map with bias; 0 where there are none."""

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__(aggr="mean")
        self.lin = nn.Linear(in_channels, out_channels)

    def forward(self, x: tuple[Tensor, Tensor], edge_index: Tensor) -> Tensor:
        """Return a row for each target node."""
        size = (x[0].size(0), x[1].size(0))
        return self.propagate(edge_index, x=(self.lin(x[0]), None), size=size)

    def message(self, x_j: Tensor) -> Tensor:
        """Return what a neighbour sends."""
        return x_j


class RGCNLayer(nn.Module):
    """h' = W₀h + Σ over relations of the mean over neighbours of (W_r h + b_r)."""

    def __init__(self, width: int, relations: Sequence[str]) -> None:
        super().__init__()
        self.root = nn.Linear(width, width)
        self.relations = nn.ModuleDict({name: RelationMean(width, width) for name in relations})

    def forward(
        self, x_dict: dict[str, Tensor], edge_index_dict: dict[EdgeType, Tensor]
    ) -> dict[str, Tensor]:
        """Return the next states of all nodes."""
        out = {kind: self.root(x) for kind, x in x_dict.items()}
        for (source, relation, target), edge_index in edge_index_dict.items():
            conv = self.relations[relation]
            out[target] = out[target] + conv((x_dict[source], x_dict[target]), edge_index)
        return out


class RGCN(nn.Module):
    """Two relational layers with a leaky ReLU between them; links score by dot product."""

    def __init__(self, width: int, relations: Sequence[str]) -> None:
        super().__init__()
        self.layer1, self.layer2 = RGCNLayer(width, relations), RGCNLayer(width, relations)

    def forward(
        self,
        x_dict: dict[str, Tensor],
        edge_index_dict: dict[EdgeType, Tensor],
        edge_label_index: Tensor,
    ) -> Tensor:
        """Return the log-odds of each link from a user to an item, `[L]`."""
        h = {kind: leaky_relu(x) for kind, x in self.layer1(x_dict, edge_index_dict).items()}
        h = self.layer2(h, edge_index_dict)
        return (h["user"][edge_label_index[0]] * h["item"][edge_label_index[1]]).sum(dim=-1)


def load_rgcn(path: str | Path) -> RGCN:
    """Return the network of PaGE-Link with the weights of a `.safetensors` file.

    Its embeddings are not part of it: they are the features of the data set UserItemAttr.

    Raises:
        InputError: If the file does not hold these weights.
    """
    try:
        weights = load_file(path)
        names = {key.split(".")[3] for key in weights if key.startswith("encoder.layer1.weight.")}
        model = RGCN(len(weights["encoder.layer1.weight0.bias"]), sorted(names))
        model.load_state_dict({_own_key(k): v for k, v in weights.items() if ".emb." not in k})
    except Exception as error:  # safetensors, missing keys and shapes each raise their own
        raise InputError(
            f"Expected {path} to hold the weights of PaGE-Link's R-GCN in safetensors (got "
            f"{type(error).__name__}). Convert the authors' file with its own names."
        ) from error
    return model.eval()


def _own_key(key: str) -> str:
    """Return our name of a published weight.

    >>> _own_key("encoder.layer2.weight.buys.bias"), _own_key("encoder.layer1.weight0.weight")
    ('layer2.relations.buys.lin.bias', 'layer1.root.weight')
    """
    _, layer, *rest = key.split(".")
    if rest[0] == "weight0":
        return f"{layer}.root.{rest[1]}"
    return f"{layer}.relations.{rest[1]}.lin.{rest[2]}"
