"""Graphs in safetensors come back as they were, and a file that lies is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import torch
from hypothesis import strategies as st
from safetensors import SafetensorError
from safetensors.torch import load_file as load_tensors
from safetensors.torch import save_file as save_tensors
from torch import Tensor
from torch_geometric.data import Data

from eigsearch import datasets
from eigsearch.datasets.safetensors_io import open_graphs
from eigsearch.errors import InputError

LOOP = torch.tensor([[0, 0], [0, 0]])


def saved(graphs: list[Data], tmp_path: Path) -> Path:
    datasets.save_file(graphs, tmp_path / "mine.safetensors")
    return tmp_path / "mine.safetensors"


def assert_same(one: Data, other: Data) -> None:
    assert set(one.keys()) == set(other.keys())
    for name, value in one.items():
        if isinstance(value, Tensor):
            assert (value.dtype, value.shape) == (other[name].dtype, other[name].shape)
            assert torch.equal(value, other[name])
        else:
            assert repr(value) == repr(other[name])


def test_a_set_comes_back_as_it_was(tmp_path: Path) -> None:
    original = datasets.generate("BA-2Motifs")
    path = saved(list(original), tmp_path)
    loaded = datasets.load_file(path)
    assert loaded.digest == original.digest
    assert (loaded.name, loaded.task, loaded.num_classes) == ("mine", "graph", 2)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.safetensors"]
    for one, other in zip(original, loaded, strict=True):
        assert_same(one, other)
        assert other.edge_index.is_contiguous()


def resident(what: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(what))


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="only Linux tells peaks")
def test_saving_takes_one_more_copy_of_the_graphs(tmp_path: Path) -> None:
    graph = Data(x=torch.ones(2**20, 32), edge_index=LOOP)
    Path("/proc/self/clear_refs").write_text("5")  # let the peak begin here
    before = resident("VmRSS")
    saved([graph], tmp_path)
    assert resident("VmHWM") - before < 1.5 * graph.x.nbytes


def test_a_file_has_the_rights_of_any_other(tmp_path: Path) -> None:
    (tmp_path / "other").touch()
    assert saved([Data(edge_index=LOOP)], tmp_path).stat().st_mode == (
        (tmp_path / "other").stat().st_mode
    )


def test_a_disk_that_refuses_is_an_error_of_the_system(tmp_path: Path, monkeypatch) -> None:
    def refuse(*_: object) -> None:
        raise SafetensorError("I/O error: No space left on device")

    monkeypatch.setattr("eigsearch.datasets.safetensors_io.save_tensors", refuse)
    with pytest.raises(OSError, match="No space left"):
        saved([Data(edge_index=LOOP)], tmp_path)
    assert list(tmp_path.iterdir()) == []


ODD: list[dict[str, Any]] = [
    {"x": torch.ones(1, 2)},
    {"x": torch.ones(1, 3), "y": torch.tensor(4)},
    {"x": torch.ones(1, 3, dtype=torch.bfloat16), "y": torch.tensor([4])},
    {"num_nodes": 7, "y": 1.5, "name": "µ \N{SNOWMAN}", "flags": [True, None, {"a": [0]}]},
    {"adj": torch.rand(3, 3), "x": torch.zeros(0, 4), "none": torch.zeros(0, dtype=torch.bool)},
    {"adj": torch.rand(5, 5).t(), "x": torch.arange(4)[::2], "deep": torch.rand(2, 1, 3, 2)},
    {"nan": float("nan"), "y": torch.tensor(float("nan")).nan_to_num(1.0)},
]


def test_graphs_that_have_little_in_common_come_back_too(tmp_path: Path) -> None:
    graphs = [Data(edge_index=LOOP[:, :number], **odd) for number, odd in enumerate(ODD)]
    loaded = open_graphs(saved(graphs, tmp_path))
    assert len(loaded) == len(ODD)
    for one, other in zip(graphs, loaded, strict=True):
        assert_same(one, other)


SHAPES = st.lists(st.integers(0, 3), max_size=3)
DTYPES = st.sampled_from([torch.bool, torch.uint8, torch.int64, torch.float16, torch.float64])
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
TENSORS = st.builds(lambda shape, dtype: torch.randint(2, shape).to(dtype), SHAPES, DTYPES)
GRAPHS = st.dictionaries(st.sampled_from(["x", "y", "name", "u"]), TENSORS | PLAIN)


@hypothesis.settings(deadline=None, max_examples=60)
@hypothesis.given(st.lists(GRAPHS, min_size=1, max_size=5))
def test_whatever_is_accepted_comes_back(tmp_path_factory, graphs: list[dict[str, Any]]) -> None:
    made = [Data(edge_index=LOOP, **fields) for fields in graphs]
    loaded = open_graphs(saved(made, tmp_path_factory.mktemp("any")))
    for one, other in zip(made, loaded, strict=True):
        assert_same(one, other)


@pytest.mark.parametrize("kind", [torch.Tensor.requires_grad_, torch.nn.Parameter])
def test_save_file_tensor_with_gradient_is_read_without(kind, tmp_path: Path) -> None:
    graph = Data(x=kind(torch.ones(1, 2)), edge_index=LOOP)
    loaded = open_graphs(saved([graph], tmp_path))[0]
    assert torch.equal(loaded.x, torch.ones(1, 2))
    assert not loaded.x.requires_grad
    assert graph.x.requires_grad


class Own(Data):
    """A graph that is batched in a way of its own, which no file could know."""


@pytest.mark.parametrize(
    ("graphs", "message"),
    [
        ([], "at least one graph"),
        ([Data(edge_index=LOOP), Own(edge_index=LOOP)], "graph 1 .* `Data` .got Own"),
        ([Data(edge_index=LOOP, pair=(1, 2))], "`pair` of graph 0 .*got tuple"),
        ([Data(edge_index=LOOP, adj=torch.eye(2).to_sparse())], "`adj` of graph 0 .*dense"),
        ([Data(edge_index=LOOP, by={1: 2})], "`by` of graph 0 .*got dict"),
    ],
)
def test_what_would_not_come_back_is_refused(graphs, message: str, tmp_path: Path) -> None:
    path = saved([Data(edge_index=LOOP)], tmp_path)
    before = path.read_bytes()
    with pytest.raises(InputError, match=message):
        saved(graphs, tmp_path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_plain_tensors_are_one_graph(tmp_path: Path) -> None:
    save_tensors({"x": torch.ones(3, 2), "edge_index": LOOP}, tmp_path / "one.safetensors")
    dataset = datasets.load_file(tmp_path / "one.safetensors")
    assert (len(dataset), dataset.task, dataset[0].num_nodes) == (1, "graph", 3)


def test_a_file_that_ends_early_or_is_missing(tmp_path: Path) -> None:
    path = saved([Data(x=torch.ones(50, 50), edge_index=LOOP)] * 3, tmp_path)
    content = path.read_bytes()
    for length in (0, 7, 40, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:length])
        with pytest.raises(InputError, match="a graph in safetensors"):
            open_graphs(path)
    with pytest.raises(InputError, match="file to exist"):
        datasets.load_file(tmp_path / "none.safetensors")


def forged(tmp_path: Path, columns: Any = None, **changes: Tensor | None) -> Path:
    """A file of two graphs, x (0), edge_index (1) and a name (2), with something else in it."""
    graphs = [Data(edge_index=LOOP, x=torch.ones(n, 2), name="ab") for n in (1, 2)]
    path = saved(graphs, tmp_path)
    tensors = load_tensors(path) | changes
    kept = {name: value for name, value in tensors.items() if value is not None}
    about = [{"name": name, "is_text": name == "name"} for name in ("x", "edge_index", "name")]
    header = columns if isinstance(columns, str) else json.dumps(columns or about)
    save_tensors(kept, path, {"eigsearch_columns": header})
    return path


def test_a_forged_file_without_a_fault_is_read(tmp_path: Path) -> None:
    assert [graph.name for graph in open_graphs(forged(tmp_path))] == ["ab", "ab"]


@pytest.mark.parametrize(
    "change",
    [
        {"0.shapes": torch.tensor([[1, 1, 2], [1, 3, 2]])},
        {"0.shapes": torch.tensor([[1, -1, 2], [1, 4, 2]])},
        {"0.shapes": torch.tensor([[1, 2**31, 2**33], [1, 3, 2]])},
        {"0.shapes": torch.tensor([[2, 1, 1], [1, 2, 2]])},
        {"0.shapes": torch.tensor([[1, 3, 2]])},
        {"0.shapes": torch.zeros(2, 0, dtype=torch.long)},
        {"0.shapes": torch.ones(2, 3)},
        {"0.shapes": torch.tensor([1, 2, 1, 2])},
        {"0.shapes": None},
        {"0.values": None},
        {"0.values": torch.ones(3, 2)},
        {"2.values": torch.ones(8)},
        {"2.shapes": torch.tensor([[1, 2, 2], [1, 2, 2]])},
        {"columns": "{"},
        {"columns": "[" * 100_000},
        {"columns": "3"},
        {"columns": "[]"},
        {"columns": [3]},
        {"columns": [{"name": "x"}]},
        {"columns": [{"name": 3, "is_text": False}]},
        {"columns": [{"name": "x", "is_text": False}]},
        {"columns": [{"name": name, "is_text": False} for name in ("_store", "edge_index")]},
    ],
    ids=str,
)
def test_a_forged_file_is_refused(change: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"Expected .* to hold"):
        open_graphs(forged(tmp_path, **change))


@pytest.mark.parametrize("text", [b"nope", b"\xff\xfe", b'"ope', b"[[[["])
def test_text_that_is_none_is_told_for_its_graph(text: bytes, tmp_path: Path) -> None:
    values = torch.tensor([*text.ljust(4), *b'"ab"'], dtype=torch.uint8)
    graphs = open_graphs(forged(tmp_path, **{"2.values": values}))
    assert graphs[1].name == "ab"
    with pytest.raises(InputError, match="graph 0 of its file to be readable"):
        graphs[0]


def test_a_graph_that_is_none_is_told_by_its_number(tmp_path: Path) -> None:
    graphs = [Data(edge_index=LOOP, num_nodes=1), Data(edge_index=LOOP + 5, num_nodes=2)]
    with pytest.raises(InputError, match=r"graph 1 of .*2 nodes .got node 5"):
        datasets.load_file(saved(graphs, tmp_path))
