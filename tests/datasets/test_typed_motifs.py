"""Typed-Motifs: chains of equal shape and frequency, of which types decide."""

from __future__ import annotations

from collections import Counter

import pytest
import torch
from torch_geometric.data import HeteroData

from eigsearch import datasets
from eigsearch.datasets.typed_builder import reverse_type
from eigsearch.datasets.typed_motifs import MOTIFS, OTHER, OWN
from eigsearch.models import zoo


@pytest.fixture(scope="module")
def data() -> HeteroData:
    return datasets.generate("Typed-Motifs")[0]


def chains(data: HeteroData, center: int) -> Counter:
    """The (arm type, end type) of each chain of a center, found by walking."""
    found: Counter = Counter()
    for arm_type in "ab":
        source, target = data["center", "to", arm_type].edge_index
        for arm in target[source == center].tolist():
            for end_type in "xyz":
                arms = data[arm_type, "to", end_type].edge_index[0]
                found[arm_type, end_type] += int((arms == arm).sum())
    return found


def test_typed_motifs_class_is_the_motif_with_more_chains(data: HeteroData) -> None:
    for center, label in enumerate(data["center"].y.tolist()[:40]):
        counts = chains(data, center)
        votes = [sum(counts[chain] for chain in motif) for motif in MOTIFS]
        assert (votes[label], votes[1 - label]) == (OWN, OTHER)


def test_typed_motifs_truth_is_the_chains_of_the_own_class(data: HeteroData) -> None:
    for kind in [kind for kind in data.edge_types if kind[1] == "to"]:
        motif = data[kind].edge_motif
        assert torch.equal(data[kind].edge_label, motif >= 0)
        assert torch.equal(data[reverse_type(kind)].edge_motif, motif)
    true = sum(int((data[kind].edge_motif == 7).sum()) for kind in data.edge_types)
    assert true == 2 * 2 * OWN  # two edges in a chain, two directions


def test_typed_motifs_combinations_are_equally_frequent(data: HeteroData) -> None:
    counts = [data[a, "to", e].num_edges for a in "ab" for e in "xyz"]
    assert max(counts) < 1.25 * min(counts)


def test_typed_motifs_same_seed_same_content() -> None:
    assert datasets.generate("Typed-Motifs").digest == datasets.generate("Typed-Motifs").digest
    assert datasets.generate("Typed-Motifs", seed=1).digest != datasets.load("Typed-Motifs").digest


def test_zoo_network_depends_on_the_true_edges_alone(data: HeteroData) -> None:
    model, _ = zoo.load("Typed-Motifs", "hetero")
    labels = data["center"].y
    with torch.no_grad():
        for center in range(20):
            true = {kind: data[kind].edge_motif == center for kind in data.edge_types}
            for keep_true in (True, False):
                edges = {k: data[k].edge_index[:, true[k] == keep_true] for k in data.edge_types}
                predicted = int(model(data.x_dict, edges)[center].argmax())
                assert (predicted == int(labels[center])) == keep_true
