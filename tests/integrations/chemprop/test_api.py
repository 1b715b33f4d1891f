"""Explanations of chemprop models, held against chemprop's own predictions of edited graphs."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from eigsearch.errors import InputError
from eigsearch.integrations.chemprop import ChempropModel, explain, explain_dataset, to_graphs

chemprop = pytest.importorskip("chemprop", reason="chemprop needs Python 3.11 or newer")
from chemprop import data, models, nn  # noqa: E402

MOLECULES = [
    "CCO",
    "ClCCl",
    "C1CCCCC1Br",
    "N#Cc1ccccc1",
    "O=C(O)c1ccccc1",
    "c1ccccc1[N+](=O)[O-]",
    "C[C@H](N)C(=O)O",
    "CC(=O)Oc1ccccc1C(=O)O",
    "CN1C=NC2=C1C(=O)N(C(=O)N2C)C",
    "[Na+].[O-]C(=O)CCl",
]
SCALED = nn.UnscaleTransform([3.0], [2.5])
PREDICTORS = {
    "regression": lambda: nn.RegressionFFN(output_transform=SCALED),
    "mean and variance": lambda: nn.MveFFN(),
    "binary": lambda: nn.BinaryClassificationFFN(),
    "dirichlet": lambda: nn.predictors.BinaryDirichletFFN(),
    "multiclass": lambda: nn.MulticlassClassificationFFN(n_classes=3),
}


def make_model(predictor, passing=nn.BondMessagePassing, aggregation=nn.MeanAggregation):
    torch.manual_seed(3)
    model = models.MPNN(passing(), aggregation(), predictor, batch_norm=True)
    for parameter in model.parameters():  # far enough from zero that bonds matter
        parameter.data *= 1.5
    return model.eval()


def edited(graph, keep, all_atoms=False):
    """Return a molecule's `MolGraph` with these directed edges and their ends, by hand."""
    ends = graph.edge_index[:, keep].numpy()
    atoms = np.arange(graph.num_nodes) if all_atoms or not ends.size else np.unique(ends)
    number = {atom: place for place, atom in enumerate(atoms)}
    edges = [(number[u], number[v]) for u, v in ends.T]
    reverse = [edges.index((v, u)) for u, v in edges]
    return data.MolGraph(
        graph.x.numpy()[atoms],
        graph.edge_attr.numpy()[keep.numpy()],
        np.array(edges, int).T.reshape(2, -1),
        np.array(reverse, int),
    )


def predicted(model, graph, keep, all_atoms=False):
    """Return chemprop's own prediction of an edited molecule."""
    datum = data.datasets.Datum(edited(graph, keep, all_atoms), None, None, None, 1.0, None, None)
    with torch.inference_mode():
        return model.predict_step(data.collate_batch([datum]), 0)[0]


def phi(output, predictor, explanation):
    """Return what an explanation is about in one prediction of chemprop."""
    if isinstance(predictor, nn.MulticlassClassificationFFN):
        return float(output[0, explanation.target])
    value = float(output.flatten()[0])
    if isinstance(predictor, nn.RegressionFFN):
        return value
    return value if explanation.target == 1 else 1 - value


@pytest.mark.parametrize("kind", PREDICTORS)
def test_explain_of_ten_molecules_has_the_gains_of_plain_predictions(kind):
    model = make_model(PREDICTORS[kind]())
    explanations = explain(model, MOLECULES)
    assert [e.data.smiles for e in explanations] == MOLECULES
    for explanation in explanations:
        graph, mask = explanation.data, explanation.edge_mask
        everything = torch.ones_like(mask)
        whole, kept, removed = (
            phi(output, model.predictor, explanation)
            for output in (
                predicted(model, graph, everything, all_atoms=True),
                predicted(model, graph, mask),
                predicted(model, graph, ~mask),
            )
        )
        plus, minus = whole - removed, whole - kept
        if isinstance(model.predictor, nn.RegressionFFN):  # change counts in both directions
            plus, minus = abs(plus), abs(minus)
        assert explanation.value == pytest.approx(whole, abs=1e-5)
        assert explanation.fidelity_plus == pytest.approx(plus, abs=1e-5)
        assert explanation.fidelity_minus == pytest.approx(minus, abs=1e-5)
        assert explanation.gain == pytest.approx(plus - minus, abs=2e-5)


