"""GOAt: completeness, its formula by sources, symmetry, and motifs."""

import networkx as nx
import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv, GINConv, SAGEConv, global_mean_pool
from torch_geometric.nn.conv.gcn_conv import gcn_norm
from torch_geometric.utils import to_dense_adj, to_undirected

from eigsearch import explainers
from eigsearch.explainers.common.differentiable import gradients
from eigsearch.explainers.decomposition.goat import edge_shares
from tests.explainers.planted import CYCLE, HOUSE, graphs, mean_auc


class Net(nn.Module):
    """Convolution, batch normalisation (if any) and ReLU; a mean; a head with a hidden layer."""

    def __init__(self, kind: str, layers: int = 3, norm: bool = False, task: str = "graph") -> None:
        super().__init__()
        torch.manual_seed(2)
        self.task = task
        make = {
            "gcn": GCNConv,
            "sage": SAGEConv,
            "gin": lambda i, o: GINConv(
                nn.Sequential(nn.Linear(i, o), nn.ReLU(), nn.Linear(o, o)), eps=0.3
            ),
        }[kind]
        self.convs = nn.ModuleList(make(3 if i == 0 else 5, 5) for i in range(layers))
        self.norms = nn.ModuleList(
            nn.BatchNorm1d(5) if norm else nn.Identity() for _ in range(layers)
        )
        self.head = nn.Sequential(nn.Linear(5, 4), nn.ReLU(), nn.Linear(4, 2))
        for name, parameter in self.named_parameters():
            if name.endswith("bias"):
                nn.init.normal_(parameter, std=0.3)
        for module in self.modules():
            if isinstance(module, nn.BatchNorm1d):
                nn.init.normal_(module.running_mean)
                nn.init.uniform_(module.running_var, 0.5, 2)
        self.double().eval()

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor | None = None) -> Tensor:
        for conv, norm in zip(self.convs, self.norms, strict=True):
            x = norm(conv(x, edge_index)).relu()
        return self.head(global_mean_pool(x, batch) if self.task == "graph" else x)


def house() -> Data:
    pairs = torch.tensor([[0, 1, 2, 3, 0, 1, 4], [1, 2, 3, 0, 4, 4, 5]])
    generator = torch.Generator().manual_seed(3)
    x = torch.randn(6, 3, generator=generator, dtype=torch.float64)
    return Data(x=x, edge_index=to_undirected(pairs))


@pytest.mark.parametrize("norm", [False, True])
@pytest.mark.parametrize(("task", "node"), [("graph", None), ("node", 4)])
@pytest.mark.parametrize("kind", ["gcn", "gin", "sage"])
def test_goat_scores_add_up_to_what_the_edges_change(kind, task, node, norm):
    model, data = Net(kind, norm=norm, task=task), house()
    row = 0 if node is None else node
    with torch.no_grad():
        full = model(data.x, data.edge_index)[row, 1]
        empty = model(data.x, data.edge_index[:, :0])[row, 1]
    found = explainers.get("goat").rank(model, data, 1, node)
    assert float(found.sum()) == pytest.approx(float(full - empty), abs=1e-10)


def test_goat_reports_the_share_of_nodes_without_an_edge_nearby():
    model, data = Net("gin"), house()
    data.x = torch.cat([data.x, data.x[:1]])  # a seventh node, isolated
    hidden: list[Tensor] = []
    handle = model.head[0].register_forward_hook(lambda _, __, output: hidden.append(output[0]))
    with torch.no_grad():
        model(data.x, data.edge_index), model(data.x, data.edge_index[:, :0])
        model.head[0].bias -= (hidden[0] + hidden[1]) / 2  # its gates open or close by the edges
    handle.remove()
    with gradients():
        shares, remainder = edge_shares(model, data, 1, None)
    with torch.no_grad():
        full = model(data.x, data.edge_index)[0, 1]
        empty = model(data.x, data.edge_index[:, :0])[0, 1]
    assert abs(float(remainder)) > 1e-6
    assert float(shares.sum() + remainder) == pytest.approx(float(full - empty), abs=1e-10)


