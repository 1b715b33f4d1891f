"""Link-level predictions: one output row per pair of nodes, on the computation graph of both."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from torch import Tensor
from torch_geometric.data import HeteroData

from eigsearch.errors import InputError, ModelError
from eigsearch.inputs.computation_graph import ComputationGraphs
from eigsearch.inputs.instance import Instance, PreparedInstance
from eigsearch.inputs.relations import Reverse
from eigsearch.inputs.typed_graph import NodeName
from eigsearch.tasks.anchored import AnchoredLevel
from eigsearch.tasks.node_level import node_label

LINK_INPUT = "edge_label_index"  # PyG's name of the pairs that a model is to predict


class LinkLevel(AnchoredLevel):
    """Predictions of single links; their two ends stay in every candidate.

    Args:
        reverse: Which edge types hold the reverses of others, where their names do not say so.
        target_link: What becomes of edges between the two ends: `"keep"` explains the graph as it
            is given, `"drop"` the graph without them.
    """

    name = "link"
    model_inputs: tuple[str, ...] = (LINK_INPUT,)
    one_output = "binary_classification"

    def __init__(self, reverse: Reverse | None = None, target_link: str = "keep") -> None:
        super().__init__(reverse)
        self._target_link = target_link

    def names(self, instance: Instance) -> Sequence[NodeName]:
        """Return the two ends; raise InputError if links of the graph have ends of other types."""
        link = instance.link
        assert link is not None
        if isinstance(instance.data, HeteroData) and not isinstance(link[0], int):
            _check_end_types(instance.data, (link[0][0], link[1][0]))
        return link

    def check_graph(self, data: Any) -> None:
        """Raise InputError if a graph lists links between nodes that it does not have."""
        listed = None if isinstance(data, HeteroData) else data.get(LINK_INPUT)
        last = -1 if listed is None else int(data.num_nodes) - 1
        if isinstance(listed, Tensor) and listed.numel() and int(listed.max()) > last:
            raise InputError(
                f"Expected `{LINK_INPUT}` to name nodes from 0 to {last} (got {int(listed.max())})."
                f" It may be that of a larger graph, as after data.subgraph(…): del "
                f"data.{LINK_INPUT}, or renumber it."
            )

    def absent_edges(self, graphs: ComputationGraphs, anchors: Sequence[int]) -> np.ndarray:
        """Return the link itself and its reverses, where they are to be dropped."""
        if self._target_link == "keep":
            return super().absent_edges(graphs, anchors)
        return graphs.edges_between(*anchors)

    def note_on_absent(self, count: int) -> str:
        """Return a note if edges of the link itself were left out."""
        if not count:
            return ""
        edges = "1 edge" if count == 1 else f"{count} edges"
        return f"Left out {edges} between the ends of the link (target_link='drop')."

    def class_name(self, target: int, outputs: int | None) -> str:
        """Return what a class is called: of a single output, that there is a link or none."""
        return f"class {target}" if outputs != 1 or target > 1 else ("no link", "link")[target]

    def inputs(self, anchors: Tensor) -> dict[str, Tensor]:
        """Return the links of all candidates, `[2, candidates]`, from the positions of their ends.

        >>> import torch
        >>> LinkLevel().inputs(torch.tensor([0, 2, 5, 7]))["edge_label_index"].tolist()
        [[0, 5], [2, 7]]
        """
        return {LINK_INPUT: anchors.reshape(-1, 2).t().contiguous()}

    def output_rows(self, output: Tensor, graphs: int, nodes: int, anchors: Tensor) -> Tensor:
        """Return the rows of the links; raise ModelError if there is not one for each."""
        if graphs == 1 and output.dim() < 2:  # many models squeeze the row of a single link
            return output.reshape(1, -1)
        if output.dim() == 1:
            output = output[:, None]
        if output.dim() != 2 or output.size(0) != graphs:
            raise ModelError(
                f"Expected the model to return one row for each of {graphs} links (got shape "
                f"{list(output.shape)} for {nodes} nodes). Let it predict the pairs in "
                f"`{LINK_INPUT}`, or pass `forward=lambda model, batch: …`, which finds them as "
                f"batch.{LINK_INPUT}."
            )
        return output

    def labels(self, instance: PreparedInstance) -> Any:
        """Return the labels of links, `edge_label` or else `y` with a label for each of them."""
        source = instance.source
        stores = [source, *getattr(source, "edge_stores", [])]
        for store in stores:
            if LINK_INPUT in store:
                label = store.get("edge_label", store.get("y"))
                if isinstance(label, Tensor) and len(label) == store[LINK_INPUT].size(1):
                    return label
        return None

    def subject(self, names: Sequence[NodeName]) -> dict[str, Any]:
        """Return the link as a field of instances and explanations."""
        return {"link": tuple(names)}

    def label(self, names: Sequence[NodeName]) -> str:
        """Return "link 3–7" for the link from node 3 to node 7."""
        return f"link {node_label(names[0])}–{node_label(names[1])}"


def is_lookup(error: Exception, batch: Any) -> bool:
    """Return whether an error is typical of models that take links in another shape."""
    text = str(error)
    if isinstance(error, IndexError) or "values to unpack" in text:
        return True
    # A model that multiplies both ends: the size is that of the links, and not of an embedding.
    sizes = {int(size) for size in re.findall(r"tensor [ab] \((\d+)\)", text)}
    return "must match the size" in text and bool(sizes & (set(batch[LINK_INPUT].shape) - {1}))


def squeezed_error(output: Tensor, twice: str) -> ModelError:
    """Return the error for a model that returns several numbers for one link instead of a row.

    Args:
        output: What it gives for a link.
        twice: What it gives for the same link twice.
    """
    return ModelError(
        f"Expected the model to return one row for each link (got shape {list(output.shape)} for "
        f"one link, and {twice}). Let it predict the pairs in `{LINK_INPUT}`, whose shape is "
        f"[2, L], or pass `forward=lambda model, batch: …`, which finds them as batch.{LINK_INPUT}."
    )


def lookup_error(batch: Any, error: Exception) -> ModelError:
    """Return the error for a model that fails to look up the ends of a link."""
    shape = list(batch[LINK_INPUT].shape)
    got = f"got {LINK_INPUT} of shape {shape}; torch says: {error}"
    if isinstance(batch, HeteroData):
        return ModelError(
            "Expected the ends of a link to be of the node types in which the model looks them up "
            f"({got}). Name both ends with their types, in the order of the model: ((type, 3), "
            "(type, 7))."
        )
    return ModelError(
        f"Expected the model to take links as two rows, [2, L] ({got}). Pass `forward=lambda "
        f"model, batch: …`, which finds them as batch.{LINK_INPUT} and may hand on its transpose, "
        "or the rows of both ends."
    )


def _check_end_types(data: HeteroData, ends: tuple[str, str]) -> None:
    """Raise InputError if the graph lists links to predict, and none between these types."""
    known = [kind for kind in data.edge_types if LINK_INPUT in data[kind]]
    if known and ends not in [(source, target) for source, _, target in known]:
        source, _, target = known[0]
        raise InputError(
            f"Expected a link from {source} to {target}, like the links to predict that the graph "
            f"lists (got one from {ends[0]} to {ends[1]}). Pass (({source!r}, …), ({target!r}, …))."
        )
