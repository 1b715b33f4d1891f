import os
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from eigsearch import datasets
from eigsearch.datasets.molecules import MUTAGENICITY_ATOMS, TUDataset
from eigsearch.datasets.mutagenicity_truth import find_groups
from eigsearch.errors import InputError

SIZES = {"MUTAG": (188, 3_371, 7_442), "Mutagenicity": (4_337, 131_488, 266_894)} | {
    "NCI1": (4_110, 122_747, 265_506)
}


def need(root: Path, name: str) -> Path:
    if not (root / name / "raw").is_dir():
        pytest.skip(f"needs the raw files of {name} in EIGSEARCH_DATA")
    return root


def snapshot(folder: Path) -> list[tuple[str, float]]:
    return sorted((str(path), path.stat().st_mtime) for path in folder.rglob("*"))


def molecule(atoms: str, bonds: list[tuple[int, int]]) -> Data:
    both = torch.tensor(bonds + [(v, u) for u, v in bonds]).t()
    labels = torch.tensor([MUTAGENICITY_ATOMS.index(atom) for atom in atoms])
    return Data(edge_index=both, node_label=labels, num_nodes=len(atoms))


@pytest.mark.parametrize("name", SIZES)
def test_sizes_and_atom_names(name, data_root):
    dataset = datasets.load(name, root=need(data_root, name))
    counts = (sum(g.num_nodes for g in dataset), sum(g.num_edges for g in dataset))
    assert (len(dataset), *counts) == SIZES[name]
    assert len(dataset.node_names) == dataset.num_features
    for graph in dataset:
        assert graph.is_node_attr("node_label")
        assert torch.equal(graph.x.argmax(1), graph.node_label)


def test_nci1_names_all_but_a_thousandth_of_the_atoms(data_root):
    dataset = datasets.load("NCI1", root=need(data_root, "NCI1"))
    known = torch.tensor([not name.startswith("?") for name in dataset.node_names])
    assert known[torch.cat([g.node_label for g in dataset])].float().mean() > 0.998


def test_published_ground_truth_is_joined_on_node_pairs(data_root):
    dataset = datasets.load("Mutagenicity", root=need(data_root, "Mutagenicity"))
    expected = data_root / "Mutagenicity" / "edge_gt_pyg_order.npy"
    if not expected.is_file():
        pytest.skip("needs Mutagenicity/edge_gt_pyg_order.npy in EIGSEARCH_DATA")
    labels = torch.cat([graph.edge_label for graph in dataset]).numpy()
    assert np.array_equal(labels, np.load(expected, allow_pickle=False).astype(bool))


def test_groups_found_from_the_atoms_are_the_published_ones(data_root):
    dataset = datasets.load("Mutagenicity", root=need(data_root, "Mutagenicity"))
    assert "published ground truth" in dataset.provenance
    assert all(torch.equal(find_groups(graph), graph.edge_label) for graph in dataset)


@pytest.mark.parametrize(
    ("atoms", "bonds", "inside"),
    [
        ("CNOO", [(0, 1), (1, 2), (1, 3)], 4),  # nitro
        ("CNHH", [(0, 1), (1, 2), (1, 3)], 4),  # amine
        ("ONOO", [(0, 1), (1, 2), (1, 3)], 0),  # nitrate
        ("NHHH", [(0, 1), (0, 2), (0, 3)], 0),  # ammonia
        ("ONHH", [(0, 1), (1, 2), (1, 3)], 0),  # O-NH2
        ("ONO", [(0, 1), (1, 2)], 0),  # nitrite
        ("CNHC", [(0, 1), (1, 2), (1, 3)], 0),  # secondary amine
    ],
)
def test_what_counts_as_a_group(atoms, bonds, inside):
    label = find_groups(molecule(atoms, bonds))
    assert int(label.sum()) == inside
    assert not label[0]


def test_a_read_only_root_works_and_stays_as_it_was(data_root, tmp_path):
    root = tmp_path / "root"
    shutil.copytree(need(data_root, "MUTAG") / "MUTAG" / "raw", root / "MUTAG" / "raw")
    for folder, _, files in os.walk(root):
        for name in files:
            os.chmod(Path(folder, name), 0o444)
        os.chmod(folder, 0o555)
    before = snapshot(root)
    dataset = datasets.load("MUTAG", root=root)
    assert snapshot(root) == before
    assert dataset.provenance == "TUDataset, files of the data root"


def test_changed_raw_files_are_seen(data_root, tmp_path):
    raw = tmp_path / "MUTAG" / "raw"
    shutil.copytree(need(data_root, "MUTAG") / "MUTAG" / "raw", raw)
    before = datasets.load("MUTAG", root=tmp_path).digest
    labels = raw / "MUTAG_graph_labels.txt"
    labels.write_text(labels.read_text().replace("-1", "1", 1))
    assert datasets.load("MUTAG", root=tmp_path).digest != before


def test_a_download_has_its_groups_found_from_the_atoms(data_root, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    raw = need(data_root, "Mutagenicity") / "Mutagenicity" / "raw"

    def download(self: TUDataset) -> None:
        for file in raw.glob("Mutagenicity_*.txt"):
            if "edge_gt" not in file.name:
                shutil.copyfile(file, Path(self.raw_dir, file.name))

    monkeypatch.setattr(TUDataset, "download", download)
    dataset = datasets.load("Mutagenicity", root=tmp_path)
    assert dataset.provenance == "TUDataset, downloaded; ground truth from the atoms"
    assert sum(int(graph.edge_label.sum()) for graph in dataset) == 7_352


def test_without_a_network_the_error_says_where_to_put_the_files(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def download(self: TUDataset) -> None:
        raise OSError("no network")

    monkeypatch.setattr(TUDataset, "download", download)
    with pytest.raises(InputError, match=r"MUTAG/raw/MUTAG_\*\.txt"):
        datasets.load("MUTAG", root=tmp_path)
    assert not list((tmp_path / "cache" / "eigsearch").iterdir())
