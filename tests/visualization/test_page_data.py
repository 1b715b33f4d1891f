"""The data that a page draws."""

import torch

from eigsearch.visualization import (
    Names,
    explanation_page,
)
from eigsearch.visualization.graph_drawing import draw
from tests.visualization.pages import data_of
from tests.visualization.samples import (
    explained,
    graph,
)


def test_unit_of_group_with_several_edges_is_group():
    partition = torch.tensor([0, 0, 0, 0, 1, 1])
    explanation = explained(
        graph([(0, 1), (1, 2), (2, 3)]), groups=partition, score=[2.0, 1.0], size=1
    )
    (item,) = data_of(explanation_page(explanation))["items"]
    assert item["unit"] == "group"
    assert len(draw([explanation], Names()).links) == 3
