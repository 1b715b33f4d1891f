"""PaGE-Link's protocol on UserItemAttr, written from its formulas in NumPy.

Two relational layers are recomputed row by row for the nodes that a removed edge touches. Nodes are
numbered users, items, attributes.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file
from sklearn.metrics import roc_auc_score

FIRST = {"user": 0, "item": 100, "attr": 200}
Pair = tuple[int, int]


class PageLink:
    def __init__(self, folder: Path) -> None:
        weights = load_file(folder / "rgcn.safetensors")
        self.weights = {key: value.astype(np.float64) for key, value in weights.items()}
        graph = np.load(folder / "graph.npz", allow_pickle=False)
        self.types = [str(name).split("__") for name in graph["types"]]
        self.likes = graph["edge__user__likes__item"].astype(int) + np.array([[0], [100]])
        self.test_links = graph["test_likes"].tolist()
        self.edges = [
            (number, FIRST[s] + int(a), FIRST[t] + int(b))
            for number, (s, r, t) in enumerate(self.types)
            if r != "likes"
            for a, b in graph[f"edge__{s}__{r}__{t}"].T
        ]
        self.truth: dict[int, set[tuple[int, int, int]]] = {}
        for link, number, a, b in graph["edge_truth"].astype(int).tolist():
            s, _, t = self.types[number]
            self.truth.setdefault(link, set()).add((number, FIRST[s] + a, FIRST[t] + b))
        self._prepare()

    def _prepare(self) -> None:
        self.senders: dict[int, dict[int, list[int]]] = {node: {} for node in range(250)}
        self.around: dict[int, set[int]] = {node: set() for node in range(250)}
        for number, a, b in self.edges:
            self.senders[b].setdefault(number, []).append(a)
            self.around[a].add(b)
            self.around[b].add(a)
        names = [f"encoder.emb.embeds.{kind}.weight" for kind in ("user", "item", "attr")]
        self.x = np.concatenate([self.weights[name] for name in names])
        numbers = [n for n, (_, r, _) in enumerate(self.types) if r != "likes"]
        self.sent1 = {n: self._linear(1, f"weight.{self.types[n][1]}", self.x) for n in numbers}
        self.root1 = self._linear(1, "weight0", self.x)
        self.hidden = {node: self._hidden(node, -1) for node in range(250)}

    def _linear(self, layer: int, name: str, h: np.ndarray) -> np.ndarray:
        key = f"encoder.layer{layer}.{name}"
        return h @ self.weights[f"{key}.weight"].T + self.weights[f"{key}.bias"]

    def _hidden(self, node: int, without: int) -> np.ndarray:
        out = self.root1[node].copy()
        for number, senders in self.senders[node].items():
            kept = [sender for sender in senders if sender != without]
            if kept:
                out += self.sent1[number][kept].mean(axis=0)
        return np.where(out > 0, out, 0.01 * out)

    def _output(self, node: int, hidden: dict[int, np.ndarray], without: int) -> np.ndarray:
        out = self._linear(2, "weight0", hidden.get(node, self.hidden[node]))
        for number, senders in self.senders[node].items():
            kept = [hidden.get(s, self.hidden[s]) for s in senders if s != without]
            if kept:
                mean = np.mean(kept, axis=0)
                out = out + self._linear(2, f"weight.{self.types[number][1]}", mean)
        return out

    def logit(self, link: int, removed: Pair | None = None) -> float:
        """The log-odds of a link, without an edge and its reverse."""
        other = {removed[0]: removed[1], removed[1]: removed[0]} if removed else {}
        hidden = {node: self._hidden(node, without) for node, without in other.items()}
        user, item = self.likes[:, link].tolist()
        left, right = (self._output(end, hidden, other.get(end, -1)) for end in (user, item))
        return float(left @ right)

    def candidates(self, link: int) -> list[tuple[int, int, int]]:
        """The edges of the two-hop in-graph of both ends."""
        ends = set(self.likes[:, link].tolist())
        reached = ends | {a for _, a, b in self.edges if b in ends}
        return [edge for edge in self.edges if edge[2] in reached]

    def paths(self, link: int) -> Iterator[tuple[int, ...]]:
        """The simple paths of at most three edges from user to item."""
        user, item = self.likes[:, link].tolist()
        for first in self.around[user]:
            if item in self.around[first]:
                yield user, first, item
            for second in self.around[first] - {user, item}:
                if item in self.around[second]:
                    yield user, first, second, item

    def drops(self, link: int) -> dict[Pair, float]:
        """|φ(G) − φ(G without the edge and its reverse)| of each candidate."""
        full = self.logit(link)
        pairs = {(min(a, b), max(a, b)) for _, a, b in self.candidates(link)}
        return {pair: abs(full - self.logit(link, pair)) for pair in pairs}

    def path_scores(self, link: int, drops: dict[Pair, float]) -> dict[Pair, float]:
        """The smallest drop on the best path through each edge."""
        best: dict[Pair, float] = {}
        for path in self.paths(link):
            pairs = [(min(pair), max(pair)) for pair in pairwise(path)]
            least = min(drops.get(pair, 0.0) for pair in pairs)
            best |= {pair: max(least, best.get(pair, -1.0)) for pair in pairs}
        return best

    def auc(self, link: int, score: dict[Pair, float]) -> float:
        """Over candidates of the edge types that occur in the link's truth."""
        truth = self.truth[link]
        types = {number for number, _, _ in truth}
        judged = [edge for edge in self.candidates(link) if edge[0] in types]
        values = [score.get((min(a, b), max(a, b)), -1.0) for _, a, b in judged]
        return float(roc_auc_score([edge in truth for edge in judged], values))
