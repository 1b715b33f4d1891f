"""Features in the result: masks, sizes, sentence, files, pages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Data

import eigsearch
from eigsearch.errors import InputError
from eigsearch.store.formats import parquet_to_rows, rows_to_lines, rows_to_parquet
from eigsearch.store.rows import RowKey, explanation_of, to_row
from tests.nets import house, make_net

FEATURES: list[Any] = ["columns", "nodes", "entries", ("columns", "edge_columns")]


def explained(features: Any = "columns", node: int | None = None, **options: Any) -> Any:
    model = make_net("GINE", pool="mean" if node is None else None)
    return eigsearch.explain(model, house(), node=node, features=features, **options)


def test_edge_size_and_feature_size_are_counted_apart() -> None:
    ex = explained()
    assert ex.num_groups == 9 + 5
    assert ex.num_edge_groups == 9
    assert ex.edge_size == int(ex.edge_mask.sum()) // 2
    assert ex.feature_size == int(ex.feature_mask.sum())
    assert ex.size == ex.edge_size + ex.feature_size


def test_features_sentence_names_features_and_baseline() -> None:
    ex = explained(baseline="mean", search="fixed", size=6)
    chosen = ex.feature_mask.nonzero().flatten().tolist()
    assert f"these {ex.edge_size} edges and {ex.feature_size} features alone" in ex.sentence()
    listed = ", ".join(map(str, chosen[:-1])) + f" and {chosen[-1]}"
    assert f"Its features: columns {listed};" in ex.sentence()
    assert "set to their mean in the graph." in ex.sentence()
    given = explained(baseline=torch.ones(5), groups="none")
    assert f"these {given.feature_size} features alone" in given.sentence()
    assert "set to the given baseline." in given.sentence()
    assert given.config["baseline"] == "tensor [5]"


def test_features_of_an_explanation_without_them_raises() -> None:
    ex = eigsearch.explain(make_net(), house())
    assert ex.node_mask.shape == (9,)
    with pytest.raises(InputError, match="features='columns'"):
        _ = ex.feature_score
    with pytest.raises(InputError, match="features='edge_columns'"):
        _ = explained().edge_feature_score


@pytest.mark.parametrize("node", [None, 5])
@pytest.mark.parametrize("features", FEATURES)
def test_from_dict_json_and_rows_bring_everything_back(features: Any, node: int | None) -> None:
    ex = explained(features, node, baseline="mean")
    values = json.loads(json.dumps(ex.to_dict()))
    again = eigsearch.SubgraphExplanation.from_dict(values, ex.data)
    (row,) = parquet_to_rows(rows_to_parquet([to_row(RowKey(0, node), ex)]))
    assert row["edge_size"] == ex.edge_size
    for other in (again, explanation_of(row, ex.config, ex.data)):
        assert other.to_dict() == ex.to_dict()
        assert other.sentence() == ex.sentence()
        assert torch.equal(other.node_mask, ex.node_mask)
        assert torch.equal(other.feature_score, ex.feature_score)
        assert torch.equal(other.subgraph().x, ex.subgraph().x)
    alone = explanation_of(row, ex.config)
    assert torch.equal(alone.feature_score, ex.feature_score)
    assert alone.subgraph().num_edges == ex.subgraph().num_edges


@pytest.mark.parametrize(
    ("features", "shape", "named"),
    [
        ("columns", (5,), "column"),
        ("nodes", (10,), "node 9"),
        ("entries", (10, 5), "of node 9"),
        (torch.arange(10)[:, None], (10,), "node 9"),
        (torch.arange(5), (5,), "column"),
    ],
)
def test_feature_mask_of_a_node_without_edges_is_aligned_with_the_graph(
    features: Any, shape: tuple[int, ...], named: str
) -> None:
    """Its computation graph has one row, as groups of columns have."""
    alone = house()
    alone.x = torch.cat([alone.x, torch.rand(1, 5, dtype=alone.x.dtype) + 1])
    ex = eigsearch.explain(make_net(pool=None), alone, node=9, features=features)
    assert ex.feature_mask.shape == ex.feature_score.shape == shape
    assert ex.feature_size > 0
    assert f" {named}" in ex.sentence()
    if shape[0] == 10:
        assert not ex.feature_mask[:9].any()
    back = eigsearch.SubgraphExplanation.from_dict(ex.to_dict(), ex.data)
    assert torch.equal(back.feature_mask, ex.feature_mask)
    (row,) = parquet_to_rows(rows_to_parquet([to_row(RowKey(0, 9), ex)]))
    assert torch.equal(explanation_of(row, ex.config).feature_mask, ex.feature_mask)


class Scale(nn.Module):
    """Two classes: what edges with their attributes bring to nodes with any number of columns."""

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor, batch: Tensor) -> Tensor:
        sent = x.sum(1)[edge_index[0]] * edge_attr.sum(1)
        mass = x.sum(1).index_add(0, edge_index[1], sent)
        total = torch.zeros(int(batch.max()) + 1).index_add(0, batch, mass)
        return torch.stack([total, -total], dim=1)


@pytest.mark.parametrize(("nodes", "columns"), [(6, 1), (1, 4), (1, 1)])
@pytest.mark.parametrize("features", ["entries", ("entries", "edge_columns")])
def test_feature_mask_of_entries_is_a_matrix_with_one_column_or_one_node(
    features: Any, nodes: int, columns: int
) -> None:
    path = torch.stack([torch.arange(nodes - 1), torch.arange(1, nodes)])
    ends = torch.cat([path, path.flip(0)], dim=1)
    data = Data(x=torch.rand(nodes, columns) + 1, edge_index=ends)
    data.edge_attr = torch.rand(ends.size(1), 3)
    ex = eigsearch.explain(Scale(), data, features=features)
    for values in (ex.feature_mask, ex.feature_score, ex.feature_share, ex.node_mask):
        assert values.shape == (nodes, columns)
    chosen = ex.keep[ex.num_edge_groups :][: nodes * columns]
    assert ex.feature_mask.flatten().tolist() == chosen.tolist()
    back = eigsearch.SubgraphExplanation.from_dict(ex.to_dict())
    assert torch.equal(back.feature_mask, ex.feature_mask)


def test_lines_of_a_row_name_the_chosen_features() -> None:
    ex = explained(search="fixed", size=8)
    line = json.loads(rows_to_lines([to_row(RowKey(0), ex)]))
    chosen = ex.feature_mask.nonzero().flatten().tolist()
    assert line["features"] == [f"column {column}" for column in chosen]
    assert len(line["edges"]) == 2 * line["edge_size"]


@pytest.mark.parametrize(
    "change",
    [
        {"attribute": "y"},
        {"index": [[99]]},
        {"index": [0]},
        {"baseline": [[0.0], [0.0]]},
        {"places": [100]},
    ],
)
def test_load_damaged_file_raises(change: dict[str, Any]) -> None:
    values = explained(node=5).to_dict()
    values["features"] = [{**values["features"][0], **change}]
    with pytest.raises(InputError, match="wrong value of `features`"):
        eigsearch.SubgraphExplanation.from_dict(values)


@pytest.mark.parametrize("features", FEATURES)
def test_explanation_page_lists_the_features(features: Any, tmp_path: Path) -> None:
    ex = explained(features)
    page = ex.save(tmp_path / "page.html").read_text()
    data = json.loads(page.split('id="data" type="application/json">')[1].split("</script>")[0])
    (item,) = data["items"]
    assert len(item["features"]) == ex.num_groups - ex.num_edge_groups
    assert item["feature_size"] == ex.feature_size
    assert len(item["rank"]) == len(item["score"]) == ex.num_groups
    assert item["features"][0] in ("column 0", "node 0", "column 0 of node 0")


def test_at_another_size_is_the_same_ranking() -> None:
    ex = explained()
    cut = ex.at(ex.size + 1)
    assert cut.size == ex.size + 1
    assert cut.edge_size + cut.feature_size == cut.size
