from __future__ import annotations

import pytest
import torch
from rdkit import Chem
from torch_geometric.utils import from_smiles

from eigsearch.datasets import FEATURIZERS
from eigsearch.datasets.molecule_files.featurizers import ELEMENTS, featurize
from eigsearch.errors import InputError

ALANINE = Chem.MolFromSmiles("C[C@H](N)C(=O)O")


@pytest.mark.parametrize("name", FEATURIZERS)
def test_featurizers_give_a_node_for_each_atom_and_both_directions_of_bonds(name):
    mol = Chem.AddHs(ALANINE) if name == "pyg_hydrogens" else ALANINE
    graph = FEATURIZERS[name].make(ALANINE)
    assert graph.num_nodes == mol.GetNumAtoms()
    assert graph.is_undirected()
    assert len(graph.edge_attr) == graph.num_edges == 2 * mol.GetNumBonds()


def test_pyg_is_what_pyg_makes_of_the_smiles():
    made, expected = FEATURIZERS["pyg"].make(ALANINE), from_smiles("C[C@H](N)C(=O)O")
    assert torch.equal(made.x, expected.x)
    assert torch.equal(made.edge_attr, expected.edge_attr)


def test_elements_are_one_hot_with_a_column_for_others():
    graph = FEATURIZERS["elements"].make(Chem.MolFromSmiles("[Na]Cl"))
    assert graph.x.argmax(dim=1).tolist() == [len(ELEMENTS), ELEMENTS.index("Cl")]
    assert graph.edge_attr.tolist() == [[1, 0, 0, 0]] * 2


def test_attentive_fp_marks_the_stereo_centre():
    graph = FEATURIZERS["attentive_fp"].make(ALANINE)
    assert graph.x.shape == (6, 39)
    assert graph.edge_attr.shape == (10, 10)
    code = ALANINE.GetAtomWithIdx(1).GetProp("_CIPCode")
    assert graph.x[:, -2:].nonzero().tolist() == [[1, "RS".index(code)]]


def test_a_single_atom_has_no_edges():
    for featurizer in FEATURIZERS.values():
        graph = featurizer.make(Chem.MolFromSmiles("[Na+]"))
        assert (graph.num_nodes, graph.num_edges) == (1, 0)
        assert graph.edge_attr.shape == (0, featurizer.make(ALANINE).edge_attr.size(1))


def test_featurize_refuses_what_is_no_graph():
    with pytest.raises(InputError, match=r"a PyG `Data` .*\(got list\)"):
        featurize(lambda mol: [1, 2], ALANINE)