def by_sources(model: Net, data: Data, target: int) -> Tensor:
    """Return the scores of a GCN, one source after the other (Lu et al. 2024).

    A product from the features has m = 2L + 1 variables, from the bias of convolution k 2(L − k),
    from the hidden bias of the head 1; each variable gets 1/m of the product.
    """
    count, layers = int(data.num_nodes), len(model.convs)
    edge, node, head = _by_source(model, data.x, data.edge_index, target)
    _, node_empty, head_empty = _by_source(model, data.x, data.edge_index[:, :0], target)
    source, to = data.edge_index
    score = edge[to, source] + (head - head_empty) / data.num_edges
    distance = dict(nx.all_pairs_shortest_path_length(nx.Graph(data.edge_index.t().tolist())))
    for layer in range(layers):
        for v in range(count):
            nearby = torch.tensor([distance[v][int(t)] <= layer for t in to])
            share = (node[layer, v] - node_empty[layer, v]) / nearby.sum()
            score = score + nearby * share
    return score


def _by_source(model: Net, x: Tensor, edges: Tensor, target: int):
    """Return what entries off the diagonal, nodes by layer, and the head's gates get."""
    count, layers = x.size(0), len(model.convs)
    edge_index, norm = gcn_norm(edges, None, count, dtype=torch.double)
    dense = to_dense_adj(edge_index, edge_attr=norm, max_num_nodes=count)[0].t()
    h, gates = x, []
    for conv in model.convs:
        z = dense @ h @ conv.lin.weight.t() + conv.bias
        gates.append((z > 0).double().requires_grad_())
        h = z.relu()
    hidden = h.mean(dim=0) @ model.head[0].weight.t() + model.head[0].bias
    gate = (hidden > 0).double().requires_grad_()
    adjacency = [dense.clone().requires_grad_() for _ in range(layers)]
    edge, node, head = torch.zeros_like(dense), torch.zeros(layers, count).double(), 0.0
    for start in range(-1, layers + 1):  # the features, the bias of each layer, that of the head
        m = 2 * layers + 1 if start == -1 else 2 * (layers - start) or 1
        h = x if start == -1 else torch.zeros_like(x)
        for k, conv in enumerate(model.convs):
            h = adjacency[k] @ h @ conv.lin.weight.t() + (conv.bias if start == k else 0)
            h = h * gates[k]
        z = h.mean(dim=0) @ model.head[0].weight.t()
        z = (z + (model.head[0].bias if start == layers else 0)) * gate
        output = (z @ model.head[2].weight.t())[target]
        leaves = [*adjacency, *gates, gate]
        found = torch.autograd.grad(output, leaves, materialize_grads=True, allow_unused=True)
        for k in range(layers):
            share = dense * found[k] / m
            edge += share - torch.diag(share.diag())
            node[k] += share.diag() + (gates[k] * found[layers + k]).sum(dim=1).detach() / m
        head += float((gate * found[-1]).sum().detach()) / m
    return edge.detach(), node.detach(), head


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_goat_is_the_equal_share_of_each_source(layers):
    model, data = Net("gcn", layers), house()
    found = explainers.get("goat").rank(model, data, 1, None)
    expected = by_sources(model, data, 1)
    order = {tuple(e): i for i, e in enumerate(data.edge_index.t().tolist())}
    back = torch.tensor([order[v, u] for u, v in data.edge_index.t().tolist()])
    assert torch.allclose(found, (expected + expected[back]) / 2, atol=1e-12)


def test_goat_scores_of_automorphic_edges_are_equal():
    data = house()
    data.x = torch.ones_like(data.x)
    found = explainers.get("goat").rank(Net("gin"), data, 1, None)
    of = {tuple(e): s for e, s in zip(data.edge_index.t().tolist(), found.tolist(), strict=True)}
    pairs = torch.tensor([[0, 1, 2, 3, 4], [1, 2, 3, 4, 0]])
    ring = Data(x=torch.ones(5, 3).double(), edge_index=to_undirected(pairs))
    assert of[1, 2] != of[4, 5]
    scores = explainers.get("goat").rank(Net("gin"), ring, 1, None)
    assert torch.allclose(scores, scores[:1].expand_as(scores), atol=1e-12)


def test_goat_planted_motif_is_found():
    method = explainers.get("goat")
    found = [mean_auc(method, graphs(motif, 10)) for motif in (CYCLE, HOUSE)]
    assert max(found) > 0.9, found
