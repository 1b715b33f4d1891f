"""Sources larger than memory give the rows that graphs in memory give."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Data, OnDiskDataset
from torch_geometric.nn import GCN, global_add_pool

from eigsearch import store
from eigsearch.datasets import generate, save_file
from eigsearch.datasets.column_store import Column
from eigsearch.errors import InputError, ModelError
from eigsearch.parallel import (
    DatabaseSource,
    DirectorySource,
    MappedSource,
    MemorySource,
    Progress,
    SmilesSource,
    explain_many,
    explain_to,
)
from eigsearch.parallel.pickling import pack, unpack
from eigsearch.parallel.sources import files
from tests.parallel.networks import Choosy, Small
from tests.parallel.test_run_to_directory import broken, row_bytes

GRAPHS = generate("BA-2Motifs").graphs[490:510]
MAPS = Path("/proc/self/maps")


class Atoms(nn.Module):
    """A network on the integer features of `from_smiles`."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.gnn = GCN(9, 8, 2)
        self.head = nn.Linear(8, 2)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return self.head(global_add_pool(self.gnn(x.float(), edge_index), batch))


@pytest.fixture
def in_memory(tmp_path: Path) -> Path:
    explain_to(tmp_path / "memory", Small(), GRAPHS, shard_size=4)
    return tmp_path / "memory"


def test_explain_to_database_gives_the_rows_of_memory(in_memory: Path, tmp_path: Path) -> None:
    database = OnDiskDataset(str(tmp_path / "db"))
    database.extend(list(GRAPHS))
    explain_to(tmp_path / "out", Small(), database, shard_size=4, workers=2)
    assert row_bytes(tmp_path / "out") == row_bytes(in_memory)


