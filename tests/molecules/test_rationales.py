"""Fragments of explanations whose chosen bonds are known."""

from __future__ import annotations

import pytest
from rdkit import Chem

from eigsearch.errors import InputError
from eigsearch.molecules import rationales
from tests.molecules.chosen import NITRO, choose, nitro
from tests.visualization.samples import explained, graph


def test_rationales_are_fragments_with_attachment_points():
    (found,) = rationales(nitro())
    assert found.smiles == Chem.CanonSmiles("*C(=*)[N+](=O)[O-]")
    assert found.smarts == "[#6]-[#7+](=[#8])-[#8-]"
    assert found.atoms == (5, 6, 7, 8)


def test_rationales_of_a_whole_ring_stay_aromatic_and_pieces_come_apart():
    ring = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)]
    whole, rest = rationales(choose(NITRO, [*ring, (6, 7)]))
    assert whole.smiles == "*c1ccccc1"
    assert rest.smiles == Chem.CanonSmiles("*[N+](*)=O")
    assert rationales(choose(NITRO, [])) == []


@pytest.mark.parametrize("smiles", [NITRO, "CC(=O)Oc1ccccc1C(=O)O", "CN1C=NC2=C1C(=O)N(C(=O)N2C)C"])
def test_rationales_of_any_bonds_can_be_read_and_found_again(smiles):
    mol = Chem.MolFromSmiles(smiles)
    pairs = [(b.GetBeginAtomIdx(), b.GetEndAtomIdx()) for b in mol.GetBonds()]
    for step in range(1, len(pairs)):
        chosen = pairs[::step][:5]
        found = rationales(choose(smiles, chosen))
        assert sum(len(each.bonds) for each in found) == len(chosen)
        for each in found:
            assert mol.HasSubstructMatch(Chem.MolFromSmarts(each.smarts))
            assert Chem.MolFromSmiles(each.smiles) is not None, each.smiles


def test_rationales_of_a_graph_that_is_no_molecule_say_what_to_set():
    with pytest.raises(InputError, match=r"Set `data\.smiles`"):
        rationales(explained(graph([(0, 1), (1, 2)]), size=1))
