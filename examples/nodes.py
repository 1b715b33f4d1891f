"""Explain predictions of single nodes, on the edges that can reach them."""

import eigsearch
from eigsearch import datasets
from eigsearch.models import zoo

graph = datasets.generate("BA-Shapes")[0]
model, card = zoo.load("BA-Shapes", "gin")

nodes = (graph.node_motif >= 0).nonzero().flatten()[:5]
for explanation in eigsearch.explain_dataset(model, graph, node=nodes):
    own = graph.edge_motif == graph.node_motif[explanation.node]
    found = (explanation.edge_mask & own).sum().item() / own.sum().item()
    print(f"node {explanation.node}: {explanation.sentence()} Own motif found: {found:.0%}")
