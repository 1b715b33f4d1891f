"""A run writes what `explain_dataset` says, survives bad graphs, and goes on where it stopped."""

from __future__ import annotations

import pickle
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from torch import Tensor
from torch_geometric.data import Batch
from torch_geometric.nn import GCN

import eigsearch
from eigsearch import explainers, store
from eigsearch.counterfactual.options import FlipOptions
from eigsearch.datasets import generate
from eigsearch.errors import InputError, ModelError
from eigsearch.options import Options
from eigsearch.parallel import explain_to
from eigsearch.search import Refine
from tests.parallel.networks import Choosy, Small

GRAPHS = generate("BA-2Motifs").graphs[495:505]


def row_bytes(path: Path) -> dict[str, bytes]:
    files = [*(path / "rows").iterdir(), *(path / "jsonl").iterdir()]
    return {str(file.relative_to(path)): file.read_bytes() for file in files}


def broken(*places: int) -> list:
    graphs = [graph.clone() for graph in GRAPHS]
    for place in places:
        graphs[place].x = -graphs[place].x
    return graphs


def test_rows_are_what_explain_dataset_says(tmp_path: Path) -> None:
    end = explain_to(tmp_path / "out", Small(), GRAPHS, shard_size=4, target=1)
    expected = list(eigsearch.explain_dataset(Small(), GRAPHS, target=1))
    found = list(store.read(tmp_path / "out", GRAPHS))
    assert (end.done, end.total, end.failures) == (10, 10, 0)
    assert [e.edge_mask.tolist() for e in found] == [e.edge_mask.tolist() for e in expected]
    assert [e.gain for e in found] == pytest.approx([e.gain for e in expected], abs=1e-6)
    assert [len(list((tmp_path / "out" / d).iterdir())) for d in ("rows", "times")] == [3, 3]


def test_rows_are_not_joined_with_another_data_set(tmp_path: Path) -> None:
    explain_to(tmp_path / "out", Small(), GRAPHS)
    with pytest.raises(InputError, match=r"a graph 2 \(got 2 graphs\)"):
        list(store.read(tmp_path / "out", GRAPHS[:2]))
    with pytest.raises(InputError, match="graph that was explained"):
        list(store.read(tmp_path / "out", GRAPHS[::-1]))


def test_a_run_of_nothing_has_a_summary(tmp_path: Path) -> None:
    end = explain_to(tmp_path / "out", Small(), [])
    found = store.summarize(tmp_path / "out")
    assert end.done == found.pop("rows") == found.pop("failures") == 0
    assert set(found.values()) == {None}


def test_nodes_are_explained_on_one_graph(tmp_path: Path) -> None:
    torch.manual_seed(0)
    graph, model = generate("Tree-Grid")[0], GCN(10, 8, 2, 2).eval()
    explain_to(tmp_path / "out", model, graph, node=range(511, 517), shard_size=2)
    expected = list(eigsearch.explain_dataset(model, graph, node=range(511, 517)))
    found = list(store.read(tmp_path / "out", graph))
    assert [e.node for e in found] == [e.node for e in expected]
    assert [e.edge_mask.tolist() for e in found] == [e.edge_mask.tolist() for e in expected]


def test_what_is_there_is_not_done_again(tmp_path: Path) -> None:
    explain_to(tmp_path / "a", Small(), GRAPHS, shard_size=2)
    whole = row_bytes(tmp_path / "a")
    for number in (1, 4):
        (tmp_path / "a" / "rows" / f"{number:06d}.parquet").unlink()
    seen = []
    end = explain_to(tmp_path / "a", Small(), GRAPHS, shard_size=2, progress=seen.append)
    assert [p.done for p in seen] == [6, 8, 10]
    assert (end.before, end.done) == (6, 10)
    assert row_bytes(tmp_path / "a") == whole


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"options": Options(sparsity=0.7)}, "sparsity"),
        ({"target": 0}, "target"),
        ({"index": range(9)}, "items"),
        ({"seed": 1}, "seed"),
        ({"shard_size": 3}, "shard_size"),
    ],
)
def test_another_configuration_is_refused(tmp_path: Path, change: dict, word: str) -> None:
    explain_to(tmp_path / "out", Small(), GRAPHS, shard_size=2)
    whole = row_bytes(tmp_path / "out")
    with pytest.raises(InputError, match=word):
        explain_to(tmp_path / "out", Small(), GRAPHS, **{"shard_size": 2, **change})
    assert row_bytes(tmp_path / "out") == whole


