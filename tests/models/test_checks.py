from __future__ import annotations

import pytest
import torch
from torch_geometric.data import Data

from eigsearch.datasets import GraphDataset
from eigsearch.errors import InputError
from eigsearch.models.checks import check_trainable


def test_check_trainable_of_complex_labels_is_told_in_a_sentence() -> None:
    label = torch.tensor([1 + 2j])
    graph = Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0, 1], [1, 0]]), y=label)
    dataset = GraphDataset("odd", "graph", (graph,), 0, (), "", "", "")
    with pytest.raises(InputError, match=r"classes from 0 on .* complex64 of shape"):
        check_trainable(dataset)
