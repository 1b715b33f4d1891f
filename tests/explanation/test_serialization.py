from __future__ import annotations

from pathlib import Path

import pytest
import torch

import eigsearch
from eigsearch.errors import InputError
from eigsearch.explanation.serialization import from_plain, to_plain
from tests.nets import house, make_net


def explained(node: int | None = None) -> eigsearch.SubgraphExplanation:
    model = make_net(pool="mean" if node is None else None)
    return eigsearch.explain(model, house(), node=node, sparsity=0.3)


@pytest.mark.parametrize("node", [None, 2])
def test_load_brings_everything_back_but_features(node: int | None, tmp_path: Path) -> None:
    ex = explained(node)
    path = ex.save(tmp_path / "explanation.json")
    loaded = eigsearch.SubgraphExplanation.load(path)
    assert loaded.to_dict() == ex.to_dict()
    assert torch.equal(loaded.edge_mask, ex.edge_mask)
    assert torch.equal(loaded.edge_score, ex.edge_score)
    assert loaded.sentence() == ex.sentence()
    assert "x" not in loaded.data
    assert eigsearch.SubgraphExplanation.load(path, house()).subgraph().x.shape[1] == 5


def test_from_dict_other_schema_raises() -> None:
    with pytest.raises(InputError, match="schema 1"):
        eigsearch.SubgraphExplanation.from_dict({"schema": 0})


def test_from_plain_path_and_curves_are_those_that_were_written() -> None:
    ex = eigsearch.explain(make_net(pool="mean"), house(), search="refine")
    fields = from_plain(to_plain(ex))
    assert [step.move for step in fields["path"]] == [step.move for step in ex.path]
    for step, other in zip(fields["path"], ex.path, strict=True):
        assert torch.equal(step.keep, other.keep)
        assert step.keep.dtype == torch.bool
    for name in ("curve", "found"):
        for column, other in zip(
            fields[name].columns().values(), getattr(ex, name).columns().values(), strict=True
        ):
            assert torch.equal(column, other)
            assert column.dtype == other.dtype


def test_from_plain_graph_without_edges_has_an_empty_edge_index() -> None:
    data = house()
    data = data.edge_subgraph(torch.zeros(18, dtype=torch.bool))
    fields = from_plain(to_plain(eigsearch.explain(make_net(pool="mean"), data)))
    assert fields["data"].edge_index.shape == (2, 0)
    assert fields["data"].num_nodes == 9


@pytest.mark.parametrize("wrong", [None, "text", [], {}, 2.5, True])
def test_from_dict_number_of_outputs_that_is_none_raises(wrong: object) -> None:
    values = explained().to_dict()
    values["config"]["num_outputs"] = wrong
    with pytest.raises(InputError, match="a wrong value of `config`"):
        eigsearch.SubgraphExplanation.from_dict(values)


def test_from_dict_more_nodes_than_fit_in_memory_raises() -> None:
    values = explained().to_dict()
    with pytest.raises(InputError, match="a wrong value of `num_nodes`"):
        eigsearch.SubgraphExplanation.from_dict({**values, "num_nodes": 10**30})
