"""RelEx: its samples, its surrogate and the mask on it."""

import networkx as nx
import pytest
import torch
from scipy.stats import spearmanr
from torch import nn
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv
from torch_geometric.utils import from_networkx

from eigsearch.errors import UnsupportedError
from eigsearch.explainers.learned_masks.gnn_explainer import GNNExplainer
from eigsearch.explainers.surrogate.relex import RelEx, sample_rows
from eigsearch.inputs.edge_groups import make_groups
from eigsearch.inputs.instance import PreparedInstance

NODE = 4


class TwoLayers(nn.Module):
    """A GCN with residuals of the surrogate's kind."""

    def __init__(self) -> None:
        super().__init__()
        with torch.random.fork_rng():
            torch.manual_seed(2)
            self.embed = nn.Linear(3, 16)
            self.convs = nn.ModuleList(GCNConv(16, 16, normalize=False) for _ in range(2))
            self.head = nn.Linear(16, 2)

    def forward(self, x, edge_index):
        x = self.embed(x).relu()
        for conv in self.convs:
            x = x + conv(x, edge_index).relu()
        return self.head(x)


@pytest.fixture(scope="module")
def data() -> Data:
    graph = from_networkx(nx.gnm_random_graph(10, 14, seed=3))
    graph.x = torch.randn(10, 3, generator=torch.Generator().manual_seed(0))
    return graph


def test_samples_are_connected_parts_around_the_node_of_all_sizes(data):
    instance = PreparedInstance(data, data, make_groups("auto", data), (NODE,), (NODE,))
    with torch.random.fork_rng():
        torch.manual_seed(0)
        rows = sample_rows(instance, 200)
    for row in rows:
        part = nx.Graph(data.edge_index[:, row[instance.groups.index]].t().tolist())
        assert not part or (NODE in part and nx.is_connected(part))
    sizes = rows.sum(dim=1)
    component = nx.node_connected_component(nx.Graph(data.edge_index.t().tolist()), NODE)
    edges = nx.Graph(data.edge_index.t().tolist()).subgraph(component).number_of_edges()
    assert int(sizes.max()) == edges
    assert len(sizes.unique()) > edges / 2


def test_relex_imitates_a_network_of_its_kind(data):
    target = int(TwoLayers()(data.x, data.edge_index)[NODE].argmax())
    surrogate = RelEx(layers=2).surrogate(TwoLayers().eval(), data, target, NODE)
    assert surrogate.r_squared > 0.97


def test_relex_agrees_with_gnnexplainer_on_a_network_of_its_kind(data):
    model = TwoLayers().eval()
    target = int(model(data.x, data.edge_index)[NODE].argmax())
    score = RelEx(layers=2).rank(model, data, target, NODE)
    same_loss = GNNExplainer(epochs=300, edge_ent=0.0, edge_size=0.01)
    reference = same_loss.rank(model, data, target, NODE)
    seen = score > 0
    assert spearmanr(score[seen], reference[seen]).statistic > 0.7


def test_relex_asks_only_for_predictions(data):
    model = TwoLayers().eval()

    def black_box(x, edge_index):
        return model(x, edge_index).detach()

    expected = RelEx(samples=30, steps=5).rank(model, data, 0, NODE)
    assert torch.allclose(RelEx(samples=30, steps=5).rank(black_box, data, 0, NODE), expected)


def test_relex_for_a_graph_is_refused(data):
    with pytest.raises(UnsupportedError, match="node"):
        RelEx().rank(TwoLayers(), data, 0, None)
