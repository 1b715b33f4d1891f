"""Convert answers of a session to the JSON that the page shows."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from math import isnan
from typing import Any

from eigsearch.app.edge_keys import EdgeKey
from eigsearch.app.edits import EditedGraph
from eigsearch.app.items import Item
from eigsearch.app.session import Answer, EditedItem, Session
from eigsearch.explanation.explanation import SubgraphExplanation
from eigsearch.explanation.labels import is_class
from eigsearch.visualization.colors import method_style
from eigsearch.visualization.explanation import explanation_item
from eigsearch.visualization.graph_drawing import Drawing, redraw
from eigsearch.visualization.labels import output_name
from eigsearch.visualization.links import Link
from eigsearch.visualization.page_data import Configuration, answer, picture, unit_of


def answer_data(session: Session, edited_item: EditedItem, result: Answer) -> dict[str, Any]:
    """Return what the page shows of an edited item: picture, explanation and class bars."""
    base = session.base_drawing(edited_item.item)
    added = edited_item.edits.added_edges
    item = explanation_in_layout(session, base, result.graph, result.explanation, added)
    configuration = Configuration()
    configuration.add(result.explanation)
    return {
        "item": {
            **item,
            **_link_label(session, edited_item.item),
            "title": title_of(session, edited_item.item),
        },
        "scores": result.scores,
        "classes": list(session.class_names),
        "outputs": _output_names(session, result),
        "relations": [[*relation] for relation in result.graph.keys.relations],
        "regression": result.explanation.config["task"] == "regression",
        "predict_ms": round(1000 * result.predict_seconds, 2),
        "explain_ms": round(1000 * result.explain_seconds, 2),
        "configuration": configuration.rows(),
    }


def _output_names(session: Session, result: Answer) -> list[str]:
    """Return what each score is: P(class), or the name of the value of a regression."""
    if result.explanation.config["task"] != "regression":
        return [f"P({name})" for name in _class_names(session, len(result.scores))]
    names = session.names.output_names or ()
    return [
        names[number] if number < len(names) else f"output {number}"
        for number in range(len(result.scores))
    ]


def _class_names(session: Session, count: int) -> list[str]:
    names = session.class_names
    return [names[n] if n < len(names) else f"class {n}" for n in range(count)]


def explanation_in_layout(
    session: Session,
    base: Drawing,
    graph: EditedGraph,
    explanation: SubgraphExplanation,
    added_edges: Collection[EdgeKey] = (),
) -> dict[str, Any]:
    """Return an explanation of an edited graph as page data, in the layout of the original."""
    drawing = redraw(base, explanation, graph.node_ids, added_edges)
    anchors = [graph.node_ids[anchor] for anchor in explanation.flat_anchors]
    return {
        **explanation_item(explanation, drawing, session.names, anchors),
        "nodes": list(drawing.nodes),
        "keys": [_key(link, drawing, graph) for link in drawing.links],
    }


def _link_label(session: Session, item: Item) -> dict[str, Any]:
    """Return the label of a link: explanations know those of graphs and nodes, not of links."""
    if session.level != "link":
        return {}
    label = session.label(item)
    return {"truth": None if isnan(label) else int(label) if is_class(label) else label}


def _key(link: Link, drawing: Drawing, graph: EditedGraph) -> str:
    """Return what edits name a link by, as the address of the page has it."""
    key = (drawing.nodes[link.start], drawing.nodes[link.end])
    return ".".join(map(str, graph.keys.canonical(key if link.kind < 0 else (*key, link.kind))))


def comparison_data(
    session: Session,
    edited_item: EditedItem,
    graph: EditedGraph,
    found: Mapping[str, SubgraphExplanation],
) -> dict[str, Any]:
    """Return several explanations of one edited graph, as the comparison page shows them."""
    first = next(iter(found.values()))
    base, label = session.base_drawing(edited_item.item), _link_label(session, edited_item.item)
    drawing = redraw(base, first, graph.node_ids, edited_item.edits.added_edges)
    configuration = Configuration()
    for explanation in found.values():
        configuration.add(explanation)
    styles = [method_style(name) for name in found]
    anchors = [graph.node_ids[anchor] for anchor in first.flat_anchors]
    return {
        "title": session.names.title,
        "output": output_name(first, session.names),
        "graph": picture(drawing, anchors),
        "unit": unit_of(drawing),
        "answers": [
            {
                "name": name,
                "dash": style.dash,
                **answer(explanation, drawing, session.names),
                **label,
            }
            for (name, explanation), style in zip(found.items(), styles, strict=True)
        ],
        "colours": [[style.colour.light, style.colour.dark] for style in styles],
        "configuration": configuration.rows(),
    }


def title_of(session: Session, item: Item) -> str:
    """Return what an item is called."""
    if session.level != "graph":
        return session.items.title(item)
    assert isinstance(item, int)
    name = session.source.name(item)
    return f"Graph {item}" + (f" · {name}" if name else "")
