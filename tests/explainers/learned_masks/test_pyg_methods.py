"""GNNExplainer and PGExplainer: PyG's algorithms, wrapped without their traps."""

import warnings
from itertools import pairwise

import pytest
import torch
from sklearn.metrics import roc_auc_score
from torch import nn
from torch_geometric.data import Data
from torch_geometric.explain import Explainer
from torch_geometric.explain import GNNExplainer as PyGGNNExplainer
from torch_geometric.explain import PGExplainer as PyGPGExplainer
from torch_geometric.nn import GINConv, global_add_pool
from torch_geometric.utils import to_undirected

from eigsearch.errors import InputError
from eigsearch.explainers.base import share_directions
from eigsearch.explainers.learned_masks.gnn_explainer import GNNExplainer
from eigsearch.explainers.learned_masks.pg_explainer import PGExplainer
from tests.explainers.linear import LinearNet, bull
from tests.explainers.planted import HOUSE, graphs, network

ENDS = {
    "raw": lambda out: out,
    "log_probs": lambda out: out.log_softmax(-1),
    "probs": lambda out: out.softmax(-1),
}


class Ends(LinearNet):
    def __init__(self, end: str, task: str = "graph") -> None:
        super().__init__(task)
        self.end = ENDS[end]

    def forward(self, x, edge_index, batch=None):
        return self.end(super().forward(x, edge_index, batch))


class Messenger(nn.Module):
    """Class 1 for graphs in which a neighbour of node features (1, 0) tells them on."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = GINConv(nn.Identity(), eps=-1.0)

    def forward(self, x, edge_index, batch=None):
        total = global_add_pool(self.conv(x, edge_index), batch)
        return torch.stack([total[:, 1], 4 * total[:, 0] - 4], dim=1)


class Kinds(LinearNet):
    """Takes the number of each node's kind, as many networks for molecules do."""

    def forward(self, x, edge_index, batch=None):
        return super().forward(nn.functional.one_hot(x, 3).float(), edge_index, batch)


def test_gnnexplainer_takes_features_without_columns():
    data, model = bull(), Kinds().eval()
    data.x = torch.tensor([0, 1, 2, 1, 1])
    wide = bull()
    wide.x = nn.functional.one_hot(data.x, 3).float()
    found = GNNExplainer(epochs=5).rank(model, data, 1, None)
    plain = LinearNet().eval()
    plain.load_state_dict(model.state_dict())
    torch.testing.assert_close(found, GNNExplainer(epochs=5).rank(plain, wide, 1, None))


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("node", [None, 2])
def test_gnnexplainer_is_pygs_whatever_the_model_returns(end, node):
    data, model = bull(), Ends(end, "graph" if node is None else "node").eval()
    target = int(model(data.x, data.edge_index)[node or 0].argmax())
    config = {
        "mode": "multiclass_classification",
        "task_level": "graph" if node is None else "node",
        "return_type": end,
    }
    explainer = Explainer(
        model, PyGGNNExplainer(epochs=20), "model", edge_mask_type="object", model_config=config
    )
    torch.manual_seed(7)
    expected = explainer(data.x, data.edge_index, index=node).edge_mask
    score = GNNExplainer(epochs=20, seed=7).rank(model, data, target, node)
    assert torch.allclose(score, share_directions(expected, data), atol=1e-5)


def test_gnnexplainer_keeps_the_edges_that_speak_for_the_class():
    edges = to_undirected(torch.tensor([[0, 1, 2, 3, 4], [1, 2, 3, 4, 5]]))
    x = torch.tensor([[1.0, 0.0]] + 5 * [[0.0, 1.0]])
    score = GNNExplainer(epochs=300, lr=0.05).rank(
        Messenger(), Data(x=x, edge_index=edges), 1, None
    )
    speaks = (edges == 0).any(0)
    assert float(score[speaks].min()) > 0.45  # one of its directions does, the other does not
    assert float(score[~speaks].max()) < 0.1


def star(leaves: int, tail: int) -> Data:
    """A star around a node of features (1, 0), and a tail that speaks for the other class."""
    rim = list(range(1, leaves + 1))
    path = list(range(leaves, leaves + tail + 1))
    pairs = [*((0, leaf) for leaf in rim), *pairwise(path)]
    x = torch.tensor([[1.0, 0.0]] + (leaves + tail) * [[0.0, 1.0]])
    edges = to_undirected(torch.tensor(pairs).t())
    return Data(x=x, edge_index=edges, edge_label=(edges == 0).any(0))


def find_star(method: PGExplainer, chosen: list[Data]) -> float:
    """Return the mean AUC with which a method ranks the star above the tail."""
    scores = [method.rank(Messenger(), graph, 1, None) for graph in chosen]
    pairs = zip(chosen, scores, strict=True)
    return sum(roc_auc_score(graph.edge_label, score) for graph, score in pairs) / len(chosen)


def test_training_pgexplainer_lowers_its_loss_and_finds_what_speaks_for_the_class():
    train = [star(leaves, tail) for leaves in (4, 5, 6) for tail in (2, 3)]
    test = [star(7, 4), star(5, 1)]
    trained = PGExplainer()
    trained.fit(Messenger(), train)
    assert trained.losses[-1] < 0.5 * trained.losses[0]
    assert find_star(trained, test) > 0.9
    untrained = [PGExplainer(epochs=0, seed=seed) for seed in range(5)]
    for method in untrained:
        method.fit(Messenger(), train)
    assert sum(find_star(method, test) for method in untrained) / 5 < 0.7