@pytest.mark.parametrize("suffix", ["pt", "safetensors"])
def test_a_directory_of_files(suffix: str, in_memory: Path, tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    for number, start in enumerate((0, 3, 15)):
        stop = (3, 15, 20)[number]
        save_file(GRAPHS[start:stop], tmp_path / "files" / f"{number}.{suffix}")
    source = DirectorySource(tmp_path / "files")
    assert len(source) == 20
    assert torch.equal(source[3].edge_index, GRAPHS[3].edge_index)
    explain_to(tmp_path / "out", Small(), source, shard_size=4, workers=2)
    assert row_bytes(tmp_path / "out") == row_bytes(in_memory)


@pytest.mark.parametrize("suffix", ["pt", "safetensors"])
def test_a_source_travels_without_what_it_has_read(suffix: str, tmp_path: Path) -> None:
    save_file(list(GRAPHS) * 20, tmp_path / f"0.{suffix}")
    source = DirectorySource(tmp_path)
    assert len(source) == 400
    part = unpack(pack(source.part([7, 9])))
    assert len(pack(part)) < 2_000
    assert torch.equal(part[1].edge_index, GRAPHS[9].edge_index)
    assert part.digest == source.digest


@pytest.mark.parametrize(
    ("suffix", "reader"), [("pt", "load_file"), ("safetensors", "open_graphs")]
)
def test_a_file_is_opened_once_for_all_shards_of_a_worker(
    suffix: str, reader: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_file(GRAPHS, tmp_path / f"0.{suffix}")
    read = []
    real = getattr(files, reader)
    monkeypatch.setattr(files, reader, lambda *a, **k: read.append(a) or real(*a, **k))
    source = DirectorySource(tmp_path)
    parts = [unpack(pack(source.part([place]))) for place in range(len(source))]
    assert [part[0].num_edges for part in parts] == [graph.num_edges for graph in GRAPHS]
    assert len(read) == 1


def test_a_mapped_file_is_cut_only_where_it_is_asked(tmp_path: Path, monkeypatch) -> None:
    save_file(GRAPHS, tmp_path / "0.safetensors")
    cut = []
    real = Column.value
    monkeypatch.setattr(Column, "value", lambda self, n: cut.append(n) or real(self, n))
    part = DirectorySource(tmp_path).part([4, 7])
    assert [part[place].num_edges for place in range(2)] == [GRAPHS[n].num_edges for n in (4, 7)]
    assert set(cut) == {4, 7}


def test_a_file_that_was_written_again_is_read_again(tmp_path: Path) -> None:
    for graphs in (GRAPHS[:3], GRAPHS[3:7]):
        save_file(graphs, tmp_path / "0.safetensors")
        assert len(DirectorySource(tmp_path)) == len(graphs)


def test_one_file_of_many_graphs(in_memory: Path, tmp_path: Path) -> None:
    save_file(GRAPHS, tmp_path / "many.safetensors")
    source = MappedSource(tmp_path / "many.safetensors")
    explain_to(tmp_path / "out", Small(), source, shard_size=4, workers=2)
    assert row_bytes(tmp_path / "out") == row_bytes(in_memory)
    with pytest.raises(IndexError):
        source[20]


def test_any_source_becomes_a_file(tmp_path: Path) -> None:
    database = OnDiskDataset(str(tmp_path / "db"))
    database.extend(list(GRAPHS))
    pd.DataFrame({"smiles": ["CCO", "CC(=O)O"]}).to_parquet(tmp_path / "library.parquet")
    molecules = SmilesSource(tmp_path / "library.parquet")
    for source in (DatabaseSource(database), MemorySource(GRAPHS), molecules):
        save_file(source, tmp_path / "any.safetensors")
        mapped = MappedSource(tmp_path / "any.safetensors")
        assert len(mapped) == len(source)
        for place in range(len(source)):
            assert_same_graph(source[place], mapped[place])


def assert_same_graph(one: Data, other: Data) -> None:
    assert set(one.keys()) == set(other.keys())
    for key, value in one.items():
        same = torch.equal(other[key], value) if isinstance(value, Tensor) else other[key] == value
        assert same, key


@pytest.mark.parametrize(
    "extra", [{}, {"name": "a"}, {"y": torch.tensor(1)}, {"u": torch.ones(1, 3)}]
)
@pytest.mark.parametrize("everywhere", [True, False])
def test_graphs_in_memory_travel_as_they_are(extra: dict, everywhere: bool) -> None:
    graphs = [graph.clone() for graph in GRAPHS[:3]]
    graphs.append(Data(x=torch.ones(2, 10), edge_index=torch.zeros(2, 0, dtype=torch.long)))
    for graph in graphs if everywhere else graphs[:1]:
        graph.update(extra)
    again = unpack(pack(MemorySource(graphs)))
    assert len(again) == 4
    for place, graph in enumerate(graphs):
        assert_same_graph(graph, again[place])


def test_graphs_of_other_shapes_and_types_travel_too() -> None:
    odd = GRAPHS[0].clone()
    odd.x = odd.x.double()
    learned = GRAPHS[1].clone()
    learned.x = learned.x.clone().requires_grad_()
    for graphs in ([GRAPHS[0], odd], [GRAPHS[0], learned], [learned, learned], []):
        again = unpack(pack(MemorySource(graphs)))
        for place, graph in enumerate(graphs):
            assert_same_graph(graph, again[place])
            assert again[place].x.requires_grad == graph.x.requires_grad


def test_graphs_without_anything_are_not_lost() -> None:
    assert len(unpack(pack(MemorySource([Data(), Data()])))) == 2


def test_explain_to_smiles_of_a_table_names_rows(tmp_path: Path) -> None:
    smiles = ["CCO", "c1ccccc1N", "not a molecule", "CC(=O)O"]
    frame = pd.DataFrame({"id": range(4), "smiles": smiles})
    frame.to_parquet(tmp_path / "library.parquet", row_group_size=3)
    source = SmilesSource(tmp_path / "library.parquet")
    explain_to(tmp_path / "out", Atoms(), source)
    rows = list(store.rows(tmp_path / "out"))
    assert [row["name"] for row in rows if row["error"] is None] == [
        s for s in smiles if " " not in s
    ]
    assert "to be SMILES" in rows[2]["error"]
    assert rows[1]["num_nodes"] == 7
    with pytest.raises(IndexError):
        source[4]


def test_a_table_without_molecules_is_refused(tmp_path: Path) -> None:
    pd.DataFrame({"id": [1]}).to_parquet(tmp_path / "table.parquet")
    with pytest.raises(InputError, match=r"a column 'smiles' \(got id\)"):
        SmilesSource(tmp_path / "table.parquet")
    (tmp_path / "text.parquet").write_text("smiles")
    with pytest.raises(InputError, match="to be a Parquet file"):
        SmilesSource(tmp_path / "text.parquet")


def test_one_large_graph_is_mapped(tmp_path: Path) -> None:
    torch.manual_seed(0)
    graph, model = generate("Tree-Grid")[0], GCN(10, 8, 2, 2).eval()
    save_file([graph], tmp_path / "graph.safetensors")
    source = MappedSource(tmp_path / "graph.safetensors")
    nodes = range(511, 520)
    explain_to(tmp_path / "memory", model, graph, node=nodes, shard_size=3)
    explain_to(tmp_path / "mapped", model, source, node=nodes, shard_size=3, workers=2)
    assert row_bytes(tmp_path / "mapped") == row_bytes(tmp_path / "memory")
    assert len(pack(source)) < 500
    assert len(list(source)) == 1  # type: ignore[call-overload]


@pytest.mark.skipif(not MAPS.exists(), reason="This system does not list what a process maps.")
def test_a_mapped_graph_is_no_copy_of_its_file(tmp_path: Path) -> None:
    file = tmp_path / "graph.safetensors"
    save_file(generate("Tree-Grid").graphs, file)
    features = MappedSource(file)[0].x
    lines = [line for line in MAPS.read_text().splitlines() if line.endswith(str(file))]
    bounds = [[int(bound, 16) for bound in line.split()[0].split("-")] for line in lines]
    assert any(start <= features.data_ptr() < stop for start, stop in bounds)


def test_one_graph_keeps_its_nodes_without_edges_and_its_name(tmp_path: Path) -> None:
    graph = Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=10, name="sparse")
    save_file([graph], tmp_path / "graph.safetensors")
    again = MappedSource(tmp_path / "graph.safetensors")[0]
    assert (again.num_nodes, again.name) == (10, "sparse")


def test_a_file_that_is_no_graph_is_refused(tmp_path: Path) -> None:
    (tmp_path / "graph.safetensors").write_text("graph")
    with pytest.raises(InputError, match="a graph in safetensors"):
        MappedSource(tmp_path / "graph.safetensors")[0]
    save_file([Data(x=torch.ones(1))], tmp_path / "x.safetensors")
    with pytest.raises(InputError, match="hold an `edge_index`"):
        MappedSource(tmp_path / "x.safetensors")[0]
    with pytest.raises(InputError, match="file to exist"):
        MappedSource(tmp_path / "none.safetensors")


def test_a_directory_without_graphs_or_with_two_kinds_of_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"with \.pt files .* \(got none\)"):
        DirectorySource(tmp_path)
    for suffix in ("pt", "safetensors"):
        save_file(GRAPHS, tmp_path / f"0.{suffix}")
    with pytest.raises(InputError, match=r"\(got both\)"):
        DirectorySource(tmp_path)


