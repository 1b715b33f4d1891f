"""The networks of the EiG-Search paper: their architectures, and weights from the user's files.

The authors published the weights without a licence, so they are not part of this package. They are
read from files with the names of the authors' parameters, such as `gcn_MUTAG.safetensors`.
"""

from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn.functional import normalize
from torch_geometric.nn import GCNConv, GINConv, global_mean_pool

from eigsearch import datasets
from eigsearch._utils.name_lookup import resolve
from eigsearch.datasets.dataset import Task
from eigsearch.errors import InputError

# What the files call a data set, where it is not its name.
FILE_NAMES = {
    "BA-2Motifs": "ba_2motifs",
    "BA-Shapes": "ba_shape",
    "BA-Community": "ba_community",
    "Tree-Grid": "tree_grid",
}


class PublishedGCN(nn.Module):
    """Three layers on L2-normalised rows: linear map, plain sum over neighbours, bias, ReLU.

    There are no self-loops and no normalisation by degrees. Graphs only: nodes are averaged.
    """

    def __init__(self, num_features: int, num_classes: int, width: int) -> None:
        super().__init__()
        self.conv1 = _sum_conv(num_features, width)
        self.convs = nn.ModuleList(_sum_conv(width, width) for _ in range(2))
        self.lin1, self.lin2 = nn.Linear(width, width), nn.Linear(width, num_classes)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor | None = None) -> Tensor:
        """Return the log-probabilities of the classes of each graph."""
        for conv in (self.conv1, *self.convs):
            x = conv(normalize(x, p=2.0, dim=-1), edge_index).relu()
        x = global_mean_pool(x, batch)
        return self.lin2(self.lin1(x).relu()).log_softmax(dim=-1)


class PublishedGIN(nn.Module):
    """Three GIN layers with a trained ε, whose networks end in ReLU and batch normalisation.

    Graph networks average the nodes and return log-probabilities, node networks raw scores.
    """

    def __init__(self, num_features: int, num_classes: int, width: int, task: Task) -> None:
        super().__init__()
        self.task = task
        self.conv1 = _gin_conv(num_features, width)
        self.convs = nn.ModuleList(_gin_conv(width, width) for _ in range(2))
        self.lin1, self.lin2 = nn.Linear(width, width), nn.Linear(width, num_classes)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor | None = None) -> Tensor:
        """Return a row for each graph, or for each node."""
        for conv in (self.conv1, *self.convs):
            x = conv(x, edge_index)
        if self.task == "graph":
            x = global_mean_pool(x, batch)
        scores = self.lin2(self.lin1(x).relu())
        return scores.log_softmax(dim=-1) if self.task == "graph" else scores


def weights_path(directory: str | Path, dataset: str, conv: str) -> Path:
    """Return the file that holds the weights of a data set and a layer, `"gcn"` or `"gin"`."""
    return Path(directory) / f"{conv}_{FILE_NAMES.get(dataset, dataset)}.safetensors"


def published_names(directory: str | Path) -> tuple[tuple[str, str], ...]:
    """Return the pairs of data set and layer whose weights are in a directory.

    Raises:
        InputError: If there are none.
    """
    found = tuple(
        (dataset, conv)
        for dataset in datasets.names()
        for conv in ("gcn", "gin")
        if weights_path(directory, dataset, conv).is_file()
    )
    if not found:
        raise InputError(
            f"Expected {directory} to hold published weights such as gcn_MUTAG.safetensors (got "
            "none). Name the directory with the converted files of the paper's authors."
        )
    return found


def load_published(directory: str | Path, dataset: str, conv: str) -> Any:
    """Return a network of the paper in evaluation mode, with its published weights.

    Args:
        directory: Where the user keeps the weights.
        dataset: The data set by name.
        conv: The layer, `"gcn"` or `"gin"`.

    Raises:
        InputError: If the file is missing, or holds the weights of another architecture.
    """
    info = datasets.info(dataset)
    known = [layer for name, layer in published_names(directory) if name == info.name]
    path = weights_path(directory, info.name, resolve(f"network for {info.name}", conv, known))
    try:
        weights = load_file(path)
        model = _build(weights, path.stem.partition("_")[0], info.task)
        model.load_state_dict(weights)
    except (OSError, SafetensorError, RuntimeError, KeyError) as error:
        raise InputError(
            f"Expected {path} to hold the weights of the paper's network (got: {error}). "
            "Convert the authors' file with its own names."
        ) from error
    return model.eval()


def _build(weights: dict[str, Tensor], conv: str, task: Task) -> nn.Module:
    num_classes, width = weights["lin2.weight"].shape
    if conv == "gcn":
        return PublishedGCN(weights["conv1.lin.weight"].size(1), num_classes, width)
    return PublishedGIN(weights["conv1.nn.0.weight"].size(1), num_classes, width, task)


def _sum_conv(inputs: int, outputs: int) -> GCNConv:
    return GCNConv(inputs, outputs, normalize=False, add_self_loops=False)


def _gin_conv(inputs: int, outputs: int) -> GINConv:
    parts = (nn.Linear(inputs, outputs), nn.ReLU(), nn.Linear(outputs, outputs), nn.ReLU())
    return GINConv(nn.Sequential(*parts, nn.BatchNorm1d(outputs)), train_eps=True)