def doubled(model: Small, batch: Batch) -> Tensor:
    return 2 * model(batch.x, batch.edge_index, batch.batch)


def tripled(model: Small, batch: Batch) -> Tensor:
    return 3 * model(batch.x, batch.edge_index, batch.batch)


@pytest.mark.parametrize(
    ("before", "now", "word"),
    [
        ({"search": Refine(parsimony=0.0)}, {"search": Refine(parsimony=0.2)}, "search"),
        ({"ranker": explainers.Random(1)}, {"ranker": explainers.Random(2)}, "ranker"),
        ({"forward": doubled}, {"forward": tripled}, "forward"),
        (
            {"forward": lambda model, batch: doubled(model, batch)},
            {"forward": lambda model, batch: tripled(model, batch)},
            "forward",
        ),
    ],
)
def test_the_run_of_another_object_is_refused(
    tmp_path: Path, before: dict, now: dict, word: str
) -> None:
    explain_to(tmp_path / "out", Small(), GRAPHS[:2], options=Options(**before))
    end = explain_to(tmp_path / "out", Small(), GRAPHS[:2], options=Options(**before))
    assert end.before == 2
    with pytest.raises(InputError, match=word):
        explain_to(tmp_path / "out", Small(), GRAPHS[:2], options=Options(**now))


def test_an_explainer_with_other_weights_is_refused(tmp_path: Path) -> None:
    for graphs in (2, 2, 3):
        ranker = explainers.PGExplainer(epochs=1)
        ranker.fit(Small(), GRAPHS[:graphs])
        if graphs == 2:
            explain_to(tmp_path / "out", Small(), GRAPHS[:2], options=Options(ranker=ranker))
    with pytest.raises(InputError, match="the ranker was trained otherwise"):
        explain_to(tmp_path / "out", Small(), GRAPHS[:2], options=Options(ranker=ranker))


def test_other_weights_and_other_graphs_are_refused(tmp_path: Path) -> None:
    explain_to(tmp_path / "out", Small(), GRAPHS)
    other = Small()
    torch.nn.init.ones_(other.head.weight)
    with pytest.raises(InputError, match="the model has other weights"):
        explain_to(tmp_path / "out", other, GRAPHS)
    with pytest.raises(InputError, match="the data have another content"):
        explain_to(tmp_path / "out", Small(), broken(3))


def test_a_function_as_the_model_is_known_by_what_it_does(tmp_path: Path) -> None:
    net = Small()
    explain_to(tmp_path / "out", lambda x, edge_index, batch: net(x, edge_index, batch), GRAPHS)
    with pytest.raises(InputError, match="the model was built with other arguments"):
        explain_to(
            tmp_path / "out", lambda x, edge_index, batch: -net(x, edge_index, batch), GRAPHS
        )


def test_a_bad_graph_becomes_a_row_with_the_reason(tmp_path: Path) -> None:
    end = explain_to(tmp_path / "out", Choosy(), broken(3, 8), shard_size=5)
    rows = list(store.rows(tmp_path / "out"))
    assert [row["index"] for row in rows if row["error"]] == [3, 8]
    assert rows[3]["error"] == "RuntimeError: I do not like this graph"
    assert len(list(store.read(tmp_path / "out"))) == 8
    assert end.failures == 2