def test_a_changed_graph_changes_the_hash() -> None:
    graphs = [graph.clone() for graph in GRAPHS]
    assert MemorySource(graphs).digest == MemorySource(GRAPHS).digest
    graphs[3].x[0, 0] += 1
    assert MemorySource(graphs).digest != MemorySource(GRAPHS).digest


@pytest.mark.parametrize("workers", [1, 2])
def test_explanations_come_in_order_without_a_directory(in_memory: Path, workers: int) -> None:
    found = list(explain_many(Small(), GRAPHS, workers=workers))
    expected = list(store.read(in_memory, GRAPHS))
    assert [e.edge_mask.tolist() for e in found] == [e.edge_mask.tolist() for e in expected]
    assert all(e.data is graph for e, graph in zip(found, GRAPHS, strict=True))


def test_without_a_directory_the_first_failure_is_raised() -> None:
    with pytest.raises(ModelError, match="I do not like this graph"):
        list(explain_many(Choosy(), broken(3)))


def write_source(kind: str, directory: Path, graphs: list[Data]) -> Any:
    """Write graphs, or molecules in their number, and return the source that reads them."""
    directory.mkdir(exist_ok=True)
    if kind == "smiles":
        carbons = ["C" * (2 + int(graph.x[0, 0])) for graph in graphs]
        pd.DataFrame({"smiles": carbons}).to_parquet(directory / "all.parquet")
        return SmilesSource(directory / "all.parquet")
    if kind == "database":
        database = OnDiskDataset(str(directory / str(len(list(directory.iterdir())))))
        database.extend(graphs)
        return DatabaseSource(database)
    save_file(graphs, directory / f"0.{kind}")
    return DirectorySource(directory)


@pytest.mark.parametrize("kind", ["pt", "safetensors", "database", "smiles"])
def test_digest_of_a_source_changes_with_any_one_graph(kind: str, tmp_path: Path) -> None:
    """Of 100 graphs every single one counts, and writing the same again does not."""
    graphs = [GRAPHS[number % 20].clone() for number in range(100)]
    digest = write_source(kind, tmp_path, graphs).digest
    assert write_source(kind, tmp_path, graphs).digest == digest
    for number in (1, 50, 99):  # none of them was among 64 samples
        changed = [graph.clone() for graph in graphs]
        changed[number].x[0, 0] += 1
        assert write_source(kind, tmp_path, changed).digest != digest


@pytest.mark.parametrize("suffix", ["pt", "safetensors"])
def test_a_file_that_changes_during_a_run_stops_it(suffix: str, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    file = tmp_path / "data" / f"0.{suffix}"
    save_file(GRAPHS, file)

    def truncate(now: Progress) -> None:
        if now.done == 4:
            file.write_bytes(file.read_bytes()[:1000])

    source, out = DirectorySource(file.parent), tmp_path / "out"
    with pytest.raises(InputError, match="to stay as it was while its graphs are explained"):
        explain_to(out, Small(), source, shard_size=4, progress=truncate)
    assert [row["error"] for row in store.rows(out)] == [None] * 4
