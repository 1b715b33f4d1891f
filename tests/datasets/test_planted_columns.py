"""Planted-Columns: the class shows in three columns and nowhere else."""

from __future__ import annotations

import torch
from sklearn.metrics import roc_auc_score

import eigsearch
from eigsearch.datasets import generate
from eigsearch.models import split, zoo


def test_the_class_shows_in_the_planted_columns_alone() -> None:
    for seed in range(3):
        graph = generate("Planted-Columns", seed)[0]
        x = graph.x / graph.x.std(0)
        means = torch.stack([x[graph.y == label].mean(0) for label in range(4)])
        assert int(graph.feature_label.sum()) == 3
        assert float(means[:, graph.feature_label].abs().min()) > 0.5
        assert float(means[:, ~graph.feature_label].abs().max()) < 0.3
        assert graph.is_undirected()


def test_the_scores_of_columns_find_the_planted_ones() -> None:
    dataset = generate("Planted-Columns")
    graph = dataset[0]
    model, card = zoo.load("Planted-Columns", "gcn")
    nodes = split(dataset, card.recipe.seed).test[:30]
    found = eigsearch.explain_dataset(
        model, graph, node=nodes, features="columns", groups="none", progress=False
    )
    aucs = [roc_auc_score(graph.feature_label, ex.feature_score) for ex in found]
    assert float(torch.tensor(aucs).mean()) >= 0.95
