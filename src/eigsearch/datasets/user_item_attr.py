"""Read PaGE-Link's UserItemAttr, with the embeddings of its R-GCN as node features."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file
from torch import Tensor
from torch_geometric.data import HeteroData

from eigsearch.datasets.typed_builder import EdgeType
from eigsearch.errors import InputError

FOLDER = "user_item_attr"
GRAPH, WEIGHTS = "graph.npz", "rgcn.safetensors"
NODE_TYPES = ("attr", "item", "user")
PREDICTED: EdgeType = ("user", "likes", "item")  # takes no part in message passing
REVERSE = {"buys": "bought_by", "bought_by": "buys", "has": "of", "of": "has"}


@dataclass(frozen=True)
class UserItemAttrSource:
    """The converted files of PaGE-Link in the user's data root; they are not distributed."""

    def read(self, root: Path | None) -> tuple[tuple[HeteroData], str]:
        """Return the graph and one phrase on where it came from."""
        folder = (root or Path()) / FOLDER
        missing = [name for name in (GRAPH, WEIGHTS) if not (folder / name).is_file()]
        if root is None or missing:
            raise InputError(
                f"Expected UserItemAttr to be in the data root (got no {FOLDER}/{GRAPH} with "
                f"{WEIGHTS}). Put both there and name it as data root or in EIGSEARCH_DATA."
            )
        return (read_user_item_attr(folder),), f"files of {FOLDER}"


def read_user_item_attr(folder: Path) -> HeteroData:
    """Return the graph: 100 users, 100 items, 50 attributes, 714 links of class 1.

    `test_mask` marks the links of the authors' test split. Their truth lists the edges along the
    path from user to item; here `link_truth` has the reverse of each as well.
    """
    with np.load(folder / GRAPH, allow_pickle=False) as archive:
        types: list[Any] = [tuple(str(name).split("__")) for name in archive["types"]]
        names = [name for name in archive if name != "types"]
        arrays = {name: torch.from_numpy(archive[name].astype(np.int64)) for name in names}
    data = HeteroData()
    weights = load_file(folder / WEIGHTS)
    for kind in NODE_TYPES:
        data[kind].x = weights[f"encoder.emb.embeds.{kind}.weight"]
    for edge_type in types:
        if edge_type != PREDICTED:
            data[edge_type].edge_index = arrays[f"edge__{'__'.join(edge_type)}"]
    data.edge_label_index = arrays[f"edge__{'__'.join(PREDICTED)}"]
    count = data.edge_label_index.size(1)
    data.y = torch.ones(count, dtype=torch.long)
    data.test_mask = torch.zeros(count, dtype=torch.bool)
    data.test_mask[arrays["test_likes"]] = True
    _set_truth(data, types, arrays["edge_truth"])
    return data


def _set_truth(data: HeteroData, types: list[EdgeType], truth: Tensor) -> None:
    """Store `link_truth`, from rows of link, number of the edge type, source and target."""
    columns: Mapping[EdgeType, dict[tuple[int, int], int]] = {
        kind: {(s, t): n for n, (s, t) in enumerate(data[kind].edge_index.t().tolist())}
        for kind in data.edge_types
    }
    pairs: dict[EdgeType, set[tuple[int, int]]] = {kind: set() for kind in data.edge_types}
    for link, number, source, target in truth.tolist():
        head, relation, tail = kind = types[number]
        reverse = (tail, REVERSE[relation], head)
        pairs[kind].add((link, columns[kind][source, target]))
        pairs[reverse].add((link, columns[reverse][target, source]))
    for kind, found in pairs.items():
        data[kind].link_truth = torch.tensor(sorted(found)).reshape(-1, 2).t().contiguous()
