import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.utils import from_smiles

from eigsearch.app.molecule_search import MoleculePattern
from eigsearch.errors import InputError
from eigsearch.visualization import Names
from tests.visualization.samples import MOLECULES, nitrobenzene

pytest.importorskip("rdkit")


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("c1ccccc1", [1, 2]),
        ("[N+](=O)[O-]", [2]),
        ("[#8]", [0, 2]),
        ("CCO", [0]),
        ("[Br]", []),
    ],
)
def test_search_smiles_matches_exactly(pattern, found):
    graphs = [from_smiles(smiles) for smiles in ("CCO", "c1ccccc1", "O=[N+]([O-])c1ccccc1")]
    assert MoleculePattern(pattern).search(graphs, Names()) == found


@pytest.mark.parametrize(
    ("pattern", "matches"),
    [("c1ccccc1", True), ("N(O)O", True), ("[N+](=O)[O-]", True), ("C1CCCC1", False), ("S", False)],
)
def test_search_elements_without_bond_orders_matches_any_bond(pattern, matches):
    assert MoleculePattern(pattern).matches(nitrobenzene(), MOLECULES) is matches


def test_graph_without_elements_is_no_match():
    graph = Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=2)
    assert not MoleculePattern("CC").matches(graph, Names())


@pytest.mark.parametrize("text", ["", "((((", "not a pattern", "C" * 500])
def test_pattern_that_is_neither_smiles_nor_smarts_raises(text):
    with pytest.raises(InputError, match="SMILES or SMARTS"):
        MoleculePattern(text)
