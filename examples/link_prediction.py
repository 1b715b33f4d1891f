"""Train a link predictor with PyG's usual encoder and decoder, and ask why it predicts a link.

The same question is asked twice: directly, and through PyG's `Explainer`.
"""

import torch
from torch_geometric.data import Data
from torch_geometric.explain import Explainer
from torch_geometric.nn import GCNConv
from torch_geometric.transforms import RandomLinkSplit
from torch_geometric.utils import negative_sampling, stochastic_blockmodel_graph

import eigsearch

torch.manual_seed(0)
edge_index = stochastic_blockmodel_graph([30, 30, 30], 0.02 + 0.22 * torch.eye(3))
data = Data(x=torch.eye(90), edge_index=edge_index)
train, _, test = RandomLinkSplit(num_val=0.0, num_test=0.1, is_undirected=True)(data)


class LinkPredictor(torch.nn.Module):
    """Two layers, and for each pair of nodes the product of their states."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.conv2 = GCNConv(90, 32), GCNConv(32, 16)

    def encode(self, x, edge_index):
        return self.conv2(self.conv1(x, edge_index).relu(), edge_index)

    def forward(self, x, edge_index, edge_label_index):
        z = self.encode(x, edge_index)
        return (z[edge_label_index[0]] * z[edge_label_index[1]]).sum(dim=-1)


model = LinkPredictor()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
there = train.edge_label_index[:, train.edge_label == 1]
for _ in range(60):
    absent = negative_sampling(train.edge_index, 90, there.size(1))
    pairs = torch.cat([there, absent], dim=1)
    label = torch.cat([torch.ones(there.size(1)), torch.zeros(absent.size(1))])
    optimizer.zero_grad()
    loss = torch.nn.functional.binary_cross_entropy_with_logits(
        model(train.x, train.edge_index, pairs), label
    )
    loss.backward()
    optimizer.step()
model.eval()

# A link of the test split: it takes no part in message passing.
graph = Data(x=train.x, edge_index=train.edge_index)
with torch.no_grad():
    logits = model(graph.x, graph.edge_index, test.edge_label_index)
link = test.edge_label_index[:, int(logits.argmax())]
found = eigsearch.explain(model, graph, link=tuple(link.tolist()), task="binary", max_size=8)
print(f"Link {link.tolist()}: {found.sentence()}")
for path in found.paths(k=3, max_length=3):
    print("  by way of", path.nodes)

explainer = Explainer(
    model,
    algorithm=eigsearch.EiGSearch(max_size=8),
    explanation_type="model",
    edge_mask_type="object",
    model_config={"mode": "binary_classification", "task_level": "edge", "return_type": "raw"},
)
explanation = explainer(graph.x, graph.edge_index, edge_label_index=link)
assert torch.equal(explanation.edge_mask > 0, found.edge_mask)