def test_explain_to_flip_of_a_graph_without_edges_becomes_a_row(tmp_path: Path) -> None:
    bare = GRAPHS[0].clone()
    bare.edge_index = torch.zeros(2, 0, dtype=torch.long)
    end = explain_to(tmp_path / "out", Small(), [GRAPHS[0], bare], flip=FlipOptions())
    assert (end.done, end.failures) == (2, 0)
    row = list(store.rows(tmp_path / "out"))[1]
    assert (row["num_groups"], row["size"], row["sparsity"]) == (0, 0, 0.0)


def test_a_graph_that_is_no_graph_becomes_a_row_too(tmp_path: Path) -> None:
    graphs = [*GRAPHS[:2], GRAPHS[2].clone()]
    graphs[2].edge_index = torch.tensor([[0], [99]])
    explain_to(tmp_path / "out", Small(), graphs)
    assert "name nodes from 0 to 24" in list(store.rows(tmp_path / "out"))[2]["error"]


def test_a_run_that_is_wrong_from_the_start_stops(tmp_path: Path) -> None:
    graphs = broken(*range(10)) * 4
    with pytest.raises(ModelError, match="I do not like this graph"):
        explain_to(tmp_path / "out", Choosy(), graphs, shard_size=4)
    assert len(list(store.rows(tmp_path / "out"))) == 12


def test_a_small_run_without_any_explanation_is_no_success(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="at least one explanation"):
        explain_to(tmp_path / "out", Choosy(), broken(0)[:1])


def test_the_limit_on_failures_is_the_users(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="at most 0 rows"):
        explain_to(tmp_path / "a", Choosy(), broken(3), shard_size=2, max_failures=0)
    end = explain_to(tmp_path / "b", Choosy(), broken(*range(10)), max_failures=10)
    assert end.failures == 10


def test_a_failed_run_is_told_in_whole_sentences(tmp_path: Path) -> None:
    def rude(x, edge_index):
        raise ValueError("no")

    with pytest.raises(ModelError) as caught:
        explain_to(tmp_path / "out", rude, GRAPHS[:1])
    assert "(got 1 failure in 1 row). The first: ValueError: no. Mend the" in str(caught.value)
    assert str(tmp_path / "out") in str(caught.value)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_nothing_is_written_for_a_call_that_cannot_work(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="`index` to name graphs from 0 to 9"):
        explain_to(tmp_path / "out", Small(), GRAPHS, index=[10])
    with pytest.raises(InputError, match="`model` to be callable"):
        explain_to(tmp_path / "out", "gin", GRAPHS)
    with pytest.raises(InputError, match="one graph together with `node`"):
        explain_to(tmp_path / "out", Small(), GRAPHS, node=[0])
    with pytest.raises(InputError, match="one `target` for each"):
        explain_to(tmp_path / "out", Small(), GRAPHS, target=[0, 1])
    with pytest.raises(InputError, match="`max_failures` to be 0 or more \\(got -1\\)"):
        explain_to(tmp_path / "out", Small(), GRAPHS, max_failures=-1)
    assert not (tmp_path / "out").exists()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "disk"
    path.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=96k", "none", str(path)]
    if subprocess.run(mount, capture_output=True, timeout=600).returncode:
        pytest.skip("mounting a small disk takes privileges that this machine does not give")
    yield path
    subprocess.run(["umount", str(path)], check=True, timeout=600)


def test_a_full_disk_stops_the_run_and_loses_nothing(tmp_path: Path, small_disk: Path) -> None:
    graphs = generate("BA-2Motifs").graphs[:60]
    explain_to(tmp_path / "out", Small(), graphs, shard_size=4)
    with pytest.raises(InputError, match="No space left on device"):
        explain_to(small_disk / "out", Small(), graphs, shard_size=4)
    written = len(store.ResultDirectory(small_disk / "out").row_files())
    assert 0 < written < 15
    remount = ["mount", "-o", "remount,size=4m", str(small_disk)]
    subprocess.run(remount, check=True, timeout=600)
    end = explain_to(small_disk / "out", Small(), graphs, shard_size=4)
    assert end.before == 4 * written
    assert row_bytes(small_disk / "out") == row_bytes(tmp_path / "out")