@pytest.mark.parametrize("passing", [nn.AtomMessagePassing, nn.BondMessagePassing])
@pytest.mark.parametrize("aggregation", [nn.SumAggregation, nn.NormAggregation])
def test_explain_scores_bonds_by_what_chemprop_loses_without_them(passing, aggregation):
    model = make_model(nn.RegressionFFN(), passing, aggregation)
    explanation = explain(model, "O=C(O)c1ccccc1Cl", search="fixed", size=3)
    graph = explanation.data
    whole = float(predicted(model, graph, explanation.group >= 0))
    for group in range(explanation.num_groups):
        without = float(predicted(model, graph, explanation.group != group, all_atoms=True))
        per_direction = abs(whole - without) / 2
        assert float(explanation.score[group]) == pytest.approx(per_direction, abs=1e-5)


def test_to_graphs_gives_what_chemprop_itself_reads():
    points = [data.MoleculeDatapoint.from_smi(smiles) for smiles in MOLECULES]
    expected = data.BatchMolGraph([datum.mg for datum in data.MoleculeDataset(points)])
    graphs = to_graphs(MOLECULES)
    assert torch.equal(torch.cat([graph.x for graph in graphs]), expected.V)
    assert torch.equal(torch.cat([graph.edge_attr for graph in graphs]), expected.E)


def test_explain_of_a_datapoint_passes_descriptors_and_keeps_the_order_of_smiles():
    torch.manual_seed(0)
    passing = nn.BondMessagePassing(d_vd=2)
    predictor = nn.RegressionFFN(input_dim=passing.output_dim + 3)
    model = models.MPNN(passing, nn.SumAggregation(), predictor).eval()
    mol = data.MoleculeDatapoint.from_smi("OC(=O)CCN").mol
    atoms = np.arange(12, dtype=float).reshape(6, 2)
    point = data.MoleculeDatapoint(mol, V_d=atoms, x_d=np.array([1.0, -2.0, 0.5]), name="ala")
    (explanation,) = explain(model, [point])
    batch = data.collate_batch([data.MoleculeDataset([point])[0]])
    assert explanation.value == pytest.approx(model.predict_step(batch, 0).item(), abs=1e-5)
    assert explanation.data.name == "ala"
    assert torch.equal(explanation.data.x, to_graphs([explanation.data.smiles])[0].x)


def test_explain_of_several_properties_needs_a_column_and_explains_it():
    model = make_model(nn.RegressionFFN(n_tasks=3))
    with pytest.raises(InputError, match="one of the 3 properties"):
        explain(model, "CCO")
    with pytest.raises(InputError, match="from 0 to 2"):
        explain(model, "CCO", column=3)
    whole = predicted(model, to_graphs(["CCO"])[0], torch.ones(4, dtype=torch.bool))
    found = [explain(model, "CCO", column=column).value for column in range(3)]
    assert found == pytest.approx(whole.tolist(), abs=1e-5)


def test_explain_reads_a_file_that_chemprop_wrote(tmp_path):
    model = make_model(nn.BinaryClassificationFFN())
    models.save_model(tmp_path / "model.pt", model)
    assert explain(tmp_path / "model.pt", "CCO").value == explain(model, "CCO").value


def test_explain_dataset_shares_calls_between_molecules():
    model = make_model(nn.RegressionFFN())
    calls = []
    model.message_passing.register_forward_hook(lambda *_: calls.append(1))
    together = list(explain_dataset(model, MOLECULES))
    count = len(calls)
    alone = [explain(model, smiles) for smiles in MOLECULES]
    assert count < (len(calls) - count) / 2
    assert [e.edge_mask.tolist() for e in together] == [e.edge_mask.tolist() for e in alone]


@pytest.mark.parametrize(
    ("model", "smiles", "message"),
    [
        (torch.nn.Linear(1, 1), "CCO", "a model of chemprop 2"),
        ("missing.pt", "CCO", "to be a file"),
        (None, "not a molecule", "text of a molecule to be SMILES"),
    ],
)
def test_explain_refuses_what_it_cannot_read(model, smiles, message):
    with pytest.raises(InputError, match=message):
        explain(model or make_model(nn.RegressionFFN()), smiles)


def test_explain_with_other_features_than_in_training_says_so():
    model = make_model(nn.RegressionFFN(), lambda: nn.BondMessagePassing(d_v=40))
    with pytest.raises(InputError, match="atoms with 40 features"):
        explain(model, "CCO")


def test_chemprop_model_refuses_one_direction_of_a_bond():
    graph = to_graphs(["CCO"])[0]
    with pytest.raises(InputError, match="both directions"):
        ChempropModel(make_model(nn.RegressionFFN()))(
            graph.x, graph.edge_index[:, :3], graph.edge_attr[:3], torch.zeros(3).long()
        )
