import builtins

import numpy as np
import pytest

from eigsearch.visualization import Names
from eigsearch.visualization.graph_drawing import draw
from eigsearch.visualization.molecule import coordinates, read_molecule, ring_sides
from tests.visualization.samples import MOLECULES, explained, graph, nitro_explanation, nitrobenzene


@pytest.fixture
def without_rdkit(monkeypatch):
    real = builtins.__import__

    def refuse(name, *args, **kwargs):
        if name.startswith("rdkit"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)


def distances(positions, pairs):
    return [float(np.linalg.norm(positions[u] - positions[v])) for u, v in pairs]


class TestFromAtomLabels:
    def test_symbols_and_bond_orders_are_read(self):
        molecule = read_molecule(nitrobenzene(), MOLECULES)
        assert molecule.symbols == ("C",) * 6 + ("N", "O", "O")
        assert molecule.orders[1, 2] == 2
        assert molecule.orders[0, 6] == 1

    def test_unknown_bond_orders_are_single_bonds(self):
        names = Names(node_names=MOLECULES.node_names)
        molecule = read_molecule(nitrobenzene(), names)
        assert set(molecule.orders.values()) == {1.0}
        assert len(molecule.orders) == 9

    def test_an_element_without_a_name_and_an_impossible_valence_are_drawn(self):
        names = Names(node_names=("C", "?1"))
        star = graph([(0, i) for i in range(1, 7)])
        star.node_label = star.edge_index.new_tensor([0, 0, 0, 0, 0, 0, 1])
        molecule = read_molecule(star, names)
        assert molecule.symbols[-1] == "?1"
        assert coordinates(molecule).shape == (7, 2)

    def test_names_that_are_no_elements_make_no_molecule(self):
        assert read_molecule(nitrobenzene(), Names(node_names=("cat", "dog", "cow", "ant"))) is None


class TestCoordinates:
    def test_bonds_have_one_length_and_rings_are_round(self):
        molecule = read_molecule(nitrobenzene(), MOLECULES)
        lengths = distances(coordinates(molecule), molecule.orders)
        assert max(lengths) - min(lengths) < 0.1 * max(lengths)

    def test_the_second_line_of_a_double_bond_is_inside_its_ring(self):
        molecule = read_molecule(nitrobenzene(), MOLECULES)
        positions = coordinates(molecule)
        centre = positions[:6].mean(axis=0)
        low, high = positions[1], positions[2]
        along = high - low
        inward = np.array([-along[1], along[0]]) * ring_sides(molecule, positions)[1, 2]
        assert inward @ (centre - low) > 0

    def test_a_drawing_carries_orders_and_sides(self):
        drawing = draw([nitro_explanation()], MOLECULES)
        assert drawing.molecule
        assert sorted(drawing.orders) == [1.0] * 5 + [2.0] * 4
        assert sum(side != 0 for side in drawing.sides) == 6


class TestFromRdkit:
    def data(self, **fields):
        return graph([(0, 1), (1, 2)], **fields)  # the skeleton of ethanol

    def test_smiles_bring_elements_hydrogens_and_charges(self):
        assert read_molecule(self.data(smiles="CCO"), Names()).labels == ("C", "C", "OH")
        assert read_molecule(self.data(smiles="CC[NH3+]"), Names()).labels[2] == "NH₃⁺"

    def test_smiles_with_hydrogens_as_nodes_are_recognised(self):
        water = graph([(0, 1), (0, 2)], smiles="O")
        assert read_molecule(water, Names()).symbols == ("O", "H", "H")

    def test_an_rdkit_molecule_is_read(self):
        chem = pytest.importorskip("rdkit.Chem")
        molecule = read_molecule(self.data(mol=chem.MolFromSmiles("CC=O")), Names())
        assert molecule.orders == {(0, 1): 1.0, (1, 2): 2.0}

    @pytest.mark.parametrize("smiles", ["C1CC1", "CCCC", "not a molecule", ""])
    def test_smiles_that_do_not_fit_the_graph_are_not_used(self, smiles):
        assert read_molecule(self.data(smiles=smiles), Names()) is None

    def test_aromatic_bonds_become_single_and_double_ones(self):
        ring = graph([(i, (i + 1) % 6) for i in range(6)], smiles="c1ccccc1")
        assert sorted(read_molecule(ring, Names()).orders.values()) == [1.0] * 3 + [2.0] * 3


@pytest.mark.usefixtures("without_rdkit")
def test_without_rdkit_atoms_are_laid_out_as_a_plain_graph_with_their_symbols():
    drawing = draw([nitro_explanation()], MOLECULES)
    assert drawing.molecule
    assert drawing.labels[6:] == ("N", "O", "O")
    assert set(drawing.sides) == {0}
    assert np.array_equal(drawing.positions, draw([nitro_explanation()], MOLECULES).positions)


def test_a_molecule_of_single_atoms_is_drawn():
    salt = graph([(0, 1)], num_nodes=4)
    salt.node_label = salt.edge_index.new_tensor([0, 0, 2, 2])
    drawing = draw([explained(salt, size=1)], MOLECULES)
    assert len(np.unique(drawing.positions, axis=0)) == 4
