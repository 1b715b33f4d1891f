"""An explanation as a graph of other programs: networkx, GraphML for Gephi, Cytoscape JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torch import Tensor

from eigsearch._utils.atomic_files import write_atomic

if TYPE_CHECKING:
    import networkx as nx

    from eigsearch.explanation.explanation import SubgraphExplanation


def to_networkx(explanation: SubgraphExplanation) -> nx.DiGraph:
    """Return the evaluated graph as a networkx graph, with what was found as attributes.

    Nodes have `kept`, `explained` and, where the graph has them, `label` (`data.node_label`);
    edges have `kept`, `score` and `rank` (1 is the most important). For a node's prediction only
    its computation graph is there. Nodes keep their numbers.
    """
    import networkx as nx

    data, edges = explanation.data, explanation.edges
    ends = data.edge_index if edges is None else data.edge_index[:, edges]
    rank = explanation.order.argsort().tolist()
    keep, score = explanation.keep.tolist(), explanation.score.tolist()
    graph = nx.DiGraph(**_about(explanation))
    for (u, v), group in zip(ends.t().tolist(), explanation.group.tolist(), strict=True):
        found = {"kept": True, "score": 0.0, "rank": 0}  # an edge that is never removed
        if group >= 0:
            found = {"kept": keep[group], "score": score[group], "rank": rank[group] + 1}
        graph.add_edge(u, v, **found)
    if edges is None:
        graph.add_nodes_from(range(int(data.num_nodes)))
    _add_node_attributes(graph, explanation)
    return graph


def save_graphml(explanation: SubgraphExplanation, path: Path, names: Any = None) -> Path:
    """Write the explanation as GraphML, which Gephi, yEd and igraph read; return the path."""
    import networkx as nx

    text = "\n".join(nx.generate_graphml(_named(explanation, names)))
    write_atomic(path, text.encode())
    return path


def save_cytoscape(explanation: SubgraphExplanation, path: Path, names: Any = None) -> Path:
    """Write the explanation as Cytoscape JSON; return the path."""
    import networkx as nx

    content = nx.cytoscape_data(_named(explanation, names))
    write_atomic(path, json.dumps(content).encode())
    return path


def _named(explanation: SubgraphExplanation, names: Any) -> nx.DiGraph:
    """Return the graph with the names of its nodes as labels."""
    graph = to_networkx(explanation)
    labels = None if names is None else names.labels(explanation.data)
    if labels is not None:
        for node in graph:
            graph.nodes[node]["label"] = labels[node]
    return graph


def _about(explanation: SubgraphExplanation) -> dict[str, Any]:
    about = {"target": explanation.target, "value": explanation.value, "gain": explanation.gain}
    texts = {key: explanation.data.get(key) for key in ("name", "smiles")}
    return {**about, **{key: text for key, text in texts.items() if isinstance(text, str)}}


def _add_node_attributes(graph: nx.DiGraph, explanation: SubgraphExplanation) -> None:
    mask, labels = explanation.node_mask.tolist(), explanation.data.get("node_label")
    for node, attributes in graph.nodes(data=True):
        attributes["kept"] = mask[node]
        attributes["explained"] = node == explanation.node
        if isinstance(labels, Tensor):
            attributes["label"] = str(int(labels[node]))