def test_pgexplainer_trains_nodes_with_the_published_weights_unless_told_otherwise():
    def losses(task: str, **options: float) -> list[float]:
        method = PGExplainer(epochs=2, num_nodes=4, **options)
        method.fit(LinearNet(task), [bull()])
        return method.losses

    assert losses("node") == losses("node", edge_size=0.05, edge_ent=1.0)
    assert losses("node") != losses("node", edge_size=0.0005, edge_ent=0.0005)
    assert losses("graph") == losses("graph", edge_size=0.0005, edge_ent=0.0005)


def test_training_pgexplainer_is_quiet():
    always = torch.is_warn_always_enabled()
    torch.set_warn_always(True)  # or torch warns of a loss once per process
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            PGExplainer(epochs=1).fit(LinearNet(), [bull()])
    finally:
        torch.set_warn_always(always)
    assert [str(each.message) for each in caught if each.category is UserWarning] == []


def test_options_of_one_pgexplainer_do_not_leak_into_another():
    before = dict(PyGPGExplainer.coeffs)
    for size in (0.5, 0.0):
        PGExplainer(epochs=1, edge_size=size, temperature=(3.0, 1.0)).fit(LinearNet(), [bull()])
    assert PyGPGExplainer.coeffs == before


def test_pgexplainer_explains_nodes_by_their_own_embedding():
    data, model = bull(), LinearNet("node").eval()
    method = PGExplainer(epochs=3, num_nodes=4)
    method.fit(model, [data])
    one, two = (method.rank(model, data, 0, node) for node in (0, 3))
    assert one.shape == (10,)
    assert not torch.allclose(one, two)


def test_pgexplainer_wants_the_model_that_it_was_trained_on():
    method = PGExplainer(epochs=1)
    with pytest.raises(InputError, match="fit"):
        method.rank(LinearNet(), bull(), 0, None)
    method.fit(LinearNet(), [bull()])
    with pytest.raises(InputError, match="trained on"):
        method.rank(network(), graphs(HOUSE, 1)[0], 0, None)


def authors_mask(data: Data, model: nn.Module, node: int, epochs: int) -> torch.Tensor:
    """Return the mask of the authors' script for class 1: lr 0.1, N(1, 2/n), tied, Laplacian."""
    source, target = data.edge_index
    order = {edge: i for i, edge in enumerate(zip(source.tolist(), target.tolist(), strict=True))}
    back = torch.tensor([order[v, u] for u, v in order])
    torch.manual_seed(0)
    start = 1 + (2 / data.num_nodes) ** 0.5 * torch.randn(data.num_edges)
    logits = start.requires_grad_()
    optimizer = torch.optim.Adam([logits], lr=0.1)
    label = model(data.x, data.edge_index).argmax(dim=1).float()
    dense = torch.zeros(data.num_nodes, data.num_nodes)
    for _ in range(epochs):
        mask = ((logits + logits[back]) / 2).sigmoid()
        messages = mask[:, None] * data.x[source]
        gathered = data.x + torch.zeros_like(data.x).index_add(0, target, messages)
        rows = model.head(model.conv.nn(gathered))
        adjacency = dense.clone().index_put((source, target), mask)
        laplacian = adjacency.sum(dim=1).diag() - adjacency
        entropy = -mask * mask.log() - (1 - mask) * (1 - mask).log()
        loss = -rows[node].log_softmax(0)[1] + 0.005 * mask.sum() + entropy.mean()
        loss = loss + label @ laplacian @ label / data.num_nodes**2
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return ((logits + logits[back]) / 2).sigmoid().detach()


def test_gnnexplainer_with_the_authors_preset_follows_their_script():
    data, model = bull(), LinearNet("node").eval()
    found = GNNExplainer(epochs=20, preset="authors").rank(model, data, 1, 2)
    assert torch.allclose(found, authors_mask(data, model, 2, 20), atol=1e-5)
    assert not torch.allclose(found, GNNExplainer(epochs=20).rank(model, data, 1, 2), atol=1e-2)


def test_pgexplainer_with_the_authors_preset_steps_once_per_epoch_on_all_layers(monkeypatch):
    steps: list[float] = []
    step = torch.optim.Adam.step

    def counted(self, *args):
        steps.extend(float(p.grad.abs().max()) for p in self.param_groups[0]["params"])
        return step(self, *args)

    monkeypatch.setattr(torch.optim.Adam, "step", counted)
    method = PGExplainer(epochs=3, preset="authors")
    method.fit(network(), graphs(HOUSE, 4))
    assert len(steps) == 3 * 4  # three epochs, four tensors of the MLP
    assert max(steps) <= 2
    last = PGExplainer(epochs=1)
    last.fit(network(), graphs(HOUSE, 1))
    assert method._input_width == 3 * last._input_width  # three layers instead of the last
    score = method.rank(network(), graphs(HOUSE, 1)[0], HOUSE, None)
    assert score.shape == (graphs(HOUSE, 1)[0].num_edges,)
