import numpy as np
import pytest
import torch

from eigsearch import datasets
from eigsearch.errors import InputError

FILES = {"BA-Shapes": "syn1.npz", "BA-Community": "syn2.npz", "Tree-Grid": "syn4.npz"}


@pytest.mark.parametrize("name", FILES)
def test_the_published_file_wins_and_has_the_generator_s_structure(name, data_root):
    published, generated = datasets.load(name, root=data_root), datasets.generate(name)
    assert published.provenance == f"published file {FILES[name]}"
    assert published[0].keys() == generated[0].keys()
    for key in generated[0].keys():  # noqa: SIM118 - not a dict
        assert published[0][key].shape == generated[0][key].shape
        assert published[0][key].dtype == generated[0][key].dtype
    for key in ("node_motif", "edge_motif", "y"):
        counts = [torch.bincount(data[key] + 1) for data in (published[0], generated[0])]
        assert torch.equal(*counts)


def test_published_ba_2motifs_keeps_its_known_faults(data_root):
    dataset = datasets.load("BA-2Motifs", root=data_root)
    assert dataset.provenance == "published file BA-2motif.npz"
    assert sum(graph.has_self_loops() for graph in dataset) == 40
    assert all(int(g.edge_label.sum()) == (12 if int(g.y) else 10) for g in dataset)
    assert dataset[0].x.shape == (25, 10)


def test_pickled_arrays_are_refused(tmp_path):
    keys = ("x", "edge_index", "y", "edge_label_sym")
    np.savez(tmp_path / "syn1.npz", **{key: np.array([object()]) for key in keys})
    with pytest.raises(InputError, match="published data set"):
        datasets.load("BA-Shapes", root=tmp_path)


def test_a_broken_file_is_named(tmp_path):
    (tmp_path / "BA-2motif.npz").write_bytes(b"PK\x03\x04 not a zip")
    with pytest.raises(InputError, match=r"BA-2motif\.npz"):
        datasets.load("BA-2Motifs", root=tmp_path)
