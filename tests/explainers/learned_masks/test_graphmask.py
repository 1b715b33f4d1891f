"""GraphMask: gates that close where nobody misses the message."""

import pytest
import torch
from torch_geometric.nn import GATConv, GCNConv

from eigsearch.errors import InputError
from eigsearch.explainers.baselines.random import Random
from eigsearch.explainers.common.differentiable import DifferentiablePrediction
from eigsearch.explainers.common.edge_weights import message_layers
from eigsearch.explainers.learned_masks.graphmask import GraphMask
from eigsearch.explainers.learned_masks.graphmask.gates import Gate, GatedLayers
from tests.explainers.linear import LinearNet, bull
from tests.explainers.planted import CYCLE, HOUSE, graphs, mean_auc, network


def test_training_closes_gates_and_finds_the_motif():
    train, test = [*graphs(CYCLE, 10, 100), *graphs(HOUSE, 10, 100)], graphs(CYCLE, 5)
    trained, untrained = GraphMask(epochs=6), GraphMask(epochs=0)
    for method in (trained, untrained):
        method.fit(network(), train)
    assert trained.open[5] < 0.5 * trained.open[0]  # within the epochs of the last layer
    auc = mean_auc(trained, test)
    assert auc > 0.8
    assert auc > mean_auc(untrained, test) + 0.2
    assert auc > mean_auc(Random(), test) + 0.2


@pytest.mark.parametrize("conv", [None, GCNConv, GATConv])
def test_open_gates_change_nothing_and_closed_ones_put_the_constant(conv):
    data, model = bull(), LinearNet()
    if conv is not None:
        model.conv = conv(3, 4)
    prediction = DifferentiablePrediction(model, data, 1, None)
    layers = GatedLayers(message_layers(prediction.model))
    (passed,) = layers.record(prediction)
    count, width = passed.message.shape
    whole = prediction.target.phi(model(data.x, data.edge_index))[0]
    constant = torch.zeros(width)
    open_phi = layers.phi(prediction, {0: (torch.ones(count), constant)})
    assert float(open_phi) == pytest.approx(float(whole), abs=1e-5)
    if conv is None:  # without messages, a sum is the nodes alone
        closed = layers.phi(prediction, {0: (torch.zeros(count), constant)})
        alone = prediction.target.phi(model(data.x, data.edge_index[:, :0]))[0]
        assert float(closed) == pytest.approx(float(alone), abs=1e-5)


def test_gates_are_sampled_as_often_open_as_they_say():
    torch.manual_seed(0)
    logit = torch.tensor([-2.0, 0.0, 2.0]).repeat_interleave(4000).requires_grad_()
    gate = Gate(1, 1)
    kept = gate.sample(logit)
    assert set(kept.unique().tolist()) <= {0.0, 1.0}
    open_share = kept.detach().reshape(3, -1).mean(1)
    assert torch.allclose(open_share, torch.sigmoid(torch.tensor([-2.0, 0.0, 2.0])), atol=0.03)
    (slope,) = torch.autograd.grad(kept.sum(), logit)
    assert float(slope.sum()) > 0
    assert bool(
        (gate.chance_open(logit) > torch.sigmoid(logit)).all()
    )  # not closed is more than open


def test_it_wants_the_model_that_it_was_trained_on():
    method = GraphMask(epochs=1)
    method.fit(LinearNet(), [bull()])
    with pytest.raises(InputError, match="trained on"):
        method.rank(network(), graphs(HOUSE, 1)[0], 0, None)


def test_the_authors_preset_has_their_schedule_and_gates():
    method = GraphMask(preset="authors", num_nodes=3)
    assert (method._settings.epochs, method._settings.lr) == (25, 3e-4)
    assert GraphMask(epochs=2, preset="authors")._settings.epochs == 2
    method = GraphMask(epochs=1, preset="authors")
    method.fit(network(), graphs(HOUSE, 2))
    assert [gate.open_bias for gate in method._gates] == [3.0] * 3
    assert len(method.open) == 3  # one epoch for each layer
    with pytest.raises(InputError, match="library, authors"):
        GraphMask(preset="paper")
