"""Bonds that a counterfactual adds: only such that RDKit sanitises the molecule."""

from __future__ import annotations

import pytest
import torch
from rdkit import Chem
from torch_geometric.data import Data
from torch_geometric.utils import from_smiles

import eigsearch
from eigsearch.counterfactual.bonds import bond_check, single_bond
from eigsearch.counterfactual.explanation import FlipExplanation
from eigsearch.errors import InputError
from tests.search.brute import Net, random_graph

SMILES = ("CCO", "c1ccccc1O", "CC(=O)O", "C1CC1N", "CC#N", "FC(F)(F)C", "C[N+](C)(C)C")


def changed_mol(smiles: str, answer: FlipExplanation) -> Chem.Mol:
    """Return the molecule after the change, bonds kekulised."""
    mol = Chem.RWMol(Chem.MolFromSmiles(smiles))
    Chem.Kekulize(mol, clearAromaticFlags=True)
    for u, v in answer.removed.t().tolist():
        if u < v:
            mol.RemoveBond(u, v)
    for u, v in answer.added.t().tolist():
        mol.AddBond(u, v, Chem.BondType.SINGLE)
    return mol


def molecule(smiles: str) -> Data:
    """Return a graph with features that the network takes."""
    data = from_smiles(smiles)
    torch.manual_seed(0)
    data.x = torch.randn(200, 3)[data.x[:, 0]]
    return data


def test_flip_adds_only_bonds_that_rdkit_sanitises() -> None:
    checked = 0
    for smiles in SMILES:
        for seed in range(4):
            options = {"add": True, "answers": 20, "max_size": 3}
            found = eigsearch.flip(Net(seed), molecule(smiles), **options)
            assert isinstance(found, list)
            for answer in found:
                Chem.SanitizeMol(changed_mol(smiles, answer))  # raises where it cannot
                checked += answer.added.size(1) > 0
    assert checked > 10


def test_flip_without_atoms_adds_what_no_molecule_has() -> None:
    data = molecule("FC(F)(F)C")
    del data.smiles
    atoms = ("F", "C", "F", "F", "C")
    plain, known = 0, 0
    for seed in range(12):
        options = {"add": True, "answers": 20, "max_size": 2}
        for names in (None, atoms):
            found = eigsearch.flip(Net(seed), data, atoms=names, **options)
            assert isinstance(found, list)
            grown = sum(answer.added.size(1) > int(answer.keep.sum()) for answer in found)
            plain, known = (plain + grown, known) if names is None else (plain, known + grown)
    assert plain > 0
    assert known == 0  # every atom is full: a bond has to go for each that comes


def test_bond_check_reads_orders_from_named_columns() -> None:
    both = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    data = Data(edge_index=both, num_nodes=3, edge_attr=torch.eye(2)[[0, 0, 0, 0]])
    atoms = ("C", "C", "O")
    single = bond_check(data, atoms, ("single", "double"))
    double = bond_check(data, atoms, ("double", "single"))
    assert single is not None
    assert double is not None
    assert single.allows([], [(0, 2)])
    assert not double.allows([], [(0, 2)])  # an oxygen with a double bond is full
    assert double.allows([(1, 2)], [(0, 2)])


def test_bond_check_atoms_that_are_refused_stay_and_get_no_bond() -> None:
    star = torch.tensor([[0, 0, 0, 0, 0], [1, 2, 3, 4, 5]])  # a carbon with five bonds
    data = Data(edge_index=torch.cat([star, star.flip(0)], dim=1), num_nodes=6)
    check = bond_check(data, ("C",) * 6, None)
    assert check is not None
    assert check.allows([], [(1, 2)])
    assert not check.allows([(0, 1), (0, 2), (0, 3)], [(4, 5), (0, 1), (0, 2), (0, 3)])


def test_single_bond_of_a_graph_without_attributes_is_none() -> None:
    """Names of bonds may come with a data set of which some graphs have no `edge_attr`."""
    data = Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=2)
    assert single_bond(data, ("single", "double")) is None


def test_flip_with_additions_is_never_larger_than_without() -> None:
    for seed in range(40):
        model, data = Net(seed), random_graph(seed)
        without, with_them = (eigsearch.flip(model, data, add=add) for add in (False, True))
        assert isinstance(without, FlipExplanation)
        assert isinstance(with_them, FlipExplanation)
        if without.flipped:
            assert with_them.flipped
            assert with_them.size <= without.size


@pytest.mark.parametrize(
    ("atoms", "bonds", "match"),
    [(("C",), None, "for each of 3 nodes"), (("C",) * 3, ("single",), "each column")],
)
def test_bond_check_refuses_names_that_do_not_fit(
    atoms: tuple[str, ...], bonds: tuple[str, ...] | None, match: str
) -> None:
    data = Data(edge_index=torch.tensor([[0, 1], [1, 2]]), num_nodes=3, edge_attr=torch.eye(2))
    with pytest.raises(InputError, match=match):
        bond_check(data, atoms, bonds)


def numbered_otherwise(smiles: str) -> Data:
    """Return a molecule whose nodes are not in the order of its SMILES."""
    data = molecule(smiles)
    order = torch.arange(data.num_nodes).roll(1)
    data.x, data.edge_index = data.x[order.argsort()], order[data.edge_index]
    return data


def test_smiles_of_other_numbers_are_refused_unless_atoms_are_named() -> None:
    """A check of other bonds than those of the graph would allow and forbid the wrong ones."""
    data = numbered_otherwise("CCOC(=O)C")
    with pytest.raises(InputError, match=r"^Expected `smiles` to describe .* \(got 'CCOC.*`atoms`"):
        eigsearch.flip(Net(0), data, add=True)
    assert eigsearch.flip(Net(0), data) is not None  # nothing is added, so nothing is checked
    elements = tuple("CCOCOC"[(number + 1) % 6] for number in range(6))
    assert bond_check(data, elements, None) is not None


def test_smiles_describe_a_graph_with_its_hydrogens() -> None:
    mol = Chem.AddHs(Chem.MolFromSmiles("CCO"))
    ends = torch.tensor([[b.GetBeginAtomIdx(), b.GetEndAtomIdx()] for b in mol.GetBonds()]).t()
    data = Data(edge_index=torch.cat([ends, ends.flip(0)], dim=1), num_nodes=9, smiles="CCO")
    check = bond_check(data, None, None)
    assert check is not None
    assert not check.allows([], [(0, 2)])  # every atom has its hydrogens
    assert check.allows([(0, 3), (2, 8)], [(0, 2)])


def test_both_directions_of_a_bond_are_one_and_an_atom_has_none_with_itself() -> None:
    check = bond_check(molecule("CCCO"), None, None)
    assert check is not None
    assert check.allows([], [(0, 2), (2, 0)])
    assert check.allows([], [(1, 0)])  # it is there
    assert not check.allows([], [(1, 1)])
    found = eigsearch.flip(Net(1), molecule("CCCO"), add=True, groups="directed", answers=9)
    assert isinstance(found, list)
