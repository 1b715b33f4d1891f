"""Export an explanation as a graph: networkx, GraphML (Gephi), Cytoscape JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch_geometric.data import HeteroData

from eigsearch._utils.atomic_files import write_atomic
from eigsearch.inputs.typed_graph import FlatView

if TYPE_CHECKING:
    import networkx as nx

    from eigsearch.explanation.explanation import SubgraphExplanation


def to_networkx(explanation: SubgraphExplanation) -> nx.DiGraph:
    """Return the evaluated graph as a networkx graph, with the findings as attributes.

    Nodes have `kept`, `explained` and, where the graph has them, `label` (`data.node_label`);
    edges have `kept`, `score` and `rank` (1 is the most important). For a prediction of a node or a
    link only its computation graph is there. Nodes keep their numbers; those of a typed graph are
    `("paper", 7)` and have a `type`, its edges a `relation`, and it is a multigraph, in which
    several relations join two nodes.
    """
    import networkx as nx

    view, edges = explanation.flat, explanation.edges
    ends = explanation.evaluated_ends
    make = nx.DiGraph if view.schema is None else nx.MultiDiGraph
    graph = make(**_about(explanation))
    found = zip(ends.t().tolist(), _edge_attributes(explanation, view), strict=True)
    for (u, v), attributes in found:
        graph.add_edge(_node_name(view, u), _node_name(view, v), **attributes)
    every = (_node_name(view, node) for node in range(view.num_nodes))
    graph.add_nodes_from(explanation.anchors if edges is not None else every)
    _add_node_attributes(graph, explanation)
    return graph


def _node_name(view: FlatView, node: int) -> Any:
    return node if view.schema is None else view.schema.node_name(node)


def _edge_attributes(explanation: SubgraphExplanation, view: FlatView) -> Iterator[dict[str, Any]]:
    """Yield the attributes of each evaluated edge."""
    rank = explanation.order.argsort().tolist()
    keep, score = explanation.keep.tolist(), explanation.score.tolist()
    relations: list[dict[str, Any]] = [{}] * explanation.group.numel()
    if view.schema is not None:
        edges = explanation.edges
        ids = torch.arange(len(relations)) if edges is None else edges.cpu()
        kinds = view.schema.edge_kinds(ids).tolist()
        relations = [{"relation": view.schema.edge_types[kind][1]} for kind in kinds]
    for group, relation in zip(explanation.group.tolist(), relations, strict=True):
        found = {"kept": True, "score": 0.0, "rank": 0}  # an edge that is never removed
        if group >= 0:
            found = {"kept": keep[group], "score": score[group], "rank": rank[group] + 1}
        yield {**found, **relation}


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
    """Return the graph with the names of its nodes as labels; files name typed nodes by text."""
    import networkx as nx

    graph = to_networkx(explanation)
    if explanation.flat.schema is not None:
        return nx.relabel_nodes(graph, {node: f"{node[0]} {node[1]}" for node in graph})
    labels = None if names is None else names.labels(explanation.data)
    if labels is not None:
        for node in graph:
            graph.nodes[node]["label"] = labels[node]
    return graph


def _about(explanation: SubgraphExplanation) -> dict[str, Any]:
    about = {"target": explanation.target, "value": explanation.value, "gain": explanation.gain}
    data = explanation.data
    own = data._global_store if isinstance(data, HeteroData) else data
    texts = {key: own.get(key) for key in ("name", "smiles")}
    return {**about, **{key: text for key, text in texts.items() if isinstance(text, str)}}


def _add_node_attributes(graph: nx.DiGraph, explanation: SubgraphExplanation) -> None:
    schema = explanation.flat.schema
    kept = set(explanation.flat_node_mask.nonzero().flatten().tolist())
    labels = None if schema else explanation.data.get("node_label")
    for node, attributes in graph.nodes(data=True):
        attributes["kept"] = (schema.flat_node(node) if schema else node) in kept
        attributes["explained"] = node in explanation.anchors
        if schema:
            attributes["type"] = node[0]
        if isinstance(labels, Tensor):
            attributes["label"] = str(int(labels[node]))
